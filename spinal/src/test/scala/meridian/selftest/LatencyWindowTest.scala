// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** Latencies at any cycle, windows of any length, against the list of those that came in each window. */
class LatencyWindowTest extends AnyFunSuite {
  private lazy val compiled = SimConfig.compile(new LatencyWindow)

  /** The bin by the words of the register map. */
  private def bin(latency: BigInt): Int =
    if (latency < 4) latency.toInt
    else {
      val n = latency.bitLength - 1
      (4 * (n - 1) + ((latency >> (n - 2)) & 3).toInt) min 63
    }

  private class Bench(dut: LatencyWindow, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    var pace = 1.0
    val past = mutable.ArrayBuffer[BigInt]() // of the first window
    var cycles = 0 // of it that are still to come
    dut.io.sample.valid #= false
    dut.io.window #= 0
    dut.io.continuous #= false
    dut.io.restart #= true
    dut.io.read #= 0
    dut.io.index #= 0
    cd.onSamplings {
      if (dut.io.measures.toBoolean && cycles > 0) {
        cycles -= 1
        if (dut.io.sample.valid.toBoolean) past += dut.io.sample.payload.toBigInt
      }
      val now = if (random.nextDouble() < pace) Some(BigInt(random.nextInt(64), random)) else None
      dut.io.sample.valid #= now.isDefined
      for (latency <- now) dut.io.sample.payload #= latency
    }
    cd.waitSampling(3)

    def shown: Seq[BigInt] = {
      val r = dut.io.result
      Seq(r.max, r.min, r.sum, r.frames).map(_.toBigInt)
    }
    def right(samples: Seq[BigInt]): Seq[BigInt] =
      if (samples.isEmpty) Seq.fill(4)(BigInt(0))
      else Seq(samples.max, samples.min, samples.sum & ((BigInt(1) << 64) - 1), BigInt(samples.size))
    def histogram(): Seq[Int] = (0 until 64).map { i =>
      dut.io.index #= i
      sleep(1)
      dut.io.count.toLong.toInt
    }

    /** Reads words, each once. */
    def read(words: Seq[Int]): Unit = for (word <- words) {
      dut.io.read #= 1 << word
      cd.waitSampling()
      dut.io.read #= 0
    }
  }

  test("each window shows what came in it, and bins count by size") {
    compiled.doSim("windows", seed = 5) { dut =>
      val b = new Bench(dut, 5)
      for (length <- Seq(1, 2, 3, 17, 100, 1000); pace <- Seq(1.0, 0.3, 0.0)) {
        b.pace = pace
        dut.io.restart #= true
        dut.io.continuous #= false
        dut.io.window #= length
        b.cd.waitSampling(2)
        assert(b.shown.forall(_ == 0) && b.histogram().forall(_ == 0))
        dut.io.restart #= false
        dut.io.continuous #= true
        b.past.clear()
        b.cycles = length
        waitFor(b.cd, "the first window", length + 10)(b.cycles == 0)
        val samples = b.past.toList
        b.cd.waitSampling()
        assert(b.shown == b.right(samples), s"$length cycles at $pace")
        b.cd.waitSampling(4)
        val want = Array.fill(64)(0)
        samples.foreach(latency => want(bin(latency)) += 1)
        assert(b.histogram() == want.toSeq)
        // The next windows are forgotten until all words are read.
        b.cd.waitSampling(3 * length + 5)
        assert(b.shown == b.right(samples))
        b.read(b.random.shuffle((0 until 8).toList).take(7))
        b.cd.waitSampling(2 * length + 5)
        assert(b.shown == b.right(samples) && b.histogram() == want.toSeq, "a word was not read")
      }
    }
  }

  test("a result is shown until all its words were read, and the next one is of a whole window") {
    compiled.doSim("next", seed = 6) { dut =>
      val b = new Bench(dut, 6)
      b.pace = 0.4
      dut.io.restart #= false
      dut.io.continuous #= true
      dut.io.window #= 30
      val window = mutable.ArrayBuffer[BigInt]()
      var cycle, length, windows, forgotten, number = 0
      var shown = b.right(Nil)
      var unread = Set[Int]()
      b.cd.onSamplings {
        assert(b.shown == shown, s"after $windows windows")
        assert(dut.io.number.toInt == number % 16, "each window shown has the next number")
        val measures = dut.io.measures.toBoolean
        if (measures) {
          if (cycle == 0) length = 30
          if (dut.io.sample.valid.toBoolean) window += dut.io.sample.payload.toBigInt
          cycle += 1
        }
        val before = unread
        unread = unread.filterNot(word => (dut.io.read.toInt >> word & 1) == 1)
        if (measures && cycle == length) {
          windows += 1
          if (before.isEmpty) {
            shown = b.right(window.toSeq)
            number += 1
            unread = (0 until 8).toSet
          } else forgotten += 1
          window.clear()
          cycle = 0
        }
        dut.io.read #= (if (b.random.nextInt(4) == 0) 1 << b.random.nextInt(8) else 0)
      }
      b.cd.waitSampling(20000)
      assert(windows > 600 && forgotten > 300 && forgotten < windows - 100)
    }
  }

  test("a length of 0 measures nothing, and a new one holds from the next window on") {
    compiled.doSim("lengths", seed = 7) { dut =>
      val b = new Bench(dut, 7)
      dut.io.restart #= false
      dut.io.continuous #= true
      b.cd.waitSampling(100)
      assert(b.shown.forall(_ == 0) && !dut.io.measures.toBoolean)
      dut.io.window #= 40
      b.cd.waitSampling(5)
      dut.io.window #= 10
      b.cd.waitSampling(45)
      assert(dut.io.result.frames.toBigInt == 40)
      b.read(0 until 8)
      b.cd.waitSampling(25)
      assert(dut.io.result.frames.toBigInt == 10)
    }
  }
}
