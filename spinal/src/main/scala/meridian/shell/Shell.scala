// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.box.{BoxRegs, BoxTime}
import meridian.bus.RegCrossing
import meridian.counters.EventCounterCC
import meridian.crossing.CrossingFinder
import meridian.dma.engine.DmaEngine
import meridian.dma.memory.CardMemory
import meridian.mac.{MacLoop, PortRx, PortTx}
import meridian.mac.pause.{PauseReport, PauseRx, PauseTx}
import meridian.ptp._
import meridian.regs.CardRegs
import meridian.transceiver.TransceiverCrossing
import meridian.veb.PsBridge
import spinal.core._
import spinal.lib._

/** The NIC shell. One file of Verilog comes from it, for synthesis and for simulation; docs/architecture.md tells the whole. */
class Shell(p: ShellParam) extends Component {
  Together(p)
  noIoPrefix()
  val io = ShellPins(p)
  ShellPins.rename(io)
  val clocks = ShellClocks(io)

  val host = clocks.host(new HostSide(p))
  // In the place of the QDMA IP.
  val dma = p.ownDma generate clocks.host(new DmaEngine(p.dmaParam))
  val memory = p.memory generate clocks.host(new CardMemory)
  if (p.memory) memory.io.axi << dma.io.axi
  connectDma()
  host.io.build_date := io.build_date

  val ps = clocks.ps(new PsSide(p))
  ps.io.axi <> io.s_axil_ps
  ps.io.memory <> io.m_axi_ps
  ps.io.build_date := io.build_date
  ps.io.build_hash := io.build_hash
  ps.io.macLinkUp := Vec(io.port.map(_.mac_link_up)).asBits
  for ((port, i) <- io.port.zipWithIndex) port.mac_rx_restart := ps.io.macRxRestart(i)
  ps.io.skip := io.sim_skip_ps
  io.ps_irq := ps.io.interrupt

  val crossing = new RegCrossing(CardRegs.addressBits, clocks.host, clocks.ps)
  crossing.io.host <> host.io.card
  crossing.io.ps <> ps.io.host
  host.io.cardTimeout := crossing.io.timedOut
  host.io.psLinkUp := ps.io.psLinkUp
  host.io.psHostRxEnable := ps.io.psHostRxEnable
  host.io.psHostTxEnable := ps.io.psHostTxEnable

  if (p.hasBoxes) {
    val access =
      new RegCrossing(BoxRegs.addressBits, clocks.ps, clocks.host, withFunction = false).setName("boxCrossing")
    access.io.host << ps.io.box
    host.io.box << access.io.ps
  }

  val ports = for (i <- 0 until p.ports) yield new Area {
    val pins = io.port(i)
    val rx = new PortRx(p, i, clocks.macRx(i), clocks.host, clocks.ps)
    val loop = p.selfTest generate new MacLoop(clocks.ps, clocks.macTx(i), clocks.macRx(i))
    pins.driveRx(if (p.selfTest) loop.io.macRx else rx.io.pins)
    if (p.selfTest) rx.io.pins <> loop.io.rx
    rx.io.host >> host.io.rx(i)
    val bridge = new PsBridge(p, i, clocks.host, clocks.ps)
    bridge.io.host <> host.io.ps(i)
    bridge.io.filter := ps.io.filter(i)
    bridge.io.wireRx << rx.io.ps
    bridge.io.rx >> ps.io.rx(i)
    ps.io.veb(i) := bridge.io.events
    rx.io.psFilter := ps.io.filter(i)
    rx.io.psLimit := ps.io.limit(i)
    rx.io.skip := pins.sim_skip_mac_rx
    rx.io.record >> ps.io.rxRecord(i)

    val tx = new PortTx(p, i, clocks.host, clocks.ps, clocks.macTx(i))
    pins.connectTx(if (p.selfTest) loop.io.macTx else tx.io.pins)
    if (p.selfTest) tx.io.pins <> loop.io.tx
    if (!p.pool) tx.io.host << host.io.tx(i)
    if (!p.pool) host.io.txPaced(i) := tx.io.paced
    if (p.twoQueues) host.io.txLost(i) := tx.io.lost
    bridge.io.tx << ps.io.tx(i)
    tx.io.ps << bridge.io.wireTx
    tx.io.record >> ps.io.txRecord(i)
    tx.io.timestamps >> ps.io.txTimestamp(i)

    /** The PTP clock in a clock of the MAC, which stamps with it: as much ahead as frames are still to go to the connector
      * when they are stamped.
      */
    def carry(cd: ClockDomain, skip: UInt, ahead: SInt) = {
      val crossing = new TimeCrossing(clocks.ps, cd, p.psFrequency, p.macFrequency)
      crossing.io.psTime := ps.io.time
      crossing.io.psStepped := ps.io.stepped
      crossing.io.psAhead := ahead
      crossing.io.dstSkip := skip
      crossing
    }
    val rxTime = carry(clocks.macRx(i), pins.sim_skip_mac_rx, StampLatency.behind(ps.io.latency(i).rx))
    val txTime = carry(clocks.macTx(i), pins.sim_skip_mac_tx, ps.io.latency(i).tx)
    pins.ctl_rx_systemtimerin := rxTime.io.dstTime.asBits
    pins.ctl_tx_systemtimerin := txTime.io.dstTime.asBits
    def meter(cd: ClockDomain, skip: UInt) = {
      val meter = new ClockMeter(clocks.ps, cd)
      meter.io.skip := skip
      meter
    }
    val rxClock = meter(clocks.macRx(i), pins.sim_skip_mac_rx)
    val txClock = meter(clocks.macTx(i), pins.sim_skip_mac_tx)
    rxClock.io.latch <> ps.io.rxClock(i)
    txClock.io.latch <> ps.io.txClock(i)
    rx.io.timeKnown := rxTime.io.dstKnown
    tx.io.timeKnown := txTime.io.dstKnown
    if (p.selfTest) {
      rx.io.test := ps.io.portTestRx(i)
      tx.io.test <> ps.io.portTestTx(i)
      tx.io.time := txTime.io.dstTime
      loop.io.txTime := txTime.io.dstTime
      loop.io.rxTime := rxTime.io.dstTime
    }
    ps.io.phcLocked(2 * i) := rxTime.io.dstLocked
    ps.io.phcLocked(2 * i + 1) := txTime.io.dstLocked
  }
  for ((port, i) <- ports.zipWithIndex) port.setName(s"port$i")

  io.pps_out := ps.io.pps
  io.perout_out := ps.io.perout
  ps.io.extTs := io.ext_ts_in

  val idle = clocks.ps(new Area {
    private def still(signal: Bool) = BufferCC(signal, False)
    val all = Seq(ps.io.idle, still(host.io.idle)) ++ (if (p.ownDma) Seq(still(dma.io.idle)) else Nil) ++
      ports.flatMap(port =>
        Seq(still(port.rx.io.hostIdle), port.rx.io.psIdle, port.bridge.io.idle, still(port.tx.io.idle))
      )
    // A frame between two blocks shows in neither for a moment: idle is what has been so for a while.
    val since = Reg(UInt(5 bits)) init 0
    when(!all.andR)(since := 0) elsewhen (!since.andR)(since := since + 1)
    val out = RegNext(since.andR && all.andR) init False
  })
  io.idle := idle.out

  /** Flow control: what the other end of a port's link asks for stops the port's transmit queues, and with a pool the fill of
    * a receive buffer stops the other end.
    */
  val flows = for (i <- 0 until (if (p.egress) p.ports else 0)) yield new Area {
    val pause = new PauseRx(p, clocks.macRx(i), clocks.macTx(i))
    pause.io.config := ps.io.flow(i).rx
    pause.io.watch := ps.io.flow(i).watch
    pause.io.link := ps.io.psLinkUp(i)
    pause.io.beat << ports(i).rx.flow.beat
    pause.io.bad := ports(i).rx.flow.bad
    ports(i).rx.flow.take := pause.io.take
    pause.io.skip := io.port(i).sim_skip_mac_tx
    ports(i).tx.io.held := pause.io.held
    if (p.twoQueues) ports(i).tx.io.high := host.io.high(i)
    val report = new PauseReport(clocks.macRx(i), clocks.macTx(i), clocks.ps, p.sendsPause)
    report.io.seen << pause.io.seen
    report.io.paused := pause.io.paused
    report.io.storm := pause.io.storm
    ps.io.flow(i).frames := report.io.frames
    ps.io.flow(i).paused := report.io.isPaused
    ps.io.flow(i).storm := report.io.isStorm
    // Paused time is counted edge by edge, and a short frame before a closed gate shows nowhere.
    when(report.io.isPaused.orR)(idle.since := 0)
    val sender = p.sendsPause generate new PauseTx(p, clocks.macRx(i), clocks.macTx(i))
    if (p.sendsPause) {
      sender.io.config := ps.io.flow(i).tx
      sender.io.buffer := ps.io.flow(i).buffer
      sender.io.watch := ps.io.flow(i).sendWatch
      sender.io.link := pause.io.linked
      sender.io.fill <> ports(i).rx.fill
      sender.io.skip := io.port(i).sim_skip_mac_tx
      ports(i).tx.io.control << sender.io.frames
      report.io.sent << sender.io.sent
      report.io.stopped := sender.io.stopped
      report.io.expired := sender.io.expired
      ps.io.flow(i).stopped := report.io.isStopped
      ps.io.flow(i).expired := report.io.isExpired
      // The other end is told again before its time is over.
      when(report.io.isStopped.orR)(idle.since := 0)
    }
    if (p.pool) ports(i).tx.io.cells <> host.io.cells(i)
    if (p.pool) host.io.held(i) := clocks.macTx(i)(RegNext(pause.io.held) init 0)
  }
  for ((flow, i) <- flows.zipWithIndex) flow.setName(s"flow$i")
  io.sim_quiet_cycles := ps.io.quietCycles

  val transceivers = for (i <- 0 until (if (p.selfTest) p.ports else 0)) yield {
    val one = new TransceiverCrossing(clocks.ps, clocks.macRx(i), clocks.macTx(i))
    one.io.port <> ps.io.transceiver(i)
    one.io.txRestart := ps.io.macTxRestart(i)
    one.io.pins <> io.port(i).gt
    one.io.loop <> ports(i).loop.io.control
    one
  }

  val boxTime = p.boxTime generate new BoxTime(p, clocks.ps, clocks.host)
  if (p.boxTime) {
    boxTime.io.psTime := ps.io.time
    boxTime.io.psStepped := ps.io.stepped
    boxTime.io.hostSkip := io.sim_skip_host
    host.io.boxTime := boxTime.io.hostTime
  }
  val boxIrqs = for (i <- p.boxPlaces.indices) yield {
    val events = new EventCounterCC(clocks.host, clocks.ps, width = 5)
    events.io.sourceEvent := host.io.boxIrqRose(i)
    ps.io.boxIrqRose(i) := events.io.destinationEvents.valid
    events
  }

  private def connectDma(): Unit =
    if (p.ownDma) {
      dma.io.pcie <> io.pcie
      dma.io.skip := io.sim_skip_host
      io.sim_quiet_host := dma.io.quietCycles
      host.io.qdma <> dma.io.qdma
      if (p.commands) dma.io.commands <> host.io.commands
      host.io.axi <> dma.io.axil
      host.io.awuser := dma.io.awuser
      host.io.aruser := dma.io.aruser
    } else {
      host.io.qdma <> io.qdma
      host.io.axi <> io.m_axil
      host.io.awuser := io.m_axil_awuser
      host.io.aruser := io.m_axil_aruser
    }
}

object Shell {

  /** Outputs that hardware leaves open. */
  val simulationPins = Set("idle", "sim_quiet_cycles", "sim_quiet_host")

  /** Whether an input may change at any time: the state of a link, and what comes in by a pin of the board. */
  def asynchronousPin(pin: BaseType): Boolean = pin.getName().matches("mac_link_up_\\d+|ext_ts_in")

  /** The clock crossings of an elaborated shell. */
  def crossings(shell: Component): CrossingFinder =
    new CrossingFinder(shell, pin => simulationPins.contains(pin.getName()), asynchronousPin)
}
