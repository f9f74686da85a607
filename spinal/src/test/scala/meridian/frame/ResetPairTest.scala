// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** How long a restart takes, whichever side is reset, and whatever the ratio of the clocks is. */
class ResetPairTest extends AnyFunSuite {
  private def clock(name: String) = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))

  for (settle <- Seq(4, 16)) {
    lazy val compiled = SimConfig.compile(new ResetPair(clock("push"), clock("pop"), settle))

    test(s"a restart takes no longer than is stated with settle $settle") {
      var least, most = 0L
      for (((push, pop), seed) <- Seq((4000, 4000), (2560, 4000), (6400, 4000), (4000, 1000)).zipWithIndex)
        compiled.doSim(seed = seed) { dut =>
          val slower = push max pop
          dut.io.popHold #= false
          dut.pushCd.forkStimulus(push)
          sleep(700)
          dut.popCd.forkStimulus(pop)
          def up = dut.io.pushUp.toBoolean && dut.io.popUp.toBoolean
          def wait(until: => Boolean): Long = {
            val start = simTime()
            while (!until) { sleep(100); assert(simTime() - start < 200L * slower, "the sides stay down") }
            simTime() - start
          }
          sleep(20 * slower)
          wait(up)
          val random = new scala.util.Random(seed)
          for (round <- 0 until 100) {
            sleep(slower * 30 + random.nextInt(slower))
            val (cd, period) = if (round % 2 == 0) (dut.pushCd, push) else (dut.popCd, pop)
            cd.assertReset()
            sleep(period * (2 + random.nextInt(50)))
            assert(!up)
            cd.deassertReset()
            val cycles = wait(up) / slower
            most = most max cycles
            least = if (least == 0) cycles else least min cycles
          }
        }
      println(s"settle $settle: up $least to $most cycles of the slower clock after the reset ends")
      assert(most <= ResetPair.longest(settle))
    }
  }
}
