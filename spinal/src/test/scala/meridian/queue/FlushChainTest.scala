// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

class FlushChainTest extends AnyFunSuite {
  private lazy val built = SimConfig.compile(new FlushChain(3))

  private def run(name: String)(body: (FlushChain, ClockDomain, Int => Unit) => Unit): Unit =
    built.doSim(name, 1) { dut =>
      val cd = clocked(dut)
      dut.io.flush #= false
      dut.io.answer #= 0
      cd.waitSampling(5)
      def answer(bits: Int): Unit = {
        dut.io.answer #= bits
        cd.waitSampling()
        dut.io.answer #= 0
      }
      body(dut, cd, answer)
    }

  private def ask(dut: FlushChain, cd: ClockDomain): Unit = {
    dut.io.flush #= true
    sleep(1)
    assert(dut.io.ask.toInt == 1)
    cd.waitSampling()
    dut.io.flush #= false
  }

  test("stages are asked one after another, each by the answer of the one before") {
    run("order") { (dut, cd, answer) =>
      var asked = Seq.empty[Int]
      var done = 0
      cd.onSamplings {
        if (dut.io.ask.toInt != 0) asked :+= dut.io.ask.toInt
        if (dut.io.flushed.toBoolean) done += 1
      }
      ask(dut, cd)
      answer(6) // of stages that were not asked
      for (stage <- 0 until 3) {
        cd.waitSampling(3)
        assert(asked == Seq(1, 2, 4).take(stage + 1) && done == 0)
        answer(1 << stage)
      }
      cd.waitSampling(3)
      assert(asked == Seq(1, 2, 4) && done == 1)
      answer(7)
      cd.waitSampling(3)
      assert(asked.size == 3 && done == 1, "answers to nothing")
    }
  }

  test("a new flush begins again, and answers to the old one do not count") {
    run("again") { (dut, cd, answer) =>
      var done = 0
      cd.onSamplings(if (dut.io.flushed.toBoolean) done += 1)
      ask(dut, cd)
      answer(1)
      answer(2)
      ask(dut, cd)
      answer(4)
      cd.waitSampling(3)
      assert(done == 0)
      for (stage <- 0 until 3) answer(1 << stage)
      cd.waitSampling(3)
      assert(done == 1)
    }
  }
}
