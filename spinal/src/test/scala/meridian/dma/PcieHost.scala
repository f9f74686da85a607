// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import meridian.dma.pcie._
import meridian.host.FrameSim
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.sim._

/** A completion as it was sent: the fields of its descriptor and what follows. */
case class SentCompletion(descriptor: BigInt, words: Seq[Long]) {
  private def field(low: Int, bits: Int): Int = ((descriptor >> low) & ((1 << bits) - 1)).toInt
  def lowerAddress: Int = field(0, 7)
  def addressType: Int = field(8, 2)
  def byteCount: Int = field(16, 13)
  def locked: Boolean = field(29, 1) == 1
  def dwords: Int = field(32, 11)
  def status: Int = field(43, 3)
  def requester: Int = field(48, 16)
  def tag: Int = field(64, 8)
  def function: Int = field(72, 8)
  def trafficClass: Int = field(89, 3)
  def attributes: Int = field(92, 3)
}

/** A request of the host. */
case class HostRequest(
    kind: Int,
    address: BigInt = 0,
    dwords: Int = 1,
    function: Int = 0,
    bar: Int = 0,
    aperture: Int = 18,
    tag: Int = 0,
    requester: Int = 0x0100,
    trafficClass: Int = 0,
    attributes: Int = 0,
    firstBe: Int = 15,
    lastBe: Int = 0,
    payload: Seq[Long] = Nil,
    enables: Seq[Int] = Nil, // of each word of the payload; none: all bytes
    sop: Boolean = true,
    discontinue: Boolean = false
) {
  def descriptor: BigInt =
    (address >> 2 << 2) | (BigInt(dwords) << 64) | (BigInt(kind) << 75) | (BigInt(requester) << 80) |
      (BigInt(tag) << 96) | (BigInt(function) << 104) | (BigInt(bar) << 112) | (BigInt(aperture) << 115) |
      (BigInt(trafficClass) << 121) | (BigInt(attributes) << 124)

  /** Whether the host waits for an answer. */
  def isPosted: Boolean = RequestKind.posted.contains(kind)
}

object HostRequest {
  def read(function: Int, offset: Int, tag: Int = 0): HostRequest =
    HostRequest(RequestKind.memoryRead, 0xf0000000L + offset, function = function, tag = tag)
  def write(function: Int, offset: Int, value: Long): HostRequest =
    HostRequest(RequestKind.memoryWrite, 0xf0000000L + offset, function = function, payload = Seq(value))
}

/** The block's end of the completer streams. */
class PcieHost(cq: Stream[Fragment[CqBeat]], cc: Stream[Fragment[CcBeat]], cd: ClockDomain, pace: Float = 1.0f) {
  private val (driver, beats) = StreamDriver.queue(cq, cd)
  driver.setFactor(pace)
  StreamReadyRandomizer(cc, cd).setFactor(pace)
  val completions = mutable.Queue[SentCompletion]()
  private val words = mutable.ArrayBuffer[Long]()
  private var started, open = false

  // A completion has no gaps once it has begun.
  cd.onSamplings {
    if (open) assert(cc.valid.toBoolean, "the block wants a completion without gaps")
    open = cc.valid.toBoolean && !(cc.ready.toBoolean && cc.last.toBoolean)
  }
  StreamMonitor(cc, cd) { beat =>
    val keep = beat.fragment.keep.toInt
    val count = Integer.bitCount(keep)
    assert(keep == (1 << count) - 1 && (beat.last.toBoolean || count == 8), s"tkeep is $keep")
    val data = beat.fragment.data.toBigInt
    for (i <- 0 until count) words += ((data >> (32 * i)) & 0xffffffffL).toLong
    if (beat.last.toBoolean) {
      val descriptor = (0 until 3).map(i => BigInt(words(i)) << (32 * i)).sum
      completions.enqueue(SentCompletion(descriptor, words.drop(3).toSeq))
      words.clear()
    }
  }

  def pending: Int = beats.size

  def send(request: HostRequest): Unit = {
    val enables = if (request.enables.isEmpty) request.payload.map(_ => 15) else request.enables
    val all = (0 until 4).map(i => ((request.descriptor >> (32 * i)) & 0xffffffffL).toLong -> 0) ++
      request.payload.zip(enables)
    val cut = all.grouped(8).toSeq
    for ((beat, i) <- cut.zipWithIndex) beats.enqueue { pins =>
      val (first, last) = (i == 0, i == cut.size - 1)
      def gather(values: Seq[BigInt], bits: Int) =
        values.zipWithIndex.map { case (v, j) => v << (bits * j) }.foldLeft(BigInt(0))(_ | _)
      pins.fragment.data #= gather(beat.map(w => BigInt(w._1)), 32)
      pins.fragment.keep #= (1 << beat.size) - 1
      val byteEnable = gather(beat.map(w => BigInt(w._2)), 4)
      pins.fragment.user #= (if (first) BigInt(request.firstBe | request.lastBe << 4)
                             else BigInt(0)) | (byteEnable << 8) |
        (if (first && request.sop) BigInt(1) << 40 else BigInt(0)) |
        (if (last && request.discontinue) BigInt(1) << 41 else BigInt(0))
      pins.last #= last
    }
  }

  def read(request: HostRequest, limit: Int = 5000): SentCompletion = {
    send(request)
    FrameSim.waitFor(cd, s"the answer to tag ${request.tag}", limit)(completions.nonEmpty)
    completions.dequeue()
  }

  def read(function: Int, offset: Int): Long = {
    val answer = read(HostRequest.read(function, offset))
    assert(answer.status == 0 && answer.words.size == 1)
    answer.words.head
  }

  def write(function: Int, offset: Int, value: Long): Unit = send(HostRequest.write(function, offset, value))
}
