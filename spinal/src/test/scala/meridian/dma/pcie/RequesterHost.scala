// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.sim._

/** Memory of a host, by pages. */
class HostMemory {
  private val pages = mutable.Map[Long, Array[Byte]]()
  private def page(address: Long) = pages.getOrElseUpdate(address >> 12, new Array[Byte](4096))
  def write(address: Long, bytes: Seq[Byte]): Unit =
    for ((byte, i) <- bytes.zipWithIndex) page(address + i)(((address + i) & 4095).toInt) = byte
  def read(address: Long, count: Int): Seq[Byte] =
    (0 until count).map(i => page(address + i)(((address + i) & 4095).toInt))
  def word(address: Long): Long = read(address, 8).zipWithIndex.map { case (b, i) => (b & 0xffL) << (8 * i) }.sum
}

/** How the host answers a read. */
sealed trait Answer
object Answer {
  case object Data extends Answer
  case object Unsupported extends Answer // UR, CA likewise
  case object Poisoned extends Answer
  case object TimedOut extends Answer // by the block, as is a reset of the function
  case object Never extends Answer // until release()
}

/** The block's end of the requester streams, with a host behind it: completions of different requests in any order, each in
  * as many parts as the read completion boundary allows. Requests that break a rule of PCIe are a failure.
  */
class RequesterHost(
    rq: Stream[Fragment[RqBeat]],
    rc: Stream[Fragment[RcBeat]],
    cd: ClockDomain,
    val memory: HostMemory,
    maxRead: Int,
    pace: Float,
    seed: Int,
    maxPayload: Int = 128
) {
  case class Read(tag: Int, function: Int, address: Long, bytes: Int, answer: Answer, asked: Long, var sent: Int = 0)
  private val random = new Random(seed)
  private val (driver, beats) = StreamDriver.queue(rc, cd)
  driver.setFactor(pace)
  private val taker = StreamReadyRandomizer(rq, cd)
  setPace(pace)
  val open = mutable.ArrayBuffer[Read]()
  var answerOf: Long => Answer = _ => Answer.Data
  var reads, writes = Seq[(Int, Long)]() // function and address of all that came
  var holds = false // answers nothing meanwhile
  var holdsAt: Long => Boolean = _ => false // likewise, of reads at these addresses
  var delay = 0 // cycles from a read to its answer, at least
  var tags = 32 // that the host allows, without Extended Tag
  var headers = CompletionRoom.limit // completions that may be under way, each of a block of 64 bytes
  var mostHeaders = 0 // that were
  private var now = 0L
  private var offered = 0L // cycles in which a request may leave
  private val offSince = mutable.Map[Int, Long]() // functions that may not access memory, by `offered`
  private var released = false

  /** Reads that were never answered are answered now, too late. */
  def release(): Unit = released = true

  /** How often a request is taken, of 1. */
  def setPace(pace: Float): Unit = taker.setFactor(pace)

  /** The function may access memory or not. Requests of one that may not are a failure, but for those under way. */
  def setMaster(function: Int, on: Boolean): Unit =
    if (on) offSince -= function else offSince.getOrElseUpdate(function, offered)

  /** What was written, after it is in memory: function, address, bytes. */
  var onWrite: (Int, Long, Seq[Byte]) => Unit = (_, _, _) => ()
  private val packet = mutable.ArrayBuffer[(BigInt, Int)]() // data and keep of a request that has begun
  private var packetBe = (0, 0)
  cd.onSamplings(assert(packet.isEmpty || rq.valid.toBoolean, "a request has a gap"))

  StreamMonitor(rq, cd) { beat =>
    if (packet.isEmpty) packetBe = (beat.fragment.firstBe.toInt, beat.fragment.lastBe.toInt)
    packet += beat.fragment.data.toBigInt -> beat.fragment.keep.toInt
    if (beat.last.toBoolean) {
      take(packet.toSeq)
      packet.clear()
    }
  }

  private def take(beats: Seq[(BigInt, Int)]): Unit = {
    val data = beats.zipWithIndex.map { case ((part, _), i) => part << (256 * i) }.sum
    def field(low: Int, bits: Int): Long = ((data >> low) & ((BigInt(1) << bits) - 1)).toLong
    val address = field(2, 62) << 2
    val dwords = field(64, 11).toInt
    val function = field(80, 8).toInt
    val (firstBe, lastBe) = packetBe
    assert(
      !offSince.get(function).exists(offered - _ > RequesterHost.underWay),
      s"function $function asks, and may not access memory"
    )
    assert((lastBe == 0) == (dwords == 1) && firstBe != 0 && dwords >= 1)
    assert((address & 4095) + 4 * dwords <= 4096, s"$dwords words at $address")
    val skipped = Integer.numberOfTrailingZeros(firstBe)
    val end = if (dwords == 1) firstBe else lastBe
    val bytes = 4 * dwords - skipped - (Integer.numberOfLeadingZeros(end) - 28)
    if (field(75, 4) == RequestKind.memoryWrite) {
      val enables = if (dwords == 1) Seq(firstBe) else Seq(firstBe, lastBe)
      assert(dwords == 1 || (Set(15, 14, 12, 8)(firstBe) && Set(15, 7, 3, 1)(lastBe)), s"byte enables $enables")
      assert(4 * dwords <= maxPayload, s"$dwords words are more than the maximum payload size")
      assert(beats.size == (4 + dwords + 7) / 8)
      val inLast = 4 + dwords - 8 * (beats.size - 1)
      assert(beats.map(_._2) == Seq.fill(beats.size - 1)(255) :+ (1 << inLast) - 1, "keep")
      val written = (0 until bytes).map(i => ((data >> (128 + 8 * (skipped + i))) & 255).toByte)
      memory.write(address + skipped, written)
      onWrite(function, address + skipped, written)
      writes = writes :+ (function -> address)
    } else {
      assert(field(75, 4) == RequestKind.memoryRead && beats.size == 1 && beats.head._2 == 15)
      assert(4 * dwords <= maxRead, s"$dwords words at $address")
      val tag = field(96, 8).toInt
      assert(tag < tags, s"tag $tag needs extended tags")
      assert(!open.exists(_.tag == tag), s"tag $tag is in flight")
      reads = reads :+ (function -> (address + skipped))
      open += Read(tag, function, address + skipped, bytes, answerOf(address + skipped), now)
      val toCome = open.map(read => (read.address + read.bytes + 63) / 64 - (read.address + read.sent) / 64)
      mostHeaders = mostHeaders max toCome.sum.toInt
      assert(mostHeaders <= headers, "reads are under way that may bring more completions than there is room for")
    }
  }

  cd.onSamplings {
    now += 1
    if (rq.ready.toBoolean) offered += 1
    val came = open.filter(read => now - read.asked >= delay)
    val ready = came.filter(read => (read.answer != Answer.Never || released) && !holdsAt(read.address))
    if (!holds && ready.nonEmpty && beats.size < 4 && random.nextFloat() < pace)
      answer(ready(random.nextInt(ready.size)))
  }

  private def answer(read: Read): Unit = read.answer match {
    case Answer.Data | Answer.Never => part(read, error = 0)
    case Answer.Poisoned            => part(read, error = 1)
    case Answer.Unsupported         => finish(read, code = 2, status = if (random.nextBoolean()) 1 else 4)
    case Answer.TimedOut            => finish(read, code = if (random.nextBoolean()) 9 else 8, status = 0)
  }

  private def finish(read: Read, code: Int, status: Int): Unit = {
    send(BigInt(code) << 12 | BigInt(1) << 30 | BigInt(status) << 43 | BigInt(read.tag) << 64, Nil)
    open -= read
  }

  private def part(read: Read, error: Int): Unit = {
    val at = read.address + read.sent
    val left = read.bytes - read.sent
    val toBoundary = 64 - (at & 63).toInt + 64 * random.nextInt(4)
    val count = left min toBoundary
    val start = at & ~3L
    val dwords = ((at + count - start + 3) / 4).toInt
    val completed = count == left
    val descriptor = BigInt(at & 4095) | BigInt(error) << 12 | BigInt(left) << 16 |
      BigInt(if (completed) 1 else 0) << 30 | BigInt(dwords) << 32 | BigInt(error) << 46 | BigInt(read.tag) << 64
    val words = memory.read(start, 4 * dwords).grouped(4).map { b =>
      (0 until 4).map(i => (b(i) & 0xffL) << (8 * i)).sum
    }
    send(descriptor, words.toSeq)
    read.sent += count
    if (completed) open -= read
  }

  private def send(descriptor: BigInt, words: Seq[Long]): Unit = {
    val all = (0 until 3).map(i => ((descriptor >> (32 * i)) & 0xffffffffL).toLong) ++ words
    val cut = all.grouped(8).toSeq
    for ((beat, i) <- cut.zipWithIndex) beats.enqueue { pins =>
      pins.fragment.data #= beat.zipWithIndex.map { case (w, j) => BigInt(w) << (32 * j) }.sum
      pins.fragment.keep #= (1 << beat.size) - 1
      pins.fragment.user #= 0
      pins.last #= (i == cut.size - 1)
    }
  }
}

object RequesterHost {
  val underWay = 20 // cycles of RQ in which what was decided before may leave
}
