// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.frame.FrameWord
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.sim._

/** Bytes and beats, for the tests of this side of the shell. */
object FrameSim {
  def toBig(bytes: Seq[Byte]): BigInt = BigInt(1, bytes.reverse.toArray)

  def toBytes(value: BigInt, count: Int): Array[Byte] =
    Array.tabulate(count)(i => ((value >> (8 * i)) & 0xff).toByte)

  def randomBytes(count: Int): Array[Byte] = {
    val bytes = new Array[Byte](count)
    simRandom.nextBytes(bytes)
    bytes
  }

  /** The frame cut into beats, the last one filled up with noise: nobody may look at it. */
  def beats(frame: Array[Byte], width: Int): Seq[Array[Byte]] =
    frame.grouped(width).map(beat => beat ++ randomBytes(width - beat.length)).toSeq

  /** Chance of a handshake in a cycle, for the runs of one test. */
  val paces = Seq(1.0f, 0.6f, 0.15f)

  def clocked(dut: Component): ClockDomain = {
    SimTimeout(100 * 1000 * 1000)
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain
  }

  /** Waits until the condition holds, at most limit cycles. */
  def waitFor(cd: ClockDomain, what: String, limit: Int = 200000)(done: => Boolean): Unit = {
    var left = limit
    while (!done) {
      assert(left > 0, s"$what did not happen in $limit cycles")
      left -= 1
      cd.waitSampling()
    }
  }
}

/** Sends whole frames into a frame stream; meta is set for every beat, told whether it is the last. */
class FrameSource[M <: Data](stream: Stream[Fragment[FrameWord[M]]], cd: ClockDomain) {
  private val (driver, beats) = StreamDriver.queue(stream, cd)
  driver.setFactor(1.0f)
  def pace(factor: Float): Unit = driver.setFactor(factor)
  def pending: Int = beats.size

  def send(frame: Array[Byte])(meta: (M, Boolean) => Unit): Unit = {
    val width = widthOf(stream.payload.fragment.data) / 8
    val cut = FrameSim.beats(frame, width)
    for ((beat, i) <- cut.zipWithIndex) {
      val last = i == cut.size - 1
      beats.enqueue { payload =>
        payload.last #= last
        payload.fragment.data #= FrameSim.toBig(beat.toSeq)
        payload.fragment.mty #= (if (last) cut.size * width - frame.length else 0)
        meta(payload.fragment.meta, last)
      }
    }
  }
}

/** Accepts a stream at a given pace and checks that valid and payload stay until they are taken. */
class StreamSink[T <: Data](stream: Stream[T], cd: ClockDomain)(take: T => Unit) {
  private val randomizer = StreamReadyRandomizer(stream, cd)
  randomizer.setFactor(1.0f)
  private val monitor = StreamMonitor(stream, cd)(take)
  monitor.keepValueEnable = true
  def pace(factor: Float): Unit = randomizer.setFactor(factor)
}

/** Cycles of the clock since the start. */
class Cycles(cd: ClockDomain) {
  var now = 0L
  cd.onSamplings(now += 1)
}
