// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._
import spinal.lib.bus.amba4.axilite.sim.AxiLite4Driver
import spinal.lib.bus.misc.SizeMapping
import spinal.lib.bus.regif.BusInterface

/** The clock with its registers and pins behind AXI4-Lite, as the card registers have it. */
class PhcOnAxi extends Component {
  val base = 0x400
  val io = new Bundle {
    val axi = slave(AxiLite4(12, 32))
    val time = out(PtpFineTime())
    val locked = in Bits (3 bits)
    val pin = in Bool ()
    val pps, perout, interrupt = out Bool ()
  }
  val busif = BusInterface(io.axi, SizeMapping(0, 4096))
  val registers = new PhcRegisters(busif, base, 250 MHz, io.locked)

  val phc = new Phc
  phc.io.control <> registers.control
  phc.io.skip := 1
  registers.time := phc.io.time
  io.time := phc.io.time

  val ppsOut = new PpsOut
  ppsOut.io.config := registers.pps
  ppsOut.io.time := phc.io.time
  ppsOut.io.stepped := phc.io.stepped
  registers.ppsSecond := ppsOut.io.second
  io.pps := ppsOut.io.pps

  val perout = new Perout
  perout.io.config := registers.perout
  perout.io.time := phc.io.time
  perout.io.stepped := phc.io.stepped
  registers.peroutRunning := perout.io.running
  io.perout := perout.io.output

  val extTs = new ExtTs
  extTs.io.config := registers.extTs
  extTs.io.time := phc.io.time
  extTs.io.pin := io.pin
  registers.extTsEvent << extTs.io.event
  registers.extTsLost := extTs.io.lost
  io.interrupt := registers.interrupt
}

class PhcRegistersTest extends AnyFunSuite {
  import PtpSim._

  // The map as software sees it, in bytes from the base.
  private val command = 0x00
  private val status = 0x04
  private val event = 0x08
  private val eventEnable = 0x0c
  private val time = 0x10
  private val set = 0x20
  private val adjust = 0x30
  private val increment = 0x38
  private val nominal = 0x40
  private val pps = 0x48
  private val perout = 0x4c
  private val extts = 0x6c
  private val latchBit = 1
  private val setBit = 2
  private val adjustBit = 4
  private val popBit = 8

  test("the clock is set, read, tuned and stepped through AXI4-Lite") {
    SimConfig.compile(new PhcOnAxi).doSim(seed = 1) { dut =>
      dut.io.locked #= 5
      dut.io.pin #= false
      val axi = AxiLite4Driver(dut.io.axi, dut.clockDomain)
      axi.reset()
      dut.clockDomain.forkStimulus(4000)
      dut.clockDomain.waitSampling(10)
      def write(at: Int, value: BigInt): Unit = axi.write(dut.base + at, value & 0xffffffffL)
      def read(at: Int): BigInt = axi.read(dut.base + at)
      def now = fine(dut.io.time) >> 32
      def setTime(seconds: BigInt, nanoseconds: Int): Unit = {
        write(set, seconds >> 32)
        write(set + 4, seconds)
        write(set + 8, nanoseconds)
        write(set + 12, 0x80000000L)
        write(command, setBit)
      }
      def getTime(): BigInt = {
        write(command, latchBit)
        (read(time) << 32 | read(time + 4)) * 1000000000 + read(time + 8)
      }

      assert(dut.registers.size == 0x7c)
      assert(read(status) == 5)
      assert(read(increment) == 4 && read(increment + 4) == 0)
      assert(read(nominal) == 4 && read(nominal + 4) == 0)
      write(nominal, 9)
      assert(read(nominal) == 4)

      // Set, and the time latched does not move while it is read.
      val seconds = BigInt("123456789abc", 16)
      setTime(seconds, 5000)
      val early = now
      val got = getTime()
      val late = now
      assert(read(time + 12) == 0x80000000L)
      assert(got / 1000000000 == seconds && early <= got && got <= late)
      dut.clockDomain.waitSampling(100)
      assert((read(time) << 32 | read(time + 4)) * 1000000000 + read(time + 8) == got)
      assert(late - got < 1000)

      // Set and latched at once: what the clock was and what it became are of one cycle.
      locally {
        val cycle0 = simTime()
        val before = fine(dut.io.time)
        write(command, setBit | latchBit)
        val replaced = ((read(time) << 32 | read(time + 4)) * 1000000000 + read(time + 8) << 32) + read(time + 12)
        val elapsed = (simTime() - cycle0) / 4000
        val became = (seconds * 1000000000 + 5000 << 32) + 0x80000000L
        val lost = replaced + (BigInt(4) << 32) - became
        assert(fine(dut.io.time) + lost == before + elapsed * (BigInt(4) << 32))
      }

      // Adjust forth and back over the second: nothing is lost on the way.
      for (amount <- Seq(-1000000000, 1000000000, -7, 7)) {
        write(adjust, amount)
        write(adjust + 4, 0)
        val cycle0 = simTime()
        val before = fine(dut.io.time)
        write(command, adjustBit)
        dut.clockDomain.waitSampling(10)
        val elapsed = (simTime() - cycle0) / 4000
        assert(fine(dut.io.time) - before == (BigInt(amount) << 32) + elapsed * (BigInt(4) << 32))
      }

      // An increment acts with its second part only.
      write(increment, 5)
      val a = fine(dut.io.time)
      dut.clockDomain.waitSampling(10)
      assert(fine(dut.io.time) - a == (BigInt(40) << 32))
      write(increment + 4, 0x40000000)
      dut.clockDomain.waitSampling(10)
      val b = fine(dut.io.time)
      dut.clockDomain.waitSampling(10)
      assert(fine(dut.io.time) - b == ((BigInt(5) << 32) + 0x40000000) * 10)
      write(increment, 4)
      write(increment + 4, 0)

      // Pulse per second, event and interrupt.
      write(pps, BigInt(7) << 16 | 1)
      assert(read(pps) == (BigInt(7) << 16 | 1))
      write(eventEnable, 1)
      setTime(99, 999999000)
      assert(!dut.io.pps.toBoolean && !dut.io.interrupt.toBoolean)
      dut.clockDomain.waitSampling(260)
      assert(dut.io.pps.toBoolean && dut.io.interrupt.toBoolean && read(event) == 1)
      write(event, 1)
      dut.clockDomain.waitSampling(2)
      assert(!dut.io.interrupt.toBoolean && read(event) == 0)

      // Periodic output.
      setTime(200, 0)
      write(perout + 4, 0)
      write(perout + 8, 200)
      write(perout + 12, 3000)
      write(perout + 16, 0)
      write(perout + 20, 400)
      write(perout + 24, 0)
      write(perout + 28, 100)
      write(perout, 1)
      var waited = 0
      while (!dut.io.perout.toBoolean && waited < 1000) {
        dut.clockDomain.waitSampling()
        waited += 1
      }
      assert((now - (BigInt(200) * 1000000000 + 3000)).abs < 9)
      assert(read(status) == (BigInt(1) << 16 | 5))
      var high = 0
      for (_ <- 0 until 1000) {
        dut.clockDomain.waitSampling()
        if (dut.io.perout.toBoolean) high += 1
      }
      assert((high - 250).abs <= 20)
      write(perout, 0)
      assert(read(status) == 5)

      // External timestamps: two wait, in order; then more than find room.
      write(eventEnable, 2)
      write(extts, 1)
      def pulse(): BigInt = {
        val at = now
        dut.io.pin #= true
        dut.clockDomain.waitSampling(10)
        dut.io.pin #= false
        dut.clockDomain.waitSampling(10)
        at
      }
      def stamp(): BigInt = (read(extts + 4) << 32 | read(extts + 8)) * 1000000000 + read(extts + 12)
      val first = pulse()
      val second = pulse()
      assert(dut.io.interrupt.toBoolean && read(status) == (BigInt(1) << 17 | 5))
      assert((stamp() - first).abs <= 6 && (stamp() - first).abs <= 6)
      write(command, popBit)
      assert((stamp() - second).abs <= 6)
      write(command, popBit)
      assert(read(status) == 5 && !dut.io.interrupt.toBoolean)
      for (_ <- 0 until 10) pulse()
      assert(read(extts) == (BigInt(2) << 16 | 1))
      for (_ <- 0 until 8) write(command, popBit)
      assert(read(status) == 5)
    }
  }
}
