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
    val rxBytes, txBytes = in UInt (64 bits)
    val reader = in UInt (3 bits)
    val busif = AxiLite4BusInterface(registers, SizeMapping(0, 0x10000))
    val block = new PsPortRegisters(busif, 0x200, 1, reader)
    val control = master(PsPortControl())
    control <> block.control
    block.control.counters.rxBytes.removeAssignments() := rxBytes
    block.control.counters.txBytes.removeAssignments() := txBytes
  }

  test("the two words of a counter are of one moment") {
    SimConfig.compile(new Bench).doSim(seed = 14) { dut =>
      println("seed 14")
      dut.clockDomain.forkStimulus(10)
      val bus = AxiLite4Driver(dut.registers, dut.clockDomain)
      val low = 0x288
      dut.reader #= 0
      dut.clockDomain.waitSampling(5)
      for (_ <- 0 until 100) {
        val before = BigInt(63, new scala.util.Random(simRandom.nextInt())) | 0xffffffffL
        dut.rxBytes #= before
        dut.clockDomain.waitSampling(simRandom.nextInt(3))
        val first = bus.read(low)
        dut.rxBytes #= before + 1
        dut.clockDomain.waitSampling(simRandom.nextInt(3))
        val second = bus.read(low + 4)
        val whole = (second << 32) | first
        assert(whole == before, s"${whole.toString(16)} is not ${before.toString(16)}")
        assert(bus.read(low) == 0)
        assert(bus.read(low + 4) == (before >> 32) + 1)
      }
    }
  }

  test("the words of a reader are of one moment, whatever the PS and four PFs read in between") {
    SimConfig.compile(new Bench).doSim(seed = 15) { dut =>
      println("seed 15")
      dut.clockDomain.forkStimulus(10)
      dut.reader #= 0
      val bus = AxiLite4Driver(dut.registers, dut.clockDomain)
      dut.clockDomain.waitSampling(5)
      val counters = Seq(0x288 -> dut.rxBytes, 0x2b8 -> dut.txBytes)
      val begun = scala.collection.mutable.Map[Int, (Int, BigInt, BigInt)]() // reader: counter, its value, low word
      var overtaken = 0
      for (_ <- 0 until 600) {
        val values = counters.map(_ => BigInt(64, new scala.util.Random(simRandom.nextInt())))
        for (((_, counter), value) <- counters.zip(values)) counter #= value
        val reader = simRandom.nextInt(5)
        dut.reader #= reader
        begun.remove(reader) match {
          case None =>
            val which = simRandom.nextInt(2)
            val (low, value) = (counters(which)._1, values(which))
            begun(reader) = (low, value, bus.read(low))
            assert(begun(reader)._3 == (value & 0xffffffffL))
          case Some((low, value, lowWord)) =>
            val whole = (bus.read(low + 4) << 32) | lowWord
            assert(whole == value, s"reader $reader has ${whole.toString(16)}, not ${value.toString(16)}")
            if (begun.nonEmpty) overtaken += 1
        }
      }
      assert(overtaken > 100)
    }
  }
}
