// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.LongTest
import meridian.Samplings._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** Times told at random, against a model in real time. */
class PauseTimerTest extends AnyFunSuite {
  test("a clock and a line have the ratio that their numbers give") {
    assert(Pause.cyclesPerQuanta(BigDecimal("390.625") MHz, 25) == ((8, 1)))
    assert(Pause.cyclesPerQuanta(BigDecimal("156.25") MHz, 10) == ((8, 1)))
    assert(Pause.cyclesPerQuanta(250 MHz, 25) == ((128, 25)))
    assert(Pause.cyclesPerQuanta(250 MHz, 10) == ((64, 5)))
    assert(Pause.cyclesPerQuanta(125 MHz, 10) == ((32, 5)))
  }

  for ((clock, rate, skips) <- Seq((BigDecimal("390.625"), 25, false), (BigDecimal(250), 10, true)))
    test(
      s"each class is blocked as long as it was told, $clock MHz, $rate Gb/s",
      (if (skips) Seq(LongTest) else Nil): _*
    ) {
      val period = 1000 / clock // ns
      SimConfig
        .withConfig(SpinalConfig(targetDirectory = s"target/pauseTimer$rate"))
        .compile(new PauseTimer(clock MHz, rate))
        .doSim { dut =>
          val random = new Random(rate)
          // Until when each class is blocked, in ns.
          val until = Array.fill(8)(BigDecimal(0))
          var now = BigDecimal(0)
          var blockedCycles, longest = 0L
          dut.io.times.valid #= false
          dut.io.clear #= 0
          dut.io.skip #= 1
          dut.clockDomain.forkStimulus(10)
          dut.clockDomain.waitSampling()
          var tell = false
          var enable, clear = 0
          var skip = 1
          var quanta = Seq.fill(8)(0)
          def draw(): Unit = {
            tell = random.nextInt(200) == 0
            enable = random.nextInt(256)
            quanta = Seq.fill(8)(if (random.nextInt(4) == 0) random.nextInt(2) else random.nextInt(60))
            clear = if (random.nextInt(500) == 0) random.nextInt(256) else 0
            skip = if (skips && random.nextInt(50) == 0) 1 + random.nextInt(1000) else 1
            dut.io.times.valid #= tell
            dut.io.times.enable #= enable
            for (i <- 0 until 8) dut.io.times.quanta(i) #= quanta(i)
            dut.io.clear #= clear
            dut.io.skip #= skip
          }
          def check(): Unit = {
            val blocked = dut.io.blocked.toInt
            for (i <- 0 until 8) {
              if (tell && (enable >> i & 1) == 1) until(i) = now + BigDecimal(quanta(i)) * 512 / rate
              if ((clear >> i & 1) == 1) until(i) = 0
              assert((blocked >> i & 1) == (if (until(i) > now) 1 else 0), s"class $i at $now ns")
              if ((blocked >> i & 1) == 1) blockedCycles += 1
            }
          }
          draw()
          dut.clockDomain.eachSampling(60000) {
            now += period * skip
            delayed(1) {
              check()
              draw()
            }
          }
          sleep(1)
          assert(blockedCycles > 30000)
          // The longest time does not run over.
          dut.io.clear #= 0
          dut.io.skip #= 1
          dut.io.times.valid #= true
          dut.io.times.enable #= 0x80
          dut.io.times.quanta(7) #= 0xffff
          dut.clockDomain.waitSampling()
          dut.io.times.valid #= false
          sleep(1)
          dut.clockDomain.samplingUntil((dut.io.blocked.toInt & 0x80) == 0 || longest == 2000000)(longest += 1)
          assert(longest == (BigDecimal(0xffff) * 512 / rate / period).setScale(0, BigDecimal.RoundingMode.CEILING))
        }
    }
}
