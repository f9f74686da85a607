// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.util.Random

/** The cause of an interrupt by itself, with events and clears in any cycle, the same one included. */
class InterruptCoalescerTest extends AnyFunSuite {
  private lazy val built = SimConfig.compile(new InterruptCoalescer(cyclesPerMicrosecond = 4))

  /** Events since the last clear, those of its own cycle among them, set the cause if there are `least`. */
  private def run(name: String, microseconds: Int, frames: Int, least: Int): Unit =
    built.doSim(name, 1) { dut =>
      val random = new Random(1)
      dut.clockDomain.forkStimulus(10)
      dut.io.control.microseconds #= microseconds
      dut.io.control.frames #= frames
      dut.io.event #= false
      dut.io.clear #= false
      dut.io.skip #= 1
      dut.clockDomain.waitSampling(5)
      var events, met, looks = 0
      for (_ <- 0 until 2000) {
        val (event, clear) = (random.nextInt(3) != 0, random.nextInt(3) == 0)
        dut.io.event #= event
        dut.io.clear #= clear
        dut.clockDomain.waitSampling()
        dut.io.event #= false
        dut.io.clear #= false
        if (clear) events = 0
        if (event) events += 1
        if (event && clear) met += 1
        val pause = random.nextInt(6)
        dut.clockDomain.waitSampling(pause)
        if (pause >= 4) {
          looks += 1
          assert(dut.io.status.toBoolean == (events >= least), s"after $events events")
        }
      }
      assert(met > 100 && looks > 100, s"$met events met a clear, $looks looks")
    }

  test("an event sets the cause at once, also in the cycle of a clear, and none before a clear does") {
    run("at once", microseconds = 0, frames = 0, least = 1)
  }

  test("of events that are counted, that in the cycle of a clear is the first") {
    run("by frames", microseconds = 1000, frames = 3, least = 3)
  }
}
