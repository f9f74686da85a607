// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import meridian.regs.PortRegs
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** The page of flow control by itself: what is written, what is refused, what is counted. */
class PauseRegsTest extends AnyFunSuite {
  private val p = ShellParam()
  private lazy val compiled =
    SimConfig.withConfig(SpinalConfig(targetDirectory = "target/pauseRegs")).compile(new PauseRegs(p))

  class Bench(dut: PauseRegs) {
    dut.io.bus.cmd.valid #= false
    for (frames <- dut.io.port.frames) frames #= 0
    for (state <- Seq(dut.io.port.paused, dut.io.port.storm, dut.io.port.stopped, dut.io.port.expired)) state #= 0
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling(60)

    private def access(at: Int, write: Boolean, data: BigInt, fromHost: Boolean): BigInt = {
      val cmd = dut.io.bus.cmd
      cmd.valid #= true
      cmd.write #= write
      cmd.address #= at
      cmd.data #= data
      cmd.function #= 0
      cmd.fromHost #= fromHost
      var left = 20
      do { dut.clockDomain.waitSampling(); left -= 1 } while (!cmd.ready.toBoolean && left > 0)
      assert(left > 0, "the command is not taken")
      cmd.valid #= false
      do { dut.clockDomain.waitSampling(); left -= 1 } while (!dut.io.bus.rsp.valid.toBoolean && left > 0)
      assert(left > 0, "no answer")
      assert(!dut.io.bus.rsp.unmapped.toBoolean, s"nothing is at ${at.toHexString}")
      val value = dut.io.bus.rsp.data.toBigInt
      dut.clockDomain.waitSampling(6)
      value
    }
    def read(at: Int, fromHost: Boolean = false): BigInt = access(at, write = false, 0, fromHost)
    def write(at: Int, value: BigInt): Unit = access(at, write = true, value, fromHost = false)
    def counter(i: Int): BigInt = read(0x100 + 8 * i) + (read(0x104 + 8 * i) << 32)
  }

  test("settings reach the port, and those that do not go together keep a direction off and are told") {
    compiled.doSim { dut =>
      val bench = new Bench(dut)
      import bench._
      val port = dut.io.port
      assert(read(0x08) == 0xffff && read(0x18) == 0)
      write(0x04, 0x0100)
      assert(read(0x18) == 4 && port.tx.pfc.toInt == 0, "without an address nothing is sent")
      write(0x10, BigInt("44332202", 16))
      assert(read(0x10) == 0, "the address stays while a direction is on")
      write(0x04, 0)
      write(0x10, BigInt("44332202", 16))
      write(0x14, 0x6655)
      write(0x04, 0xa500)
      assert(read(0x18) == 0 && port.tx.pfc.toInt == 0xa5 && !port.tx.pause.toBoolean)
      assert(
        port.tx.station.toBigInt == BigInt("665544332202", 16) && port.rx.station.toBigInt == port.tx.station.toBigInt
      )
      write(0x10, 0)
      write(0x14, 0)
      assert(port.tx.station.toBigInt == BigInt("665544332202", 16))
      val least = PauseSender.leastQuanta(p.maxFrame)
      write(0x08, least - 1)
      assert(read(0x08) == 0xffff, "the time that is told stays while it is told")
      write(0x04, 0)
      port.stopped #= 4
      dut.clockDomain.waitSampling(2)
      write(0x08, least - 1)
      assert(read(0x08) == 0xffff, "the time stays until the other end goes on")
      port.stopped #= 0
      dut.clockDomain.waitSampling(2)
      write(0x08, least - 1)
      write(0x04, 0xa500)
      assert(read(0x18) == 3 && port.tx.pfc.toInt == 0)
      write(0x04, 0)
      write(0x08, least)
      write(0x04, 0xa500)
      assert(read(0x18) == 0 && port.tx.pfc.toInt == 0xa5 && port.tx.quanta.toInt == least)
      write(0x04, 0xff01)
      assert(read(0x18) == 2 && port.tx.pfc.toInt == 0 && !port.tx.pause.toBoolean)
      write(0x04, 1)
      assert(read(0x18) == 0 && port.tx.pause.toBoolean)
      write(0x00, 0x0801)
      assert(read(0x18) == 1 && port.rx.pfc.toInt == 0 && !port.rx.pause.toBoolean && port.tx.pause.toBoolean)
      write(0x00, 0x0800)
      assert(read(0x18) == 0 && port.rx.pfc.toInt == 8)
      write(0x0c, 0x00f01234)
      write(0x24, 0x4321)
      assert(port.watch.limit.toInt == 0x1234 && port.watch.drop.toInt == 0 && read(0x0c) == 0x1234)
      assert(port.sendWatch.limit.toInt == 0x4321 && port.sendWatch.drop.toInt == 0)
      def thresholds(i: Int) = if (i == 8) port.buffer.all else port.buffer.classes(i)
      def place(i: Int) = if (i == 8) 0x28 else 0x40 + 4 * i
      def set(more: Int): Unit = {
        for (i <- 0 to 8) write(place(i), BigInt((1000 + more + i) << 16 | 2000 + more + i))
        write(0x2c, 3000 + more)
      }
      def are(more: Int): Boolean = (0 to 8).forall { i =>
        thresholds(i).xoff.toInt == 2000 + more + i && thresholds(i).xon.toInt == 1000 + more + i &&
        read(place(i)) == ((1000 + more + i) << 16 | 2000 + more + i)
      } && port.buffer.lossy.toInt == 3000 + more && read(0x2c) == 3000 + more
      write(0x04, 0)
      set(0)
      assert(are(0))
      write(0x04, 0xa500)
      set(100)
      assert(are(0), "thresholds stay while flow control is sent")
      write(0x04, 0)
      set(100)
      assert(are(100))
    }
  }

  test("states and events are shown, and an event stays until it is cleared") {
    compiled.doSim("state") { dut =>
      val bench = new Bench(dut)
      import bench._
      dut.io.port.paused #= 0x81
      dut.io.port.storm #= 0x80
      dut.io.port.stopped #= 0x3c
      dut.io.port.expired #= 0x08
      dut.clockDomain.waitSampling(3)
      assert(read(0x1c) == 0x3c8081 && read(0x20) == 0x880)
      write(0x20, 0xf77f)
      assert(read(0x20) == 0x880)
      write(0x20, 0x800)
      assert(read(0x20) == 0x80)
      write(0x20, 0x80)
      assert(read(0x20) == 0, "the storm goes on, and has been told")
      dut.io.port.storm #= 0
      dut.clockDomain.waitSampling(3)
      dut.io.port.storm #= 0x81
      dut.clockDomain.waitSampling(3)
      assert(read(0x20) == 0x81)
    }
  }

  test("frames, paused time and storms of each class are counted, none is lost") {
    compiled.doSim("counters") { dut =>
      val bench = new Bench(dut)
      val random = new Random(5)
      val sums = Array.fill(32)(BigInt(0))
      var last = 0
      for (_ <- 0 until 20000) {
        for ((frames, i) <- dut.io.port.frames.zipWithIndex) {
          val n = random.nextInt(40) match { case 0 => random.nextInt(32); case 1 | 2 => 1; case _ => 0 }
          frames #= n
          sums(i) += n
        }
        val paused = random.nextInt(256)
        val storm = if (random.nextInt(10) == 0) random.nextInt(256) else last
        val stopped = random.nextInt(256)
        dut.io.port.paused #= paused
        dut.io.port.storm #= storm
        dut.io.port.stopped #= stopped
        for (i <- 0 until 8) {
          if ((paused >> i & 1) == 1) sums(8 + i) += 4
          if ((stopped >> i & 1) == 1) sums(24 + i) += 4
          if (((storm & ~last) >> i & 1) == 1) sums(16 + i) += 1
        }
        last = storm
        dut.clockDomain.waitSampling()
      }
      for (frames <- dut.io.port.frames) frames #= 0
      dut.io.port.paused #= 0
      dut.io.port.stopped #= 0
      dut.clockDomain.waitSampling(50)
      for (i <- 0 until 32) assert(bench.counter(i) == sums(i), s"counter $i")
      assert(sums(7) == 0)
    }
  }

  test("the names of counters have places of their own, and the page lies where no other does") {
    assert(PauseRegs.names.map(_.offset).distinct.size == 31 && PauseRegs.names.map(_.name).distinct.size == 31)
    assert(PauseRegs.names.forall(n => n.offset >= 0x100 && n.offset < 0x200))
    // In the page of the port, behind its last register.
    val port = SpinalConfig(targetDirectory = "target/pauseRegsPort")
      .generateVerilog(new PortRegs(ShellParam(psAddresses = 16)))
      .toplevel
    val last = port.page.busif.slices.map(s => s.getAddr() + s.getSize()).max
    assert(PauseRegs.place.base - PortRegs.place.base == 0x800 && last <= 0x800)
    assert((PauseRegs.place.stride, PauseRegs.place.count) == ((PortRegs.place.stride, PortRegs.place.count)))
  }
}
