// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.box.{BoxIrqRegs, BoxRegs}
import meridian.bus._
import meridian.mac.PsLimit
import meridian.mac.pause.{PausePort, PauseRegs}
import meridian.meta.{MacRxRecord, MacTxRecord}
import meridian.page.RegPage
import meridian.psport.PsPortControl
import meridian.ptp.{ClockLatch, PhcSignals, StampLatency}
import meridian.regs.counters._
import meridian.settings.PsFilterConfig
import meridian.transceiver.TransceiverPort
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

object CardRegs {
  val axiConfig = AxiLite4Config(addressWidth = 20, dataWidth = 32)

  /** Bits of an address here: 64 KiB that the PS and BAR2 see, and above them OpenNIC's MAC blocks, for BAR2 alone. */
  val addressBits = 17
}

/** The card's registers (ps clock): identification, PTP clock, ports, PS rings; reached from the PS and from BAR2.
  * Neither can hold the other up for more than one access.
  *
  * Latency of an access: 10 to 12 cycles from the PS, up to 40 for a sum of counters; with the BAR2 side waiting, twice
  * that.
  */
class CardRegs(p: ShellParam) extends Component {
  import CardRegs._
  val io = new Bundle {
    val ps = slave(AxiLite4(axiConfig))
    val host = slave(RegPort(addressBits)) // from HostRegs by RegCrossing
    val box = p.hasBoxes generate master(RegPort(BoxRegs.addressBits)) // accesses of the PS to user's modules
    val build_date, build_hash = in Bits (32 bits) // still after start-up
    val macLinkUp = in Bits (p.ports bits) // from the MACs, any clock
    val rxReset = in Bits (p.ports bits) // of RxRecovery
    val rxResets = in Vec (UInt(24 bits), p.ports)
    val psLinkUp, psHostRxEnable, psHostTxEnable = out Bits (p.ports bits) // to HostRegs
    val filter = out Vec (PsFilterConfig(p), p.ports)
    val limit = out Vec (PsLimit(), p.ports)
    val latency = out Vec (StampLatency(), p.ports)
    val rings = Vec(master(PsPortControl()), p.ports)
    val phc = master(PhcSignals())
    val phcLocked = in Bits (2 * p.ports bits) // from the MACs' clocks
    val rxClock, txClock = Vec(master(ClockLatch()), p.ports)
    val phcInterrupt = out Bool ()
    val rxRecord = Vec(slave(Stream(MacRxRecord(p))), p.ports) // ready within 6 cycles
    val txRecord = Vec(slave(Stream(MacTxRecord(p))), p.ports)
    val transceiver = p.selfTest generate Vec(master(TransceiverPort()), p.ports)
    val rxRestart, txRestart, measures = p.selfTest generate (out Bits (p.ports bits)) // of the transceivers
    val skip = p.selfTest generate (in UInt (32 bits))
    val idle = out Bool ()
    val portTest = p.selfTest generate Vec(master(RegPort(10)), p.ports)
    val boxIrqRose = p.hasBoxes generate (in Bits (p.boxPlaces.size bits)) // see BoxIrqRegs
    val boxInterrupt, boxIdle = p.hasBoxes generate (out Bool ())
    val flow = p.egress generate Vec(master(PausePort(p.sendsPause)), p.ports)
  }

  val frontend = new AxiLiteFrontend(axiConfig, if (p.hasBoxes) BoxRegs.addressBits else 16, fromHost = false)
  frontend.io.axi << io.ps
  frontend.io.awFunction := 0
  frontend.io.awIgnored := False
  frontend.io.arFunction := 0

  val arbiter = new RegArbiter(addressBits)
  if (!p.hasBoxes) arbiter.io.masters(0) << frontend.io.bus
  else {
    // A module that does not answer, or a host in reset, holds up the PS's own access only, and that for a bounded time.
    val split = new RegSplitter(BoxRegs.addressBits, 2)(command => {
      val box = BoxRegs.isBox(command.address, p)
      Seq(!box, box)
    })
    split.io.bus << frontend.io.bus
    arbiter.io.masters(0) << split.io.target(0)
    arbiter.io.masters(0).cmd.address.allowOverride() := split.io.target(0).cmd.address.resize(16 bits).resized
    io.box << split.io.target(1)
  }
  arbiter.io.masters(1) << io.host

  val ident = new IdentRegs(p)
  val ptp = new PtpRegs(p)
  val ports = List.fill(p.ports)(new PortRegs(p))
  val rings = List.tabulate(p.ports)(new PsRingRegs(_))
  val counters = List.fill(p.ports)(new PortCounterRegs(p))
  val cmacs = List.fill(p.ports min 2)(new CmacRegs(p))
  val transceivers = List.fill(if (p.selfTest) p.ports else 0)(new TransceiverRegs())

  val boxIrqs = Option.when(p.hasBoxes)(new BoxIrqRegs(p))

  /** In the upper half of the page of each port. */
  val flows = List.fill(if (p.egress) p.ports else 0)(new PauseRegs(p, p.sendsPause))
  private def portPage(a: UInt, i: Int): Bool =
    if (p.egress) a(16 downto PauseRegs.addressBits) === 2 * (2 + i) else a(16 downto 12) === 2 + i

  val targets = Seq[(RegPort, UInt => Bool)](
    (ident.io.bus, a => a(16 downto (if (p.hasBoxes) 11 else 12)) === 0),
    (ptp.io.bus, a => a(16 downto 12) === 1)
  ) ++
    ports.zipWithIndex.map { case (port, i) => (port.io.bus, (a: UInt) => portPage(a, i)) } ++
    flows.zipWithIndex.map { case (flow, i) =>
      (flow.io.bus, (a: UInt) => a(16 downto PauseRegs.addressBits) === 2 * (2 + i) + 1)
    } ++
    rings.zipWithIndex.map { case (ring, i) => (ring.io.bus, (a: UInt) => a(16 downto 12) === 0xc + i) } ++
    counters.zipWithIndex.map { case (port, i) => (port.io.bus, (a: UInt) => a(16 downto 12) === 8 + i) } ++
    cmacs.zipWithIndex.map { case (mac, i) => (mac.io.bus, (a: UInt) => a(16 downto 14) === 6 + i) } ++
    transceivers.zipWithIndex.map { case (one, i) =>
      (
        one.io.bus,
        (a: UInt) => a(16 downto TransceiverRegs.addressBits) === (7 << 12 - TransceiverRegs.addressBits) + i
      )
    } ++
    (if (p.selfTest) io.portTest.zipWithIndex.map { case (test, i) =>
       (test, (a: UInt) => a(16 downto 10) === 0x18 + i)
     }
     else Nil) ++
    boxIrqs.map(regs => (regs.io.bus, (a: UInt) => a(16 downto BoxIrqRegs.addressBits) === 2))
  val splitter = new RegSplitter(addressBits, targets.size)(
    c => targets.map(_._2(c.address)),
    c => Mux(c.address.msb, B"xDEADBEEF", B(0, 32 bits))
  )
  splitter.io.bus << arbiter.io.bus
  for (((bus, _), i) <- targets.zipWithIndex) bus << splitter.io.target(i)

  /** For the generated documents: of what is there once a port, the first. */
  def pages: Seq[RegPage] =
    Seq(cmacs.head.page, ident.page, ptp.page, ports.head.page, counters.head.page, rings.head.page) ++
      transceivers.headOption.map(_.page) ++ boxIrqs.map(_.page) ++ flows.headOption.map(_.page)

  ident.io.build_date := io.build_date
  ident.io.build_hash := io.build_hash
  ident.io.unmapped := RegNext(splitter.io.bus.rsp.valid && splitter.io.bus.rsp.unmapped, False)
  val boxUnmapped = p.hasBoxes generate RegNext(io.box.rsp.valid && io.box.rsp.unmapped, False)
  if (p.hasBoxes) when(boxUnmapped)(ident.io.unmapped := True)
  val hostRefused =
    Seq(ptp.io.hostRefused) ++ ports.map(_.io.hostRefused) ++ rings.map(_.io.hostRefused) ++
      boxIrqs.map(_.io.hostRefused)
  ident.io.hostRefused := RegNext(hostRefused.orR, False)
  ident.io.partialWrite := frontend.io.partialWrite

  io.phc <> ptp.io.phc
  ptp.io.locked := io.phcLocked
  io.phcInterrupt := ptp.io.interrupt

  // A port whose frames go round before the MAC has a link.
  val macLinkUp = BufferCC(io.macLinkUp, B(0, p.ports bits))
  val linkUp = if (p.selfTest) macLinkUp | Vec(io.transceiver.map(_.macLoops)).asBits else macLinkUp
  io.psLinkUp := RegNext(linkUp, B(0, p.ports bits))
  for ((port, i) <- ports.zipWithIndex) {
    port.io.linkUp := linkUp(i)
    port.io.rxReset := io.rxReset(i)
    port.io.rxResets := io.rxResets(i)
    port.io.time := io.phc.time
    port.io.rxClock <> io.rxClock(i)
    port.io.txClock <> io.txClock(i)
    io.psHostRxEnable(i) := port.io.hostRxEnable
    io.psHostTxEnable(i) := port.io.hostTxEnable
    io.filter(i) := port.io.filter
    io.limit(i) := port.io.limit
    for (one <- transceivers.lift(i)) {
      one.io.hostEnabled := port.io.hostRxEnable || port.io.hostTxEnable
      one.io.psEnabled := port.io.filter.enable
      one.io.frame := RegNext(io.rxRecord(i).fire || io.txRecord(i).fire, False)
      one.io.skip := io.skip
      one.io.port <> io.transceiver(i)
      io.rxRestart(i) := one.io.rxRestart
      io.txRestart(i) := one.io.txRestart
      io.measures(i) := one.io.measures
    }
    io.latency(i) := port.io.latency
    io.rings(i) <> rings(i).io.control
    counters(i).io.rx << io.rxRecord(i)
    counters(i).io.tx << io.txRecord(i)
    if (i < cmacs.size) {
      cmacs(i).io.question >> counters(i).io.cmacQuestion
      cmacs(i).io.answer << counters(i).io.answer
      counters(i).io.tick := cmacs(i).io.tick
      cmacs(i).io.linkUp := linkUp(i)
      cmacs(i).io.hostRxEnable := port.io.hostRxEnable
      cmacs(i).io.hostTxEnable := port.io.hostTxEnable
      port.io.openNic := cmacs(i).io.enable
    } else {
      port.io.openNic.assignFromBits(B(0, 4 bits))
      counters(i).io.tick := False
      counters(i).io.cmacQuestion.valid := False
      counters(i).io.cmacQuestion.payload.assignFromBits(B(0, widthOf(PortQuestion()) bits))
    }
  }
  io.idle := (ports.map(!_.io.clocksBusy) ++ transceivers.map(_.io.idle)).andR
  for ((flow, i) <- flows.zipWithIndex) flow.io.port <> io.flow(i)
  for (regs <- boxIrqs) {
    regs.io.rose := io.boxIrqRose
    io.boxInterrupt := regs.io.interrupt
    io.boxIdle := regs.io.idle
  }
}
