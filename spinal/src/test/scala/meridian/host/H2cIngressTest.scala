// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

/** Drives the pins beat by beat, good and bad, and judges each frame by the list of beats that went in. */
class H2cIngressTest extends AnyFunSuite {
  case class Beat(data: Array[Byte], mty: Int, qid: Int, err: Boolean, zero: Boolean, last: Boolean)
  case class Want(bytes: Option[Array[Byte]], queue: Int, error: Boolean, zero: Boolean, mdata: Int)

  class Harness(dut: H2cIngress, p: ShellParam) {
    val cd = clocked(dut)
    val width = p.hostBytes
    val cycles = new Cycles(cd)
    val (driver, beats) = StreamDriver.queue(dut.io.h2c, cd)
    driver.setFactor(1.0f)
    val want = mutable.ArrayBuffer[Want]()
    val lastAt = mutable.ArrayBuffer[Long]()
    var frames = 0
    private val bytes = mutable.ArrayBuffer[Byte]()

    val sink = new StreamSink(dut.io.frames, cd)({ word =>
      val expected = want(frames)
      val last = word.last.toBoolean
      val mty = word.fragment.mty.toInt
      assert(last || mty == 0)
      assert(word.fragment.meta.queue.toInt == expected.queue)
      assert(word.fragment.meta.request.toInt == (expected.mdata & 0x7ffff))
      bytes ++= toBytes(word.fragment.data.toBigInt, width).take(width - mty)
      if (last) {
        assert(word.fragment.meta.error.toBoolean == expected.error, s"error of frame $frames")
        assert(word.fragment.meta.zero.toBoolean == expected.zero, s"zero of frame $frames")
        for (right <- expected.bytes) assert(bytes.toSeq == right.toSeq, s"bytes of frame $frames")
        bytes.clear()
        frames += 1
        lastAt += cycles.now
      }
    })
    cd.waitSampling(5)

    def send(frame: Seq[Beat]): Unit = {
      val zero = frame.size == 1 && frame.head.zero
      val error = frame.exists(_.err) ||
        frame.init.exists(_.mty != 0) ||
        frame.exists(b => !b.zero && b.mty >= width) ||
        frame.exists(_.qid != frame.head.qid) ||
        frame.size > 1 && frame.exists(_.zero)
      val good = if (error || zero) None else Some(frame.flatMap(b => b.data.dropRight(b.mty).toSeq).toArray)
      val mdata = simRandom.nextInt()
      want += Want(good, frame.head.qid, error, zero, mdata)
      for ((beat, i) <- frame.zipWithIndex) beats.enqueue { pins =>
        pins.randomize() // tcrc and port_id must not matter, nor mdata behind the first beat
        if (i == 0) pins.tuser_mdata #= mdata & 0xffffffffL
        pins.tdata #= toBig(beat.data.toSeq)
        pins.tuser_mty #= beat.mty
        pins.tuser_qid #= beat.qid
        pins.tuser_err #= beat.err
        pins.tuser_zero_byte #= beat.zero
        pins.tlast #= beat.last
      }
    }

    def good(length: Int, qid: Int): Seq[Beat] = {
      val cut = FrameSim.beats(randomBytes(length), width)
      cut.zipWithIndex.map { case (data, i) =>
        val last = i == cut.size - 1
        Beat(data, if (last) cut.size * width - length else 0, qid, err = false, zero = false, last)
      }
    }

    /** One of the things a stream must not do, somewhere in the frame. */
    def spoil(frame: Seq[Beat]): Seq[Beat] = {
      val at = simRandom.nextInt(frame.size)
      val beat = frame(at)
      simRandom.nextInt(5) match {
        case 0 => frame.updated(at, beat.copy(err = true))
        case 1 => frame.updated(at, beat.copy(mty = 1 + simRandom.nextInt(63)))
        case 2 => frame.updated(at, beat.copy(qid = beat.qid ^ 1 << simRandom.nextInt(11)))
        case 3 => frame.updated(at, beat.copy(zero = true, mty = simRandom.nextInt(64)))
        case 4 => frame.map(b => b.copy(err = b.last, zero = true))
      }
    }

    def drain(): Unit = waitFor(cd, "the last frame")(frames == want.size)
  }

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width)
    lazy val compiled = SimConfig.compile(new H2cIngress(p))

    test(s"$width bytes: good and bad frames come out once, each bad one marked") {
      for ((pace, i) <- paces.zipWithIndex) compiled.doSim(s"random$width.$i", seed = 200 + i) { dut =>
        val h = new Harness(dut, p)
        h.driver.setFactor(paces((i + 1) % paces.size))
        h.sink.pace(pace)
        for (length <- 1 to 2 * width + 1) h.send(h.good(length, simRandom.nextInt(2048)))
        for (_ <- 0 until 300) {
          val frame = h.good(1 + simRandom.nextInt(6 * width), simRandom.nextInt(2048))
          h.send(if (simRandom.nextBoolean()) frame else h.spoil(frame))
        }
        h.drain()
        assert(h.want.exists(_.error) && h.want.exists(_.zero) && h.want.exists(w => !w.error && !w.zero))
      }
    }

    test(s"$width bytes: 64-byte frames follow each other without a bubble") {
      compiled.doSim(s"speed$width", seed = 17) { dut =>
        val h = new Harness(dut, p)
        val start = h.cycles.now
        for (i <- 0 until 300) h.send(h.good(64, i))
        h.drain()
        assert(h.lastAt.last - h.lastAt.head == 299L * 64 / width, "a beat was lost between frames")
        assert(h.lastAt.head - start <= 64 / width + 3)
      }
    }
  }
}
