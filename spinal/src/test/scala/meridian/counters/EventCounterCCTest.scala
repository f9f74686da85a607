// SPDX-License-Identifier: Apache-2.0
package meridian.counters

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

class EventCounterCCTest extends AnyFunSuite {
  lazy val compiled = SimConfig.compile(
    new EventCounterCC(ClockDomain.external("source", withReset = false), ClockDomain.external("destination"), 5, 40)
  )

  // Periods: 390.625 to 250 MHz, 156.25 to 250 MHz, 250 to 390.625 MHz, and many events for one destination cycle.
  for ((source, destination) <- Seq((2560, 4000), (6400, 4000), (4000, 2560), (1000, 27013)))
    test(s"no event is lost, source period $source ps, destination period $destination ps") {
      val seed = source + destination
      println(s"seed $seed")
      compiled.doSim(seed = seed) { dut =>
        val random = new Random(seed)
        val from = dut.sourceCd
        val to = dut.destinationCd
        dut.io.sourceEvent #= false
        from.forkStimulus(source)
        to.forkStimulus(destination)
        var events, amounts = BigInt(0)
        to.waitSampling(20)
        to.onSamplings(if (dut.io.destinationEvents.valid.toBoolean) amounts += dut.io.destinationEvents.payload.toInt)
        for (round <- 0 until 20) {
          // Every third round at full rate.
          val rate = if (round % 3 == 0) 100 else random.nextInt(100)
          for (_ <- 0 until 500) {
            val event = random.nextInt(100) < rate
            dut.io.sourceEvent #= event
            if (event) events += 1
            from.waitSampling()
          }
          dut.io.sourceEvent #= false
          sleep(7 * destination + 2 * source)
          assert(dut.io.destinationCount.toBigInt == events && amounts == events)
        }
        assert(events > 4000)

        // A reset clears the count, and makes no events of what was counted before.
        to.assertReset()
        sleep(10 * destination)
        to.deassertReset()
        sleep(10 * destination)
        assert(dut.io.destinationCount.toBigInt == 0 && amounts == events)
      }
    }
}
