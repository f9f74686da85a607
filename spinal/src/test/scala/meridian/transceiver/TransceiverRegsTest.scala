// SPDX-License-Identifier: Apache-2.0
package meridian.transceiver

import meridian.regs.{TransceiverRefusal, TransceiverRegs}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** The page of a port's transceiver against a model: what is refused and why, resets, patterns, and DRP. */
class TransceiverRegsTest extends AnyFunSuite {
  private val drpTimeout = 64
  private val trafficCycles = 512
  private val scanCycles = 900
  private lazy val compiled =
    SimConfig
      .withConfig(SpinalConfig(targetDirectory = "target/transceiver"))
      .compile(new TransceiverRegs(drpTimeout, trafficCycles, scanCycles))

  private def code(e: SpinalEnumElement[_ <: SpinalEnum]): Int = e.position

  /** A transceiver that answers each access after some cycles, or never. */
  class Drp(dut: TransceiverRegs, random: Random) {
    val words = mutable.HashMap[Int, Int]().withDefaultValue(0)
    var answers = true
    var slow = 20
    var accesses = 0
    private var waits = -1
    private var held = 0
    dut.io.port.drp.drprdy #= false
    dut.io.port.drp.drpdo #= 0
    dut.clockDomain.onSamplings {
      val drp = dut.io.port.drp
      drp.drprdy #= false
      drp.drpdo #= random.nextInt(1 << 16) // the value is good with drprdy only
      if (drp.drpen.toBoolean) {
        assert(waits < 0, "an access begins before the last has ended")
        accesses += 1
        val address = drp.drpaddr.toInt
        if (drp.drpwe.toBoolean) words(address) = drp.drpdi.toInt
        held = words(address)
        waits = if (answers) random.nextInt(slow) else Int.MaxValue
      } else if (waits == 0) {
        drp.drprdy #= true
        drp.drpdo #= held
        waits = -1
      } else if (waits > 0 && waits != Int.MaxValue) waits -= 1
    }

    /** The answer to an access that was given up comes at last. */
    def late(): Unit = waits = 0
    def forget(): Unit = waits = -1
  }

  class Bench(val dut: TransceiverRegs, seed: Int) {
    val random = new Random(seed)
    var byHost = false // who writes
    dut.io.bus.cmd.valid #= false
    dut.io.bus.cmd.address #= 0
    dut.io.hostEnabled #= false
    dut.io.psEnabled #= false
    dut.io.frame #= false
    dut.io.skip #= 1
    dut.io.port.prbsError #= false
    dut.io.port.rxClock #= true
    dut.io.port.macLoops #= false
    dut.io.port.macLost #= 0
    val drp = new Drp(dut, random)
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling(4)

    def access(address: Int, write: Boolean, data: Long): Long = {
      dut.io.bus.cmd.valid #= true
      dut.io.bus.cmd.write #= write
      dut.io.bus.cmd.address #= address
      dut.io.bus.cmd.data #= data
      dut.io.bus.cmd.function #= 0
      dut.io.bus.cmd.fromHost #= (if (write) byHost else random.nextBoolean())
      dut.clockDomain.waitSamplingWhere(dut.io.bus.cmd.ready.toBoolean)
      dut.io.bus.cmd.valid #= false
      dut.clockDomain.waitSampling()
      assert(dut.io.bus.rsp.valid.toBoolean && !dut.io.bus.rsp.unmapped.toBoolean)
      dut.io.bus.rsp.data.toLong
    }
    def read(address: Int): Long = access(address, write = false, 0)
    def write(address: Int, data: Long): Unit = { access(address, write = true, data); dut.clockDomain.waitSampling() }
    def refusal: Int = (read(0x0c) & 0xf).toInt
    def cycles(n: Int): Unit = dut.clockDomain.waitSampling(n)

    /** Until an access by DRP has ended: its result, the word, and how often it was looked at. */
    def drpEnd(): (Int, Int) = {
      var looks = 0
      var status = read(0x14)
      while ((status >> 16 & 1) == 1) {
        looks += 1
        assert(looks < 4 * drpTimeout, "an access by DRP does not end")
        status = read(0x14)
      }
      ((status >> 20 & 0xf).toInt, (status & 0xffff).toInt)
    }
    def drpWrite(address: Int, data: Int): (Int, Int) = {
      write(0x10, data.toLong << 16 | 0x8000 | address)
      drpEnd()
    }
    def drpRead(address: Int): (Int, Int) = {
      write(0x10, address)
      drpEnd()
    }
  }
  private def run(name: String, seed: Int)(body: Bench => Unit): Unit =
    test(name)(compiled.doSim(name.replaceAll("\\W+", "_"), seed) { dut =>
      SimTimeout(100000000)
      body(new Bench(dut, seed))
    })

  run("a loopback is taken over with resets of both data paths, or refused with the reason", 1) { b =>
    import b._
    val macLoop = TransceiverRegs.macLoop
    var before = 0
    for (step <- 0 until 400) {
      val host = random.nextInt(4) == 0
      val ps = random.nextInt(4) == 0
      val traffic = random.nextInt(4) == 0
      val force = random.nextBoolean()
      byHost = random.nextBoolean()
      val mode = random.nextInt(11)
      dut.io.hostEnabled #= host
      dut.io.psEnabled #= ps
      cycles(trafficCycles + 300)
      if (traffic) {
        dut.io.frame #= true
        cycles(1)
        dut.io.frame #= false
        cycles(1)
      }
      val wanted =
        if (!Seq(0, 1, 2, 4, 6, macLoop).contains(mode)) TransceiverRefusal.reserved
        else if (mode == 0 || force && !(byHost && ps)) TransceiverRefusal.none
        else if (force) TransceiverRefusal.psEnabled
        else if (host) TransceiverRefusal.hostEnabled
        else if (ps) TransceiverRefusal.psEnabled
        else if (traffic) TransceiverRefusal.traffic
        else TransceiverRefusal.none
      write(0, (if (force) 0x100 else 0) | mode)
      val taken = wanted == TransceiverRefusal.none
      assert(refusal == code(wanted), s"step $step: mode $mode")
      val now = if (taken) mode else before
      // The transceiver knows nothing of the loopback at the MAC's host side, which resets nothing either.
      def ofPins(mode: Int) = if (mode == macLoop) 0 else mode
      assert(dut.io.port.loopback.toInt == ofPins(now) && dut.io.port.macLoop.toBoolean == (now == macLoop))
      assert(read(0) == now)
      var (rx, tx) = (0, 0)
      for (_ <- 0 until 300) {
        cycles(1)
        if (dut.io.rxRestart.toBoolean) rx += 1
        if (dut.io.txRestart.toBoolean) tx += 1
        assert(!dut.io.rxRestart.toBoolean || !dut.io.idle.toBoolean, "time is not left out while a reset lasts")
      }
      // Some cycles have passed by the accesses above.
      val changes = ofPins(now) != ofPins(before)
      before = now
      if (changes) assert(rx > 230 && rx <= 250 && tx == rx, s"$rx, $tx cycles of reset")
      else assert(rx == 0 && tx == 0, s"step $step: a reset without a change")
    }
  }

  run("a change of the loopback while a reset lasts makes it last its time from then on", 2) { b =>
    import b._
    var (length, pulses) = (0, Seq[Int]())
    dut.clockDomain.onSamplings {
      if (dut.io.rxRestart.toBoolean && dut.io.txRestart.toBoolean) length += 1
      else if (length != 0) { pulses = pulses :+ length; length = 0 }
    }
    write(0, 2)
    cycles(200)
    write(0, 1)
    cycles(10)
    write(0, 1) // it is no change
    assert(refusal == code(TransceiverRefusal.none) && dut.io.port.loopback.toInt == 1)
    cycles(300)
    assert(pulses.size == 1 && pulses.head > 450 && pulses.head < 470, pulses)
  }

  run("the state of the loopback at the MAC's host side is shown, and no time is left out until it is as wanted", 9) {
    b =>
      import b._
      dut.io.port.macLost #= 0x89abcdefL
      for (on <- Seq(true, false)) {
        write(0, if (on) TransceiverRegs.macLoop else 0)
        cycles(600)
        assert(!dut.io.idle.toBoolean && (read(0x0c) >> 9 & 1) == (if (on) 0 else 1))
        dut.io.port.macLoops #= on
        cycles(2)
        assert(dut.io.idle.toBoolean && (read(0x0c) >> 9 & 1) == (if (on) 1 else 0) && read(0x1c) == 0x89abcdefL)
      }
  }

  run("a frame is traffic for its time, also when time is left out", 3) { b =>
    import b._
    dut.io.frame #= true
    cycles(1)
    dut.io.frame #= false
    cycles(trafficCycles - 20)
    assert((read(0x0c) >> 8 & 1) == 1)
    cycles(20)
    assert((read(0x0c) >> 8 & 1) == 0)
    dut.io.frame #= true
    cycles(1)
    dut.io.frame #= false
    cycles(1)
    assert((read(0x0c) >> 8 & 1) == 1)
    dut.io.skip #= 0xffffffffL
    cycles(1)
    dut.io.skip #= 1
    assert((read(0x0c) >> 8 & 1) == 0)
  }

  run("patterns: taken over or refused, locked without an error, and unlocked by errors only", 4) { b =>
    import b._
    def locked = (read(0x0c) >> 4 & 1) == 1
    def erred = (read(0x0c) >> 5 & 1) == 1
    def windows(n: Int) = cycles(n * PrbsLock.window)
    write(4, 0x606)
    assert(refusal == code(TransceiverRefusal.reserved) && read(4) == 0)
    dut.io.hostEnabled #= true
    write(4, 0x505)
    assert(refusal == code(TransceiverRefusal.hostEnabled) && read(4) == 0)
    write(4, 0x10505)
    assert(refusal == code(TransceiverRefusal.none) && read(4) == 0x505)
    assert(dut.io.port.txPrbs.toInt == 5 && dut.io.port.rxPrbs.toInt == 5 && dut.io.measures.toBoolean)
    dut.io.port.prbsError #= true
    windows(3)
    assert(!locked && !erred, "a checker that has found nothing")
    dut.io.port.prbsError #= false
    windows(2)
    assert(locked && !erred)
    for (_ <- 0 until 20) {
      dut.io.port.prbsError #= true
      cycles(10)
      dut.io.port.prbsError #= false
      cycles(500)
    }
    assert(locked && erred, "a lane with many errors stays locked")
    write(8, 2)
    assert(!erred, "the count begins anew")
    windows(2)
    assert(locked)
    dut.io.port.prbsError #= true
    windows(3)
    assert(!locked)
    dut.io.port.prbsError #= false
    windows(2)
    assert(locked)
    dut.io.port.rxClock #= false
    cycles(3)
    assert(!locked, "without a clock nothing is checked")
    dut.io.port.rxClock #= true
    windows(2)
    assert(locked)
    write(4, 0)
    assert(!locked && refusal == code(TransceiverRefusal.none))
  }

  run("random accesses by DRP read what was written", 5) { b =>
    import b._
    val model = mutable.HashMap[Int, Int]().withDefaultValue(0)
    for (_ <- 0 until 600) {
      val address = random.nextInt(1 << DrpPort.addressBits)
      if (random.nextBoolean()) {
        val data = random.nextInt(1 << 16)
        model(address) = data
        assert(drpWrite(address, data)._1 == code(DrpResult.done))
        assert(drp.words(address) == data)
      } else {
        val near = if (model.nonEmpty && random.nextBoolean()) model.keys.head else address
        assert(drpRead(near) == (code(DrpResult.done), model(near)))
      }
    }
  }

  run("an access that is not answered ends, and a late answer passes for no other", 6) { b =>
    import b._
    drpWrite(7, 0x1234)
    drp.answers = false
    assert(drpRead(7)._1 == code(DrpResult.timeout))
    val made = drp.accesses
    assert(drpRead(8)._1 == code(DrpResult.hung) && drp.accesses == made, "it is not asked again")
    drp.answers = true
    drp.late()
    cycles(3)
    assert(drpRead(9) == (code(DrpResult.done), 0), "the answer is of its own address")
    drp.answers = false
    assert(drpRead(7)._1 == code(DrpResult.timeout))
    drp.answers = true
    drp.forget()
    assert(drpRead(7)._1 == code(DrpResult.hung))
    write(8, 0x10)
    assert(drpRead(7) == (code(DrpResult.done), 0x1234))
  }

  run("an access that begins while another is under way is told", 7) { b =>
    import b._
    drpWrite(1, 0x11)
    drp.slow = 60
    var mixed = 0
    for (_ <- 0 until 50) {
      val made = drp.accesses
      write(0x10, 1)
      write(0x10, 0xdead8002L)
      val (result, data) = drpEnd()
      if (drp.accesses == made + 1) {
        mixed += 1
        assert(result == code(DrpResult.busy) && data == 0x11 && drp.words(2) == 0)
      } else drp.words(2) = 0
    }
    assert(mixed > 10)
  }

  run("commands are pulses, and a reset of one path is refused like a loopback", 8) { b =>
    import b._
    var force, count = 0
    dut.clockDomain.onSamplings {
      if (dut.io.port.forceError.toBoolean) force += 1
      if (dut.io.port.resetCount.toBoolean) count += 1
    }
    write(8, 1)
    write(8, 2)
    write(8, 3)
    cycles(3)
    assert(force == 2 && count == 2)
    dut.io.psEnabled #= true
    write(8, 4)
    assert(refusal == code(TransceiverRefusal.psEnabled) && !dut.io.rxRestart.toBoolean)
    write(8, 0x104)
    cycles(2)
    assert(refusal == code(TransceiverRefusal.none) && dut.io.rxRestart.toBoolean && !dut.io.txRestart.toBoolean)
    cycles(300)
    write(8, 0x108)
    cycles(2)
    assert(!dut.io.rxRestart.toBoolean && dut.io.txRestart.toBoolean)
    write(0x18, 1)
    assert(dut.io.port.eyescanReset.toBoolean && read(0x18) == 1)
    assert(!dut.io.measures.toBoolean)
    write(0x18, 2)
    assert(!dut.io.port.eyescanReset.toBoolean && dut.io.measures.toBoolean && read(0x18) == 2)
    write(0x18, 0)
    assert(!dut.io.measures.toBoolean)
    // The program that scans reads registers of the transceiver, and one that was killed does not.
    write(0x18, 2)
    for (_ <- 0 until 3) {
      cycles(scanCycles * 2 / 3)
      write(0x10, 5)
    }
    cycles(scanCycles - 50)
    assert(dut.io.measures.toBoolean && read(0x18) == 2)
    cycles(60)
    assert(!dut.io.measures.toBoolean && read(0x18) == 0)
  }
}
