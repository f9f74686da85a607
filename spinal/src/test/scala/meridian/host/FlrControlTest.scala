// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

class FlrControlTest extends AnyFunSuite {
  val timeoutCycles = 1000
  val settleCycles = 16
  val filters = 2

  /** Plays the IP and the filters, and checks the order of events of each answer. */
  class Harness(dut: FlrControl, p: ShellParam) {
    val cd = clocked(dut)
    val cycles = new Cycles(cd)
    val answers = mutable.ArrayBuffer[Int]()
    var timeouts, flushes = 0
    var deaf = Set[Int]() // filters that do not answer
    private val due = Array.fill(filters)(Option.empty[Long])
    private var cleared = Option.empty[Int] // function whose range was written since the last answer
    private var clearedAt, flushedAt = 0L
    private var asked, told = false
    private val answeredBy = mutable.Set[Int]()
    def inReset(f: Int): Boolean = dut.io.reset.toBigInt.testBit(f)

    dut.io.request.valid #= false
    dut.io.flushed #= 0
    StreamReadyRandomizer(dut.io.range, cd).setFactor(0.3f)
    StreamMonitor(dut.io.range, cd) { range =>
      assert(cleared.isEmpty, "one function at a time")
      assert(range.count.toInt == 0)
      cleared = Some(range.function.toInt)
      clearedAt = cycles.now
      assert(inReset(cleared.get), "the range is emptied in reset")
    }
    cd.onSamplings {
      if (dut.io.flush.toBoolean) {
        flushes += 1
        assert(cleared.isDefined && cycles.now - clearedAt >= settleCycles, "the flush waits for the empty range")
        answeredBy.clear()
        flushedAt = cycles.now
        for (i <- 0 until filters) due(i) = if (deaf(i)) None else Some(cycles.now + 1 + simRandom.nextInt(40))
      }
      var pulses = 0
      for (i <- 0 until filters if due(i).contains(cycles.now)) {
        pulses |= 1 << i
        due(i) = None
        answeredBy += i
      }
      dut.io.flushed #= pulses
      if (dut.io.timeout.toBoolean) {
        timeouts += 1
        assert(cycles.now - flushedAt >= timeoutCycles)
        told = true
      }
      if (dut.io.done.valid.toBoolean) {
        val f = dut.io.done.payload.toInt
        if (f < p.functions) {
          assert(cleared.contains(f) && inReset(f))
          assert(answeredBy.size == filters || told, s"function $f answered before the filters")
        } else assert(cleared.isEmpty)
        answers += f
        cleared = None
        told = false
        answeredBy.clear()
      }
    }
    cd.waitSampling(5)

    def request(f: Int): Unit = {
      dut.io.request.valid #= true
      dut.io.request.payload #= f
      cd.waitSampling()
      dut.io.request.valid #= false
      dut.io.request.payload.randomize()
    }

    def waitAnswers(count: Int, limit: Int = 200000): Unit = {
      waitFor(cd, s"answer $count", limit)(answers.size == count)
      cd.waitSampling(2)
    }
  }

  for (p <- Seq(ShellParam(functions = 20), ShellParam(functions = 256))) {
    lazy val compiled = SimConfig.compile(new FlrControl(p, filters, timeoutCycles, settleCycles))
    def run(name: String, seed: Int)(body: Harness => Unit): Unit =
      compiled.doSim(s"$name${p.functions}", seed)(dut => body(new Harness(dut, p)))

    test(s"${p.functions} functions: a burst over many is answered, each once, also those that do not exist") {
      run("burst", 41) { h =>
        val burst = simRandom.shuffle((0 until 256).toList).take(60)
        for (f <- burst) h.request(f)
        h.cd.waitSampling(3)
        for (f <- 0 until p.functions) assert(h.inReset(f) == (burst.contains(f) && !h.answers.contains(f)))
        h.waitAnswers(60)
        assert(h.answers.sorted == burst.sorted)
        h.cd.waitSampling(600)
        assert(h.answers.size == 60 && h.timeouts == 0)
        for (f <- 0 until p.functions) assert(!h.inReset(f))
      }
    }

    test(s"${p.functions} functions: one alone is in reset within two cycles and answered within the time promised") {
      run("single", 42) { h =>
        for (f <- Seq(0, 5, p.functions - 1)) {
          val start = h.cycles.now
          val count = h.answers.size
          h.request(f)
          h.cd.waitSampling(2)
          assert(h.inReset(f))
          h.waitAnswers(count + 1)
          assert(h.cycles.now - start <= 512 + settleCycles + 4 + 42 + 60)
          assert(!h.inReset(f))
        }
      }
    }

    test(s"${p.functions} functions: a second request during the work is answered too") {
      run("again", 43) { h =>
        for (round <- 1 to 20) {
          val flushes = h.flushes
          h.request(7)
          waitFor(h.cd, "the flush", 2000)(h.flushes > flushes)
          h.request(7)
          h.waitAnswers(2 * round - 1)
          assert(h.inReset(7), "still in reset for the second")
          h.waitAnswers(2 * round)
          assert(!h.inReset(7) && h.flushes == flushes + 2)
        }
        assert(h.answers.forall(_ == 7))
      }
    }

    test(s"${p.functions} functions: a filter that never answers costs the time-out and nothing else") {
      run("timeout", 44) { h =>
        h.deaf = Set(1)
        h.request(3)
        h.request(9)
        h.waitAnswers(2)
        assert(h.timeouts == 2 && h.answers.toSet == Set(3, 9))
        h.deaf = Set()
        h.request(3)
        h.waitAnswers(3, 1000)
        assert(h.timeouts == 2)
      }
    }

    test(s"${p.functions} functions: requests at any time lose none") {
      run("random", 45) { h =>
        var asked = Set[Int]()
        for (_ <- 0 until 150) {
          val f = simRandom.nextInt(p.functions)
          asked += f
          h.request(f)
          h.cd.waitSampling(simRandom.nextInt(200))
        }
        waitFor(h.cd, "the end of all resets", 100000)((0 until p.functions).forall(!h.inReset(_)))
        assert(h.answers.toSet == asked)
      }
    }
  }
}
