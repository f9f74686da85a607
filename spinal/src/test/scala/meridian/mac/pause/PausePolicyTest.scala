// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** What is decided from the fill of a receive buffer: who is to stop, and who finds no room. */
class PausePolicyTest extends AnyFunSuite {
  private def config(name: String) = SimConfig.withConfig(SpinalConfig(targetDirectory = s"target/$name"))

  test("thresholds of classes and of all of them have a hysteresis, and stop nothing while nothing is sent") {
    config("pausePolicy").compile(new PausePolicy(8)).doSim { dut =>
      val random = new Random(12)
      def pair() = { val xoff = 100 + random.nextInt(150); (xoff, random.nextInt(xoff)) }
      val limits = Seq.fill(7)(pair()) :+ ((0, 0)) :+ ((245, 180)) // of eight classes and of all
      val thresholds = dut.io.thresholds.classes.toSeq :+ dut.io.thresholds.all
      val inputs = dut.io.fill.toSeq :+ dut.io.all
      val fill = Array.fill(9)(0)
      val stopped = Array.fill(9)(false)
      for (((xoff, xon), to) <- limits.zip(thresholds)) {
        to.xoff #= xoff
        to.xon #= xon
      }
      inputs.foreach(_ #= 0)
      dut.io.thresholds.lossy #= 0
      dut.io.on #= true
      dut.clockDomain.forkStimulus(10)
      dut.clockDomain.waitSampling(3)
      var changes, stopsOfAll = 0
      var due = 0
      for (step <- 0 until 40000) {
        val on = step % 10000 > 500
        dut.io.on #= on
        for ((input, i) <- inputs.zipWithIndex) {
          fill(i) = (fill(i) + random.nextInt(21) - 10) max 0 min 255
          input #= fill(i)
          val (xoff, xon) = limits(i)
          val before = stopped(i)
          if (fill(i) <= xon) stopped(i) = false
          if (xoff != 0 && fill(i) >= xoff) stopped(i) = true
          if (!on) stopped(i) = false
          if (before != stopped(i)) changes += 1
        }
        if (stopped(8)) stopsOfAll += 1
        dut.clockDomain.waitSampling()
        sleep(1)
        assert(dut.io.xoff.toInt == due, "two cycles behind the fill")
        due = if (stopped(8)) 0xff else (0 until 8).filter(stopped(_)).map(1 << _).sum
      }
      assert(changes > 200 && stopsOfAll > 100 && !stopped(7))
    }
  }

  test("a class without PFC finds no room from its limit on, and any does while no PFC is sent or no limit is set") {
    config("pauseAdmission").compile(new PauseAdmission(8)).doSim { dut =>
      val random = new Random(13)
      dut.io.priority.valid #= false
      dut.clockDomain.forkStimulus(10)
      var refused = 0
      for (_ <- 0 until 500) {
        val (fill, priority) = (random.nextInt(256), random.nextInt(8))
        val lossy = Seq(0, 1, 100, fill, fill + 1 min 255, 255)(random.nextInt(6))
        val pfc = Seq(0, random.nextInt(256), 1 << priority, 0xff & ~(1 << priority))(random.nextInt(4))
        dut.io.fill #= fill
        dut.io.lossy #= lossy
        dut.io.pfc #= pfc
        dut.io.priority.valid #= true
        dut.io.priority.payload #= priority
        dut.clockDomain.waitSampling()
        dut.io.priority.valid #= false
        dut.io.priority.payload #= random.nextInt(8)
        dut.clockDomain.waitSampling(1 + random.nextInt(3))
        val lossless = pfc == 0 || (pfc >> priority & 1) == 1
        val due = !lossless && lossy != 0 && fill >= lossy
        assert(dut.io.refused.toBoolean == due, s"fill $fill, limit $lossy, PFC $pfc, priority $priority")
        assert(dut.io.lossless.toBoolean == lossless)
        dut.io.pfc #= random.nextInt(256)
        dut.clockDomain.waitSampling(2)
        assert(dut.io.lossless.toBoolean == lossless, "a frame stays what it is while PFC changes")
        if (due) refused += 1
      }
      assert(refused > 50 && refused < 400)
    }
  }
}
