// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** A MAC's receive clock is behind the PHC by the latency of the port, whatever that is. */
class StampLatencyTest extends AnyFunSuite {
  class Behind extends Component {
    val latency = in SInt (32 bits)
    val behind = out(StampLatency.behind(latency))
  }

  test("a clock is behind by a latency, and by all but 2^-16 ns of the lowest, which has no opposite") {
    SimConfig.compile(new Behind).doSim { dut =>
      val (lowest, highest) = (-BigInt(2).pow(31), BigInt(2).pow(31) - 1)
      for (latency <- Seq[BigInt](0, 1, -1, 250 << 16, highest, -highest, lowest + 1, lowest)) {
        dut.latency #= latency
        sleep(1)
        assert(dut.behind.toBigInt == (-latency).min(highest), s"$latency")
      }
    }
  }
}
