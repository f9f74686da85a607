// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** Frames that come back whole, changed, out of order, twice or not at all, judged by a model of whole frames. */
class FrameCheckerTest extends AnyFunSuite {
  case class Sent(bytes: Array[Byte], queue: Int, error: Boolean = false, zero: Boolean = false)

  class Bench(dut: FrameChecker, p: ShellParam, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val width = p.hostBytes
    val (first, last) = (10, 17)
    var run = 1 + random.nextInt(30)
    var pace = 1.0
    private val beats = mutable.Queue[() => Unit]()
    val want = mutable.LinkedHashMap(FrameChecker.counts.map(_._1 -> BigInt(0)): _*)
    private val expected = mutable.Map[Int, BigInt]().withDefaultValue(0)
    val latencies, wantLatencies = mutable.ArrayBuffer[BigInt]()
    private var now = BigInt(100000)

    dut.io.on #= true
    dut.io.restart #= false
    dut.io.clear.valid #= false
    dut.io.beat.valid #= false
    dut.io.run.settings.first #= first
    dut.io.run.last #= last
    dut.io.run.number #= run
    dut.io.now #= now
    cd.onSamplings {
      if (dut.io.latency.valid.toBoolean) latencies += dut.io.latency.payload.toBigInt
      now += 1
      dut.io.now #= now
      val goes = beats.nonEmpty && random.nextDouble() < pace
      dut.io.beat.valid #= goes
      if (goes) beats.dequeue()()
    }
    private def clear(): Unit = {
      for (queue <- first to last) {
        dut.io.clear.valid #= true
        dut.io.clear.payload #= queue
        cd.waitSampling()
      }
      dut.io.clear.valid #= false
      dut.io.restart #= true
      cd.waitSampling()
      dut.io.restart #= false
    }
    cd.waitSampling(2)
    clear()
    cd.waitSampling()

    /** Begins the next run as SelfTestControl does; nothing of the one before counts in it. */
    def restart(): Unit = {
      dut.io.on #= false
      cd.waitSampling(FrameChecker.stages + 5)
      clear()
      run = (run + 1) % 32
      dut.io.run.number #= run
      dut.io.on #= true
      for (name <- want.keys) want(name) = 0
      expected.clear()
      latencies.clear()
      wantLatencies.clear()
    }

    /** What the frame is, by the text of the register map. */
    private def judge(s: Sent, at: BigInt): Unit = {
      if (s.queue < first || s.queue > last) return
      def count(name: String, n: BigInt = 1): Unit = want(name) += n
      count("frames")
      if (!s.zero) count("bytes", s.bytes.length)
      def number(from: Int, n: Int) = BigInt(1, s.bytes.slice(from, from + n).reverse)
      if (s.error || s.zero) count("marked")
      else if (s.bytes.length < 34) count("too_short")
      else {
        val label = number(14, 2).toInt
        val queue = label & 2047
        val typeIsRight = s.bytes(12) == 0x88.toByte && s.bytes(13) == 0xb5.toByte
        if (!typeIsRight || label >> 11 != run || queue < first || queue > last) count("foreign")
        else {
          val (sequence, stamp) = (number(16, 8), number(24, 8))
          val right = TestFrameModel(s.bytes.length, queue, run, sequence, stamp)
          val bits = (34 until s.bytes.length).map(i => Integer.bitCount((s.bytes(i) ^ right(i)) & 255)).sum
          if (bits > 0 || number(32, 2) != s.bytes.length) {
            count("damaged")
            count("bit_errors", bits)
          } else {
            count("good")
            wantLatencies += (at - stamp) & ((BigInt(1) << 64) - 1) // of a wrong stamp, where no pattern tells
            if (sequence >= expected(queue)) {
              count("skipped", sequence - expected(queue))
              expected(queue) = sequence + 1
            } else count("late")
          }
        }
      }
    }

    def send(s: Sent): Unit = {
      val cut = meridian.host.FrameSim.beats(s.bytes, width)
      for ((data, i) <- cut.zipWithIndex) beats.enqueue { () =>
        val isLast = i == cut.size - 1
        if (i == 0) judge(s, now)
        val beat = dut.io.beat
        beat.last #= isLast
        beat.fragment.data #= toBig(data.toSeq)
        beat.fragment.mty #= (if (isLast) cut.size * width - s.bytes.length else 0)
        beat.fragment.meta.queue #= s.queue
        beat.fragment.meta.request #= random.nextInt(1 << 16)
        // Final with the last beat alone.
        beat.fragment.meta.error #= (if (isLast) s.error else random.nextBoolean())
        beat.fragment.meta.zero #= isLast && s.zero
      }
    }

    def frame(length: Int, queue: Int, sequence: BigInt): Array[Byte] =
      TestFrameModel(length, queue, run, sequence, now - random.nextInt(100000), randomBytes(12).toSeq)

    def settle(): Unit = {
      waitFor(cd, "the last beat")(beats.isEmpty)
      cd.waitSampling(FrameChecker.stages + 6)
      for ((name, i) <- FrameChecker.counts.map(_._1).zipWithIndex)
        assert(dut.io.counts(i).toBigInt == want(name), s"$name, of $want")
      assert(latencies == wantLatencies)
      val c = want
      assert(c("frames") == c("good") + c("damaged") + c("foreign") + c("too_short") + c("marked"))
    }
  }

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width, queues = 64)
    lazy val compiled = SimConfig.compile(new FrameChecker(p))

    test(s"$width bytes: good frames of every size are counted back to back") {
      compiled.doSim(s"good$width", seed = 1) { dut =>
        val b = new Bench(dut, p, 1)
        val numbers = mutable.Map[Int, Int]().withDefaultValue(0)
        for (length <- (1 to 200) ++ Seq(1514, 4096, 9599, 9600)) {
          val queue = b.first + b.random.nextInt(8)
          b.send(Sent(b.frame(length, queue, numbers(queue)), queue))
          if (length >= 34) numbers(queue) += 1
        }
        b.settle()
        assert(b.want("good") == 171 && b.want("too_short") == 33 && b.want("skipped") == 0)
      }
    }

    test(s"$width bytes: each bit that is wrong is counted") {
      compiled.doSim(s"bits$width", seed = 2) { dut =>
        val b = new Bench(dut, p, 2)
        var flipped = 0
        for (_ <- 0 until 400) {
          val length = 60 + b.random.nextInt(200)
          val frame = b.frame(length, b.first, 0)
          for (_ <- 0 until b.random.nextInt(3)) {
            val bit = 8 * 34 + b.random.nextInt(8 * (length - 34))
            if ((frame(bit / 8) >> (bit % 8) & 1) == 1 || b.random.nextBoolean()) {
              frame(bit / 8) = (frame(bit / 8) ^ 1 << (bit % 8)).toByte
              flipped += 1
            }
          }
          b.send(Sent(frame, b.first))
        }
        b.settle()
        assert(flipped > 200 && b.want("bit_errors") > 200 && b.want("bit_errors") <= flipped)
      }
    }

    test(s"$width bytes: a wrong number, stamp or length is damage, and a frame that does not end is") {
      compiled.doSim(s"header$width", seed = 3) { dut =>
        val b = new Bench(dut, p, 3)
        for (at <- 14 until 34; bit <- 0 until 8) {
          val frame = b.frame(100, b.first, 5)
          frame(at) = (frame(at) ^ 1 << bit).toByte
          b.send(Sent(frame, b.first))
        }
        b.settle()
        assert(b.want("good") == 0 && b.want("damaged") >= 144, s"${b.want}")
        val cut = b.frame(300, b.first, 5)
        b.send(Sent(cut.take(200), b.first))
        b.settle()
        assert(b.want("good") == 0)
      }
    }

    test(s"$width bytes: loss, reordering, frames that come twice, and those of others, are told apart at any pace") {
      for (seed <- 20 until 24) compiled.doSim(s"random$width.$seed", seed) { dut =>
        val b = new Bench(dut, p, seed)
        for (_ <- 0 until 4) {
          b.pace = Seq(1.0, 0.6, 0.1)(b.random.nextInt(3))
          val numbers = mutable.Map[Int, Int]().withDefaultValue(b.want("good").toInt)
          val frames = mutable.ArrayBuffer[Sent]()
          for (_ <- 0 until 250) {
            val queue = b.first - 2 + b.random.nextInt(12) // of others, too
            val length = if (b.random.nextInt(10) == 0) 1 + b.random.nextInt(2000) else 34 + b.random.nextInt(64)
            val bytes = b.frame(length, queue, numbers(queue))
            numbers(queue) += 1
            val sentBy = if (b.random.nextInt(8) == 0) b.first + b.random.nextInt(8) else queue
            b.random.nextInt(14) match {
              case 0 => // lost
              case 1 => frames.insert(b.random.nextInt(frames.size + 1), Sent(bytes, sentBy))
              case 2 => for (_ <- 0 to 1) frames += Sent(bytes, sentBy)
              case 3 => frames += Sent(randomBytes(length), sentBy)
              case 4 => frames += Sent(bytes, sentBy, error = true)
              case 5 => frames += Sent(bytes.take(1 + b.random.nextInt(width)), sentBy, zero = b.random.nextBoolean())
              case 6 => frames += Sent(bytes.take(1 + b.random.nextInt(bytes.length)), sentBy)
              case 7 =>
                val at = b.random.nextInt(length)
                bytes(at) = (bytes(at) ^ 1 << b.random.nextInt(8)).toByte
                frames += Sent(bytes, sentBy)
              case _ => frames += Sent(bytes, sentBy)
            }
          }
          frames.foreach(b.send)
          b.settle()
        }
        for (name <- FrameChecker.counts.map(_._1)) assert(b.want(name) > 0, name)
      }
    }

    test(s"$width bytes: a frame that is under way when a run begins is not of it, at any of its beats") {
      compiled.doSim(s"restart$width", seed = 5) { dut =>
        val b = new Bench(dut, p, 5)
        for (round <- 0 until 60) {
          b.send(Sent(b.frame(3000, b.first, 100 + round), b.first))
          b.cd.waitSampling(2 + b.random.nextInt(3000 / width)) // also before the last beat, and behind it
          b.restart()
          for (i <- 0 until 3) b.send(Sent(b.frame(64, b.first, i), b.first))
          b.settle()
          assert(b.want("good") == 3 && b.want("skipped") == 0)
        }
      }
    }

    test(s"$width bytes: what is not wholly inside the test is not looked at") {
      compiled.doSim(s"off$width", seed = 4) { dut =>
        val b = new Bench(dut, p, 4)
        dut.io.on #= false
        b.cd.waitSampling()
        for (i <- 0 until 3) b.send(Sent(b.frame(1000, b.first, i), 60 - i))
        b.cd.waitSampling(10)
        dut.io.on #= true
        b.settle()
        assert(b.want("frames") == 0)
        // A frame of which the beginning came before.
        dut.io.on #= false
        val bytes = b.frame(1000, 61, 0)
        b.send(Sent(bytes, 61))
        b.cd.waitSampling(5)
        dut.io.run.settings.first #= 0
        dut.io.run.last #= 63
        dut.io.on #= true
        b.settle()
      }
    }
  }
}
