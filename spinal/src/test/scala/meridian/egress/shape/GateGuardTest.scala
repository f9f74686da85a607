// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

class GateGuardTest extends AnyFunSuite {
  for ((rate, period) <- Seq((25, BigDecimal("2.56e-9")), (10, BigDecimal("6.4e-9"))))
    test(s"a frame begins if it ends in time, and only then, $rate Gb/s") {
      val behind = 40
      SimConfig
        .withConfig(SpinalConfig(targetDirectory = s"target/gateGuard$rate"))
        .compile(new GateGuard(rate, TimeNumber(period), behind))
        .doSim { dut =>
          val random = new Random(rate)
          dut.clockDomain.forkStimulus(10)
          dut.clockDomain.waitSampling()
          var let, held = 0
          for (_ <- 0 until 4000) {
            val lengths = Seq.fill(8)(60 + random.nextInt(if (random.nextBoolean()) 100 else 15941))
            val exact = lengths.map(l => (l + 12) * 8.0 / rate + behind)
            val left = exact.map(e => ((e + random.nextInt(200) - 60).toInt max 0) min 0x3fff)
            val open = random.nextInt(256)
            for (i <- 0 until 8) { dut.io.lengths(i) #= lengths(i); dut.io.left(i) #= left(i) }
            dut.io.open #= open
            dut.clockDomain.waitSampling(2)
            sleep(1)
            for (i <- 0 until 8) {
              val may = (dut.io.may.toInt >> i & 1) == 1
              val spare = left(i) - exact(i) - 2 * period.toDouble * 1e9
              if (may) { let += 1; assert((open >> i & 1) == 1 && spare >= 0, s"${lengths(i)} bytes in ${left(i)} ns") }
              else {
                held += 1
                assert((open >> i & 1) == 0 || spare < 4 + exact(i) * 0.01, s"${lengths(i)} bytes in ${left(i)} ns")
              }
            }
          }
          assert(let > 3000 && held > 3000)
        }
    }
}
