// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.box.{BoxAccess, BoxRegs, HostBox, WireBoxes}
import meridian.bus.RegPort
import meridian.dma.CommandPort
import meridian.egress.{EgressClass, HostPool}
import meridian.egress.pool.{PoolParam, PoolPort}
import meridian.filter._
import meridian.filter.mactable._
import meridian.frame.FrameStream
import meridian.host._
import meridian.host.tunnel.Tunnel
import meridian.meta.{HostTxMeta, RxMeta, RxStamp}
import meridian.pacing.Pacer
import meridian.qdma.QdmaPins
import meridian.queue._
import meridian.regs.HostRegs
import meridian.settings.PortClasses
import meridian.veb.{PsLookup, VebPsPort, VebSwitch}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** Everything in the host clock: the filters, the QDMA streams, and the registers that rule them. A reset of the host
  * takes all of it down and touches nothing else.
  */
class HostSide(p: ShellParam) extends Component {
  val io = new Bundle {
    val rx = Vec(slave(FrameStream(p.hostBytes, RxMeta.ofPort(p))), p.ports)
    val tx = !p.pool generate (Vec(master(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports))
    val box = p.hasBoxes generate slave(RegPort(BoxRegs.addressBits)) // accesses of the PS
    val txPaced = !p.pool generate (in Vec (p.txBeatsType(), p.ports)) // beats of paced frames in the buffer of a port
    val txLost = p.twoQueues generate (in Vec (Bits(EgressClass.count bits), p.ports)) // see EgressAdmission
    val ps = Vec(master(VebPsPort(p)), p.ports)
    val qdma = master(QdmaPins(p.hostBytes, p.hasBoxes))
    val axi = slave(AxiLite4(addressWidth = 32, dataWidth = 32))
    val awuser, aruser = in Bits (55 bits)
    val card = master(RegPort(17))
    val build_date = in Bits (32 bits)
    val psLinkUp, psHostRxEnable, psHostTxEnable = in Bits (p.ports bits)
    val cardTimeout = in Bool () // the card's registers did not answer
    val idle = out Bool ()
    val boxTime = p.boxTime generate in(RxStamp())
    val commands = p.commands generate master(CommandPort()) // of the module at the host
    val boxIrqRose = p.hasBoxes generate (out Bits (p.boxPlaces.size bits)) // a pulse a rising edge, by p.boxPlaces
    val high = p.twoQueues generate out(Vec(Bits(PortClasses.priorities bits), p.ports)) // of the upper queue
    val cells = p.pool generate (Vec(master(PoolPort(PoolParam.ofShell(p))), p.ports))
    val held = p.pool generate (in Vec (Bits(PortClasses.priorities bits), p.ports)) // priorities that are stopped
  }

  val regs = new HostRegs(p)
  regs.io.axi <> io.axi
  regs.io.awuser := io.awuser
  regs.io.aruser := io.aruser
  regs.io.card <> io.card
  regs.io.build_date := io.build_date
  regs.io.psLinkUp := io.psLinkUp
  regs.io.psHostRxEnable := io.psHostRxEnable
  regs.io.psHostTxEnable := io.psHostTxEnable

  val macTable = new MacTable(p, clients = 3)
  val queues = new QueueTable(p)
  val credit = new QueueCredit(p)
  val rxFilter = new RxFilter(p, MacTable.latency, QueueTable.latency, QueueTable.latency, QueueCredit.latency)
  val txFilter = new TxFilter(p, MacTable.latency, QueueTable.latency)
  val egress = new C2hEgress(p)
  val ingress = new H2cIngress(p)
  val segmenter = p.segmentation generate new Segmenter(p)
  val tunnel = p.segmentation generate new Tunnel(p)
  val offload = new TxOffload(p)
  val veb = new VebSwitch(p)
  val psLookup = new PsLookup(p, MacTable.latency)
  val pacer = new Pacer(p)
  val reset = new FlrControl(p, filters = 1)
  val selfTest = p.selfTest generate new HostSelfTest(p, regs, queues, credit, rxFilter, txFilter)

  val boxAccess = p.hasBoxes generate new BoxAccess(p)
  if (p.hasBoxes) {
    boxAccess.io.host << regs.io.box
    boxAccess.io.ps << io.box
  }

  /** The user's modules at the wire: between the ports' buffers and the filters. */
  val box = p.box.map { module =>
    val box = new WireBoxes(p, module)
    for ((to, from) <- box.io.fromWire.zip(io.rx)) to << from
    for ((to, from) <- io.tx.zip(box.io.toWire)) to << from
    for ((to, from) <- box.io.page.zip(boxAccess.io.page)) to << from
    for ((to, from) <- box.io.window.zip(boxAccess.io.window)) to << from
    box
  }

  /** The user's module at the host: between the filters and the QDMA streams. */
  val hostBox = p.hostBox.map { module =>
    val box = new HostBox(p, module)
    box.io.page << boxAccess.io.page.last
    box.io.window << boxAccess.io.window.last
    box.io.functions := regs.io.flags
    box.io.rxOwner <> queues.io.owner(p.queueOwners - 2)
    box.io.txOwner <> queues.io.owner(p.queueOwners - 1)
    box.io.fromFilter << rxFilter.io.c2h
    if (p.commands) io.commands <> box.io.commands
    box
  }

  val receive = new Area {
    val wire = box.fold(io.rx)(_.io.toHost)
    veb.io.wire << StreamArbiterFactory().roundRobin.fragmentLock.on(wire)
    rxFilter.io.rx << veb.io.rx
    val toHost = hostBox.fold(rxFilter.io.c2h)(_.io.toHost)
    if (p.selfTest) selfTest.c2h(toHost, egress.io.frames) else egress.io.frames << toHost
    egress.io.c2h >> io.qdma.s_axis_c2h
    egress.io.cmpt >> io.qdma.s_axis_c2h_cmpt
    egress.io.status << io.qdma.axis_c2h_status
    egress.io.switches << regs.io.switches
  }

  val transmit = new Area {
    ingress.io.h2c << io.qdma.m_axis_h2c
    val requested = if (p.segmentation) segmenter.io.frames else ingress.io.frames
    if (p.segmentation) {
      ingress.io.switches << regs.io.switches
      tunnel.strip.io.h2c << ingress.io.frames
      segmenter.io.h2c << tunnel.strip.io.frames
      tunnel.prepend.io.frames << offload.io.frames
    }
    offload.io.h2c << requested
    offload.io.switches << regs.io.switches
    val made = if (p.segmentation) tunnel.prepend.io.whole else offload.io.frames
    val frames = if (p.hostBox.isEmpty) made.haltWhen(psLookup.io.hold) else made
    val next = hostBox.fold(txFilter.io.h2c)(_.io.fromHost)
    if (p.selfTest) selfTest.h2c(requested, offload.io.take, frames, next)
    else next << frames
    txFilter.io.paced := (if (p.hostBox.isEmpty) pacer.io.paced else False)
    for (box <- hostBox) {
      txFilter.io.h2c << box.io.toFilter.haltWhen(psLookup.io.hold)
      box.io.paced := pacer.io.paced
    }
    if (!p.pool) for ((to, from) <- box.fold(io.tx)(_.io.fromHost).zip(txFilter.io.tx)) to << from
    if (p.twoQueues) {
      txFilter.io.queueFull := Vec(io.txLost.map(_.orR)).asBits
      for ((high, port) <- io.high.zip(regs.io.ports)) high := port.high
    }
    txFilter.io.tag << regs.io.tag
    veb.io.copy << txFilter.io.copy
    txFilter.io.copyLost.toFunctions := veb.io.lost
    txFilter.io.copyLost.toPs := io.ps.map(_.lost).orR
    for ((ps, i) <- io.ps.zipWithIndex) {
      ps.veb := regs.io.ports(i).veb
      ps.copy << txFilter.io.copy
      txFilter.io.psFilter(i) := ps.filter
      veb.io.ps(i) << ps.frames
      psLookup.io.query(i) << ps.query
      ps.answer << psLookup.io.answer(i)
    }
  }

  val tables = new Area {
    rxFilter.io.mac <> macTable.io.lookup(0)
    txFilter.io.mac <> macTable.io.lookup(1)
    txFilter.io.destination <> psLookup.io.host
    psLookup.io.mac <> macTable.io.lookup(2)
    rxFilter.io.owner <> queues.io.owner(0)
    txFilter.io.owner <> queues.io.owner(1)
    rxFilter.io.range <> queues.io.functionRange
    // With a box at the host, buffers are claimed behind it.
    val claimer = hostBox.fold(rxFilter.io.credit)(_.io.credit)
    if (p.selfTest) selfTest.claims(claimer) else claimer <> credit.io.take
    if (p.hostBox.nonEmpty) {
      val asked = rxFilter.io.credit
      asked.granted.valid := Delay(asked.query.valid, QueueCredit.latency, init = False)
      asked.granted.payload := True
    }
    macTable.io.command << regs.io.macCommand
    regs.io.macAnswer << macTable.io.answer
    macTable.io.hashKey <> regs.io.hashKey
    // A reset takes a function's queues away before software can give it new ones.
    queues.io.range << StreamArbiterFactory().lowerFirst.noLock.on(Seq(reset.io.range, regs.io.range))
    credit.io.bufferSize << regs.io.bufferSize
    credit.io.enforce := regs.io.enforce
    regs.io.released << queues.io.released
    // While messages are held off, a queue is cleared in the cycle it is told.
    credit.io.clear.valid := queues.io.released.valid
    credit.io.clear.payload := queues.io.released.payload
    val status =
      if (p.selfTest) selfTest.status(io.qdma.tm_dsc_sts)
      else io.qdma.tm_dsc_sts.haltWhen(queues.io.released.valid || regs.io.switches.valid).toFlow
    if (!p.selfTest) credit.io.status << status
    rxFilter.io.indirection << regs.io.indirection
    rxFilter.io.hashKey << regs.io.key
    rxFilter.io.group << regs.io.group
    for (filter <- Seq(rxFilter.io.functions, txFilter.io.functions)) filter := regs.io.flags
    for (filter <- Seq(rxFilter.io.ports, txFilter.io.ports)) filter := regs.io.ports
  }

  val pacing = new Area {
    pacer.io.status << tables.status
    pacer.io.switches << regs.io.switches
    pacer.io.ports := regs.io.flags.port
    pacer.io.rate << regs.io.rate
    pacer.io.frames << transmit.frames.toFlowFire
    // Behind a box at the host it is not known which frames are paced: what waits before it counts for every port.
    if (!p.pool)
      pacer.io.buffered := hostBox.fold(box.fold(io.txPaced)(_.io.paced))(box => Vec.fill(p.ports)(box.io.buffered))
    for ((sends, port) <- pacer.io.sends.asBools.zip(regs.io.ports)) sends := port.linkUp && port.txEnable
    pacer.io.owner <> queues.io.owner(2)
    pacer.io.credit >> io.qdma.dsc_crdt_in
  }

  val functionReset = new Area {
    // usr_flr_set may stay high, for one function or from one to the next: each new function is a request.
    val another = io.qdma.usr_flr_fnc =/= RegNext(io.qdma.usr_flr_fnc)
    reset.io.request.valid := io.qdma.usr_flr_set.rise(False) || io.qdma.usr_flr_set && another
    reset.io.request.payload := io.qdma.usr_flr_fnc
    io.qdma.usr_flr_done_vld := reset.io.done.valid
    io.qdma.usr_flr_done_fnc := reset.io.done.payload
    regs.io.functionReset := reset.io.reset
    val (before, after) =
      if (p.segmentation) {
        val (strip, prepend) = (tunnel.strip.io, tunnel.prepend.io)
        (
          Seq(strip.flush -> strip.flushed, segmenter.io.flush -> segmenter.io.flushed),
          Seq(prepend.flush -> prepend.flushed)
        )
      } else (Nil, Nil)
    // In this order, as a frame between functions passes one after the other.
    val flushes =
      before.map(_._1) ++ Seq(offload.io.flush) ++ after.map(_._1) ++ hostBox.map(_.io.txFlush) ++
        Seq(txFilter.io.flush, veb.io.flush, rxFilter.io.flush) ++ hostBox.map(_.io.rxFlush)
    val answers = before.map(_._2) ++ Seq(offload.io.flushed) ++ after.map(_._2) ++ hostBox.map(_.io.txFlushed) ++
      Seq(txFilter.io.flushed, veb.io.flushed, rxFilter.io.flushed) ++ hostBox.map(_.io.rxFlushed)
    val chain = new FlushChain(flushes.size + (if (p.selfTest) 2 else 1))
    chain.io.flush := reset.io.flush
    for ((flush, i) <- flushes.zipWithIndex) flush := chain.io.ask(i)
    egress.io.flush := chain.io.ask.msb
    val behind = if (p.selfTest) Seq(selfTest.flushed(chain.io.ask(flushes.size))) else Nil
    chain.io.answer := (answers ++ behind :+ egress.io.flushed).map(_.asBits).reverse.reduce(_ ## _)
    reset.io.flushed := chain.io.flushed.asBits
  }

  val counting = new Area {
    regs.io.rxRecord << rxFilter.io.record
    regs.io.rxCopyRecord << rxFilter.io.copyRecord
    regs.io.txRecord << txFilter.io.record
    if (p.twoQueues) regs.io.txLost := RegNext(io.txLost)
    regs.io.c2hDrop := egress.io.dropped
    regs.io.c2hError := egress.io.failed
    regs.io.resetTimeout := reset.io.timeout
    regs.io.cardTimeout := io.cardTimeout
  }

  val offered = io.qdma.m_axis_h2c.valid || io.rx.map(_.valid).orR
  val filtersIdle = rxFilter.io.idle && offload.io.idle && txFilter.io.idle && veb.io.idle && io.ps.map(_.idle).andR
  io.idle := filtersIdle && pacer.io.idle && queues.io.idle && !offered
  if (p.segmentation)
    when(!segmenter.io.idle || !tunnel.strip.io.idle || !tunnel.prepend.io.idle)(io.idle := False)
  if (p.selfTest) when(!selfTest.idle)(io.idle := False)
  for (box <- box) when(!box.io.idle)(io.idle := False)
  for (box <- hostBox) when(!box.io.idle)(io.idle := False)

  val boxInterrupts = p.hasBoxes generate new Area {
    val sender = new UserInterrupts(p.boxPlaces.size)
    sender.io.pins <> io.qdma.usr_irq
    val requests = box.toSeq.flatMap(_.io.interrupt) ++ hostBox.map(_.io.interrupt)
    for ((to, from) <- sender.io.request.zip(requests)) to << from
    for (box <- box) box.io.interruptFailed := sender.io.failed.take(p.ports)
    for (box <- hostBox) box.io.interruptFailed := sender.io.failed.msb
    io.boxIrqRose := (box.toSeq.map(_.io.irqRose) ++ hostBox.map(_.io.irqRose.asBits)).reverse.reduce(_ ## _)
    for (box <- box) box.io.functionReset := reset.io.reset
    for (box <- hostBox) box.io.functionReset := reset.io.reset
    when(!sender.io.idle)(io.idle := False)
    if (p.boxTime) {
      for (box <- box) box.io.time := io.boxTime
      for (box <- hostBox) box.io.time := io.boxTime
    }
  }

  val pool = p.pool generate new HostPool(p)
  if (p.pool) {
    pool.io.bus << regs.io.pool
    regs.io.classes := pool.io.classes
    for ((to, from) <- pool.io.input.zip(txFilter.io.tx)) to << from
    txFilter.io.queueFull := pool.io.lost
    pacer.io.buffered := pool.io.paced
    pool.io.held := io.held
    for ((to, from) <- io.cells.zip(pool.io.cells)) to <> from
    when(!pool.io.idle)(io.idle := False)
  }
}
