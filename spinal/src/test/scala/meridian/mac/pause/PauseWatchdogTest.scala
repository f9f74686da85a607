// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** Classes that are blocked for times around the limit, with units of 16 cycles. */
class PauseWatchdogTest extends AnyFunSuite {
  private val unit = 16
  private lazy val compiled =
    SimConfig.withConfig(SpinalConfig(targetDirectory = "target/pauseWatchdog")).compile(new PauseWatchdog(unit))

  private def setUp(dut: PauseWatchdog, limit: Int, drop: Int): Unit = {
    dut.io.config.limit #= limit
    dut.io.config.drop #= drop
    dut.io.blocked #= 0
    dut.io.skip #= 1
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling()
    sleep(1)
  }
  private def step(dut: PauseWatchdog): Unit = {
    dut.clockDomain.waitSampling()
    sleep(1)
  }

  test("a storm begins between limit and limit + 1 units, once, and ends with the pause") {
    compiled.doSim { dut =>
      val random = new Random(3)
      val (limit, drop) = (5, 0xf0)
      setUp(dut, limit, drop)
      val since, left = Array.fill(8)(0)
      val storms = Array.fill(8)(0)
      var begun, ended = 0
      for (_ <- 0 until 40000) {
        for (i <- 0 until 8) if (left(i) == 0 && random.nextInt(30) == 0) left(i) = 1 + random.nextInt(12 * unit)
        val blocked = (0 until 8).filter(left(_) > 0).map(1 << _).sum
        dut.io.blocked #= blocked
        step(dut)
        val (held, storm, began) = (dut.io.held.toInt, dut.io.storm.toInt, dut.io.began.toInt)
        assert(dut.io.discard.toInt == (storm & drop))
        assert(held == (blocked & ~storm))
        for (i <- 0 until 8) {
          since(i) = if (left(i) > 0) since(i) + 1 else 0
          val inStorm = (storm >> i & 1) == 1
          if (since(i) <= limit * unit) assert(!inStorm, s"class $i is blocked for ${since(i)} cycles only")
          if (since(i) > (limit + 1) * unit + 3) assert(inStorm, s"class $i is blocked for ${since(i)} cycles")
          if ((began >> i & 1) == 1) { begun += 1; storms(i) += 1; assert(storms(i) == 1) }
          if (left(i) > 0) left(i) -= 1
          if (!inStorm) { ended += storms(i); storms(i) = 0 }
        }
      }
      assert(begun > 300 && ended >= begun - 8)
    }
  }

  test("without a limit there is no storm, however long, and a limit taken away ends it") {
    compiled.doSim("off") { dut =>
      setUp(dut, 0, 0xff)
      dut.io.blocked #= 0xff
      for (_ <- 0 until 2000) {
        step(dut)
        assert(dut.io.storm.toInt == 0 && dut.io.held.toInt == 0xff)
      }
      dut.io.config.limit #= 3
      for (_ <- 0 until 4) step(dut)
      assert(dut.io.storm.toInt == 0xff && dut.io.held.toInt == 0)
      dut.io.config.limit #= 0
      step(dut)
      assert(dut.io.storm.toInt == 0 && dut.io.held.toInt == 0xff)
    }
  }

  test("a limit that is seen torn for a cycle begins no storm") {
    compiled.doSim("torn") { dut =>
      setUp(dut, 0x100, 0)
      dut.io.blocked #= 1
      for (_ <- 0 until 20 * unit) step(dut)
      dut.io.config.limit #= 1
      step(dut)
      dut.io.config.limit #= 0x201
      for (_ <- 0 until 20) {
        step(dut)
        assert(dut.io.storm.toInt == 0)
      }
    }
  }

  test("skipped time counts, and the longest limit is reached") {
    compiled.doSim("skip") { dut =>
      setUp(dut, 0xffff, 0)
      dut.io.blocked #= 4
      step(dut)
      dut.io.skip #= 0xffffL * unit - 10 * unit
      step(dut)
      dut.io.skip #= 1
      for (_ <- 0 until 9 * unit) { step(dut); assert(dut.io.storm.toInt == 0) }
      for (_ <- 0 until 3 * unit) step(dut)
      assert(dut.io.storm.toInt == 4)
    }
  }
}
