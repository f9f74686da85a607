// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** The reset bits of OpenNIC's system block, with a second reset in any cycle after the first. */
class SystemRegsTest extends AnyFunSuite {
  test("a status bit is back 32 cycles after its reset at the latest, whenever another block is reset") {
    SimConfig.compile(new SystemRegs(ShellParam(ports = 2))).doSim("system_regs", 1) { dut =>
      val cd = dut.clockDomain
      cd.forkStimulus(4000)
      SimTimeout(4000L * 100000)
      dut.io.bus.cmd.valid #= false
      cd.waitSampling(2)

      /** One access, in two cycles. */
      def access(address: Int, write: Option[Int]): Int = {
        dut.io.bus.cmd.valid #= true
        dut.io.bus.cmd.write #= write.nonEmpty
        dut.io.bus.cmd.address #= address
        dut.io.bus.cmd.data #= BigInt(write.getOrElse(0))
        cd.waitSampling()
        dut.io.bus.cmd.valid #= false
        cd.waitSampling()
        dut.io.bus.rsp.data.toLong.toInt
      }
      for (phase <- 0 until 16; gap <- 2 to 20) {
        access(0xc, Some(0x10))
        val start = simTime()
        cd.waitSampling(gap - 2)
        access(0xc, Some(0x200))
        assert((access(0x10, None) & 0x200) == 0, "the second reset is seen")
        while ((access(0x10, None) & 0x10) == 0)
          assert(simTime() - start <= 4000 * (32 + 4), s"$gap cycles between the resets, phase $phase")
        while ((access(0x10, None) & 0x200) == 0) assert(simTime() - start <= 4000 * (gap + 32 + 4))
        assert(access(0x10, None) == 0x331)
        cd.waitSampling(40 + (phase + 16 - (simTime() / 4000 % 16).toInt) % 16)
      }
    }
  }
}
