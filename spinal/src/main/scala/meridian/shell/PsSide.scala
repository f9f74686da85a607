// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.box.BoxRegs
import meridian.bus.RegPort
import meridian.frame.FrameStream
import meridian.mac._
import meridian.mac.pause.PausePort
import meridian.meta.{MacRxRecord, MacTxRecord, PsRxMeta, PsTxMeta, TxTimestamp}
import meridian.psport.{PsAxi, PsPort}
import meridian.ptp._
import meridian.regs.CardRegs
import meridian.selftest.port.{PortTest, PortTestRx, PortTestTx}
import meridian.settings.PsFilterConfig
import meridian.transceiver.TransceiverPort
import meridian.veb.PsVebEvents
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4
import spinal.lib.bus.amba4.axilite.AxiLite4

/** Everything in the ps clock: the PS's ring DMA, the PTP clock, and the card's registers. */
class PsSide(p: ShellParam) extends Component {
  val io = new Bundle {
    val rx = Vec(slave(FrameStream(p.psBytes, PsRxMeta(p))), p.ports)
    val tx = Vec(master(FrameStream(p.psBytes, PsTxMeta())), p.ports)
    val veb = in Vec (PsVebEvents(), p.ports)
    val txTimestamp = Vec(slave(Stream(TxTimestamp())), p.ports)
    val rxRecord = Vec(slave(Stream(MacRxRecord(p))), p.ports)
    val txRecord = Vec(slave(Stream(MacTxRecord(p))), p.ports)
    val filter = out Vec (PsFilterConfig(p), p.ports)
    val limit = out Vec (PsLimit(), p.ports)
    val latency = out Vec (StampLatency(), p.ports)
    val axi = slave(AxiLite4(CardRegs.axiConfig))
    val memory = master(Axi4(PsAxi.config))
    val host = slave(RegPort(CardRegs.addressBits))
    val interrupt = out Bool ()
    val box = p.hasBoxes generate master(RegPort(BoxRegs.addressBits))
    val build_date, build_hash = in Bits (32 bits)
    val macLinkUp = in Bits (p.ports bits)
    val macRxRestart = out Bits (p.ports bits)
    val transceiver = p.selfTest generate Vec(master(TransceiverPort()), p.ports)
    val macTxRestart = p.selfTest generate (out Bits (p.ports bits))
    val psLinkUp, psHostRxEnable, psHostTxEnable = out Bits (p.ports bits)
    val time = out(PtpFineTime())
    val stepped = out Bool ()
    val phcLocked = in Bits (2 * p.ports bits)
    val rxClock, txClock = Vec(master(ClockLatch()), p.ports)
    val pps, perout = out Bool ()
    val extTs = in Bool ()
    val skip = in UInt (32 bits)
    val portTestTx = p.selfTest generate Vec(master(PortTestTx(p)), p.ports)
    val portTestRx = p.selfTest generate out(Vec(PortTestRx(), p.ports))
    val idle = out Bool ()

    /** Cycles until time alone moves something; all ones: it does not. For a simulation that skips idle time. */
    val quietCycles = out UInt (32 bits)
    val boxIrqRose = p.hasBoxes generate (in Bits (p.boxPlaces.size bits)) // see BoxIrqRegs
    val flow = p.egress generate Vec(master(PausePort(p.sendsPause)), p.ports)
  }

  val regs = new CardRegs(p)
  regs.io.ps <> io.axi
  regs.io.host <> io.host
  regs.io.build_date := io.build_date
  regs.io.build_hash := io.build_hash
  regs.io.macLinkUp := io.macLinkUp
  io.psLinkUp := regs.io.psLinkUp
  io.psHostRxEnable := regs.io.psHostRxEnable
  io.psHostTxEnable := regs.io.psHostTxEnable
  io.filter := regs.io.filter
  io.limit := regs.io.limit
  io.latency := regs.io.latency

  val phc = new PhcWithPins(p.psFrequency)
  phc.io.signals <> regs.io.phc
  phc.io.skip := io.skip
  phc.io.extTs := io.extTs
  regs.io.phcLocked := io.phcLocked
  for (i <- 0 until p.ports) {
    regs.io.rxClock(i) <> io.rxClock(i)
    regs.io.txClock(i) <> io.txClock(i)
  }
  io.time := phc.io.time
  io.stepped := phc.io.stepped
  io.pps := phc.io.pps
  io.perout := phc.io.perout

  val portTests = p.selfTest generate List.tabulate(p.ports) { i =>
    new Area {
      val test = new PortTest(p)
      test.io.bus << regs.io.portTest(i)
      test.io.link := regs.io.psLinkUp(i)
      val (received, copy) = StreamFork2(io.rxRecord(i))
      test.io.received << copy
      test.io.sent << io.txRecord(i).toFlowFire
      test.io.tx <> io.portTestTx(i)
      io.portTestRx(i) := test.io.rx
    }
  }

  val port = new PsPort(p)
  port.io.axi <> io.memory
  port.io.skip := io.skip
  io.interrupt := RegNext(port.io.interrupt || regs.io.phcInterrupt) init False
  if (p.hasBoxes) io.box << regs.io.box
  for (i <- 0 until p.ports) {
    port.io.rx(i) << io.rx(i)
    port.io.tx(i) >> io.tx(i)
    port.io.veb(i) := io.veb(i)
    port.io.txTimestamp(i) << io.txTimestamp(i)
    port.io.control(i) <> regs.io.rings(i)
    regs.io.rxRecord(i) << (if (p.selfTest) portTests(i).received else io.rxRecord(i))
    regs.io.txRecord(i) << io.txRecord(i)
  }
  val rxRestart = p.selfTest generate (Reg(Bits(p.ports bits)) init 0)
  val recovery = List.tabulate(p.ports) { i =>
    val receiver = new RxRecovery(RxRecovery.timing(p.psFrequency))
    receiver.io.link := (if (p.selfTest) regs.io.psLinkUp(i) || regs.io.measures(i) else regs.io.psLinkUp(i))
    receiver.io.skip := io.skip
    regs.io.rxReset(i) := receiver.io.reset
    regs.io.rxResets(i) := receiver.io.resets
    if (p.selfTest) rxRestart(i) := receiver.io.reset || regs.io.rxRestart(i)
    io.macRxRestart(i) := (if (p.selfTest) rxRestart(i) else receiver.io.reset)
    receiver
  }
  io.idle := port.io.idle && regs.io.idle
  if (p.selfTest) {
    when(!portTests.map(_.test.io.idle).andR)(io.idle := False)
    regs.io.skip := io.skip
    for (i <- 0 until p.ports) regs.io.transceiver(i) <> io.transceiver(i)
    io.macTxRestart := regs.io.txRestart
  }
  private def shorter(a: UInt, b: UInt) = (a < b) ? a | b
  io.quietCycles := RegNext(
    (recovery.map(_.io.quietCycles) ++ Seq(port.io.timerCycles, phc.io.quietCycles)).reduceBalancedTree(shorter)
  ) init 0

  if (p.egress) for (i <- 0 until p.ports) regs.io.flow(i) <> io.flow(i)

  if (p.hasBoxes) {
    regs.io.boxIrqRose := io.boxIrqRose
    when(RegNext(regs.io.boxInterrupt) init False)(io.interrupt := True)
    when(!regs.io.boxIdle)(io.idle := False)
  }
}
