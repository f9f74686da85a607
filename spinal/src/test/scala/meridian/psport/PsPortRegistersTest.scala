// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._
import spinal.lib.bus.amba4.axilite.sim.AxiLite4Driver
import spinal.lib.bus.misc.SizeMapping
import spinal.lib.bus.regif._

/** The registers alone: counters beyond 32 bits, which no simulation of frames reaches. */
class PsPortRegistersTest extends AnyFunSuite {
  class Bench extends Component {
    val registers = slave(AxiLite4(16, 32))
    val rxBytes = in UInt (64 bits)
    val busif = AxiLite4BusInterface(registers, SizeMapping(0, 0x10000))
    val block = new PsPortRegisters(busif, 0x200, 1)
    val control = master(PsPortControl())
    control <> block.control
    block.control.counters.rxBytes.removeAssignments() := rxBytes
  }

  test("the two words of a counter are of one moment") {
    SimConfig.compile(new Bench).doSim(seed = 14) { dut =>
      println("seed 14")
      dut.clockDomain.forkStimulus(10)
      val bus = AxiLite4Driver(dut.registers, dut.clockDomain)
      val addresses = 0x288
      dut.control.elements.foreach(_ => ())
      dut.clockDomain.waitSampling(5)
      for (_ <- 0 until 100) {
        val before = BigInt(63, new scala.util.Random(simRandom.nextInt())) | 0xffffffffL
        dut.rxBytes #= before
        dut.clockDomain.waitSampling(simRandom.nextInt(3))
        val low = bus.read(addresses)
        dut.rxBytes #= before + 1
        dut.clockDomain.waitSampling(simRandom.nextInt(3))
        val high = bus.read(addresses + 4)
        assert((high << 32 | low) == before, s"${(high << 32 | low).toString(16)} is not ${before.toString(16)}")
        assert(bus.read(addresses) == 0)
        assert(bus.read(addresses + 4) == (before >> 32) + 1)
      }
    }
  }
}
