// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.bus.BarBus
import meridian.dma.{CommandPort, DmaParam, Doorbell, HostAccess, InterruptRequest}
import meridian.dma.c2h.C2hEngine
import meridian.dma.command.CommandEngine
import meridian.dma.context._
import meridian.dma.descriptor.ErrorTree
import meridian.dma.h2c.H2cEngine
import meridian.dma.interrupt.{InterruptEngine, RingInterrupt, UserInterruptPort}
import meridian.dma.mailbox.Mailbox
import meridian.dma.memory.{MemoryEngine, MemoryTransfer, RingRoute}
import meridian.dma.pcie._
import meridian.dma.push.PushSlots
import meridian.qdma.QdmaPins
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4
import spinal.lib.bus.amba4.axilite._

/** A DMA engine with the registers and the stream pins of the QDMA IP, on the integrated block for PCIe.
  *
  * What there is so far (docs/dma.md): accesses of BAR0 and BAR2, contexts, mailbox, errors, function level resets, and
  * the ways from host to card and back, with their interrupts. Clock: the block's user_clk, 250 MHz.
  *
  * A read of BAR0 is answered 10 to 15 cycles after its request, if the block takes completions at once and has no write to
  * pass on; one of BAR2 when the shell has answered. One access is under way at a time.
  */
class DmaEngine(p: DmaParam = DmaParam()) extends Component {
  val io = new Bundle {
    val pcie = Pcie4Pins()
    val qdma = slave(QdmaPins(32, p.userInterrupts))
    val axil = master(AxiLite4(BarBus.config)) // accesses of BAR2, see BarBridge
    val awuser, aruser = out Bits (BarBus.userBits bits)
    val axi = p.memory generate master(Axi4(MemoryTransfer.axi)) // of memory-mapped queues
    val commands = p.commands generate slave(CommandPort()) // of the card's own logic
    val doorbell = master(Flow(Doorbell()))
    val interrupt = master(Flow(InterruptRequest())) // vectors, as they are asked for
    val idle = out Bool () // see EngineIdle
    val skip = in UInt (32 bits) // cycles that an edge counts for, 1 in hardware

    /** Cycles until a timer moves something; all ones: none does. For a simulation that skips idle time. */
    val quietCycles = out UInt (32 bits)
  }
  // Names as the block has them.
  addPrePopTask(() => io.pcie.flatten.foreach(pin => pin.setName(pin.getName().stripPrefix("io_pcie_"))))
  io.skip.setName("sim_skip_host")
  io.quietCycles.setName("sim_quiet_host")

  val decoder = new CqDecoder(p)
  val encoder = new CcEncoder
  val bar = new BarDecode(p)
  decoder.io.cq << io.pcie.cq
  encoder.io.header << decoder.io.header
  bar.io.access << decoder.io.access
  val order = new PostedOrder
  // The registers do not see the order's ready, which would be a long path.
  order.io.value << bar.io.value.halfPipe()
  encoder.io.value << order.io.ordered
  io.pcie.cc(encoder.io.cc)
  val bridge = new BarBridge
  bridge.io.port <> bar.io.bar2
  io.axil <> bridge.io.axil
  io.awuser := bridge.io.awuser
  io.aruser := bridge.io.aruser
  io.pcie.pcie_cq_np_req := 1 // requests are held by tready alone

  val csr = new Csr(p)
  val errors = new ErrorTree
  val commands = new ContextCommand(p)
  val doorbells = new DoorbellDecode(p)
  val mailbox = new Mailbox(p)
  val resets = new FunctionReset(p)
  csr.io.port <> bar.io.csr
  doorbells.io.port <> bar.io.doorbells
  mailbox.io.port <> bar.io.mailbox
  resets.io.port <> bar.io.reset
  errors.io.port <> csr.io.errors
  commands.io.command << csr.io.command
  csr.io.row << commands.io.row
  commands.io.sweep << resets.io.sweep
  mailbox.io.forget << resets.io.mailbox
  doorbells.io.map << commands.io.map
  doorbells.io.forget << commands.io.forget

  val h2c = new H2cEngine(p, timeOut = p.readTimeOut)
  // A function may use tags 0 to 31 without Extended Tag: these are all of them, or the lowest.
  private val firstOfMemory = p.descriptorTags + p.payloadTags
  val memory = p.memory generate new MemoryEngine(p, firstOfMemory, timeOut = p.readTimeOut)
  private val firstOfCommands = firstOfMemory + p.memoryTags
  val logic = p.commands generate new CommandEngine(p, firstOfCommands, timeOut = p.readTimeOut)
  val c2h = new C2hEngine(p, firstTag = firstOfCommands + p.commandTags, timeOut = p.readTimeOut)
  val user = p.userInterrupts generate new UserInterruptPort(p)
  // Those of mailbox, errors and H2C, two of C2H, and the shell's.
  val interrupts = new InterruptEngine(
    p,
    3 + c2h.io.interrupts.size + (if (p.memory) 2 else 0) + (if (p.userInterrupts) 1 else 0)
  )
  // Nothing is kept behind this arbiter, so what has left an engine has been taken by RQ, and nothing overtakes it: an
  // interrupt comes behind its status entry.
  private val requests = RqMerge(
    Seq(h2c.io.rq, c2h.io.rq, interrupts.io.rq) ++ Option(memory).map(_.io.rq) ++ Option(logic).map(_.io.rq),
    home = 1 // frames of C2H have most beats
  )
  io.pcie.rq(requests)
  order.io.taken := requests.fire && requests.isFirst &&
    RequestDescriptor(requests.data(127 downto 0)).kind === RequestKind.memoryWrite
  order.io.passed := io.pcie.passed
  val (completed, completedToo) = StreamFork2(io.pcie.rc, synchronous = true) // each takes it at once
  h2c.io.rc << completed
  c2h.io.rc << completedToo
  h2c.io.maxReadRequest := RegNext(io.pcie.cfg_max_read_req)
  h2c.io.buffers <> c2h.io.room
  csr.io.late := (Seq(h2c.io.late, c2h.io.late, interrupts.io.late) ++ Option(memory).map(_.io.late) ++
    Option(logic).map(_.io.late)).reduce(_ || _)
  h2c.io.ringSizes := csr.io.ringSizes
  c2h.io.maxPayload := RegNext(io.pcie.cfg_max_payload)
  c2h.io.maxReadRequest := RegNext(io.pcie.cfg_max_read_req)
  c2h.io.holdCompletion <> commands.io.holdCompletion
  c2h.io.changeCompletion << commands.io.changeCompletion
  c2h.io.prefetch << commands.io.prefetch
  c2h.io.ringSizes := csr.io.ringSizes
  c2h.io.bufferSizes := csr.io.bufferSizes
  c2h.io.timers := csr.io.timers
  c2h.io.thresholds := csr.io.thresholds
  c2h.io.timerTick := csr.io.timerTick
  c2h.io.skip := io.skip
  io.quietCycles := c2h.io.quietCycles
  h2c.io.statusInterval := csr.io.statusInterval
  val rung = doorbells.io.doorbell
  val slots = p.pushSlots > 0 generate new PushSlots(p)
  if (p.pushSlots > 0) {
    slots.io.chunk << decoder.io.push
    decoder.io.busy := bar.io.busy
    slots.io.function := doorbells.io.port.access.function
    slots.io.number := doorbells.io.number
    slots.io.rung := h2c.io.doorbell.fire
    slots.io.clear := commands.io.change.fire // a queue that begins anew may have another owner
    slots.io.port <> h2c.io.slots
    slots.io.sent <> h2c.io.sent
  }
  // A ring of a direction is the streams' or the memory's.
  private val ofH2c = (h2c.io.hold, h2c.io.change, h2c.io.doorbell)
  private val ofC2h = (c2h.io.hold, c2h.io.change, c2h.io.doorbell)
  private val doorbellH2c = RingRoute(p, 0, commands.io.hold, commands.io.change, ofH2c, commands, memory)
  private val doorbellC2h = RingRoute(p, 1, commands.io.holdC2h, commands.io.changeC2h, ofC2h, commands, memory)
  doorbellH2c.valid := doorbells.io.rings(Doorbell.h2cPidx)
  doorbellH2c.payload.queue := rung.payload.queue
  doorbellH2c.pidx := rung.value(15 downto 0).asUInt
  doorbellH2c.arm := rung.value(16)
  doorbellC2h.valid := doorbells.io.rings(Doorbell.c2hPidx)
  doorbellC2h.payload := doorbellH2c.payload
  c2h.io.bell.valid := doorbells.io.rings(Doorbell.completionCidx)
  c2h.io.bell.payload.queue := rung.payload.queue
  c2h.io.bell.value := rung.value
  interrupts.io.bell.valid := doorbells.io.rings(Doorbell.ringCidx)
  interrupts.io.bell.function := rung.function
  interrupts.io.bell.index := rung.value(23 downto 16).asUInt
  interrupts.io.bell.cidx := rung.value(15 downto 0).asUInt
  rung.ready := rung.kind.mux(
    Doorbell.h2cPidx -> doorbellH2c.ready,
    Doorbell.c2hPidx -> doorbellC2h.ready,
    Doorbell.completionCidx -> c2h.io.bell.ready,
    Doorbell.ringCidx -> interrupts.io.bell.ready
  )
  io.doorbell.valid := RegNext(rung.valid, init = False) && rung.ready
  io.doorbell.payload := rung.payload
  io.doorbell.payload.queue.removeAssignments() := RegNext(rung.payload.queue)

  // What has no effect: an access of BAR2 that the shell does not answer, and a word that is written in part, as the register
  // map is one of words. The first of each waits until it is told; another of its kind meanwhile would tell nothing new.
  val unanswered = Flow(HostAccess())
  unanswered.valid := bridge.io.unanswered
  unanswered.payload := bar.io.bar2.access.payload
  val refusals = Seq(unanswered, decoder.io.partial).map(_.toStream.stage())
  val refused = StreamArbiterFactory().lowerFirst.noLock.on(refusals)
  val refusedBit = refusals(0).valid ? B(1 << ErrorTree.timeout, 32 bits) | B(1 << ErrorTree.unmapped, 32 bits)
  refused.ready := errors.io.raise.ready
  val raises = StreamArbiterFactory().lowerFirst.noLock
    .on(Seq(doorbells.io.raise, h2c.io.raise, c2h.io.raise) ++ Option(memory).map(_.io.raise))
  errors.io.raise.valid := refused.valid || raises.valid
  errors.io.raise.payload := raises.payload
  raises.ready := errors.io.raise.ready && !refused.valid
  errors.io.log << doorbells.io.log.map(HostAccess(_))
  errors.io.failure.valid := h2c.io.failure.valid || c2h.io.failure.valid
  errors.io.failureC2h := c2h.io.failure.valid
  errors.io.failure.payload := h2c.io.failure.valid ? h2c.io.failure.payload | c2h.io.failure.payload
  if (p.memory) when(memory.io.failure.valid) {
    errors.io.failure := memory.io.failure
    errors.io.failureC2h := memory.io.failureC2h
  }
  when(refused.valid) {
    errors.io.raise.leaf := ErrorTree.request
    errors.io.raise.bits := refusedBit
    errors.io.log.valid := errors.io.raise.ready
    errors.io.log.payload := refused.payload
  }

  val config = new ConfigSnoop(p)
  config.io.functionStatus := io.pcie.cfg_function_status
  config.io.vfStatus := io.pcie.cfg_vf_status
  config.io.maxPayload := io.pcie.cfg_max_payload
  config.io.maxReadRequest := io.pcie.cfg_max_read_req
  config.io.msixEnable := io.pcie.cfg_interrupt_msix_enable
  config.io.msixMask := io.pcie.cfg_interrupt_msix_mask
  config.io.vfMsixEnable := io.pcie.cfg_interrupt_msix_vf_enable
  config.io.vfMsixMask := io.pcie.cfg_interrupt_msix_vf_mask
  if (p.memory) {
    memory.io.rc.valid := completed.fire
    memory.io.rc.payload := completed.payload
    memory.io.room <> h2c.io.memory
    memory.io.maxPayload := c2h.io.maxPayload
    memory.io.maxReadRequest := h2c.io.maxReadRequest
    memory.io.busMaster := config.io.busMaster
    memory.io.ringSizes := csr.io.ringSizes
    memory.io.statusInterval := csr.io.statusInterval
    io.axi << memory.io.axi
  }
  if (p.commands) {
    logic.io.port <> io.commands
    logic.io.changes <> commands.io.changeCommands
    logic.io.rc.valid := completed.fire
    logic.io.rc.payload := completed.payload
    logic.io.room <> h2c.io.commands
    logic.io.maxPayload := c2h.io.maxPayload
    logic.io.maxReadRequest := h2c.io.maxReadRequest
    logic.io.busMaster := config.io.busMaster
  }
  h2c.io.busMaster := config.io.busMaster
  c2h.io.busMaster := config.io.busMaster

  val flr = new FlrBridge(p)
  flr.io.pfInProcess := io.pcie.cfg_flr_in_process
  flr.io.vfInProcess := io.pcie.cfg_vf_flr_in_process
  flr.io.held := resets.io.held
  resets.io.request << flr.io.request
  io.pcie.cfg_flr_done := flr.io.pfDone
  io.pcie.cfg_vf_flr_done := flr.io.vfDone.valid
  io.pcie.cfg_vf_flr_func_num := flr.io.vfDone.payload

  val ofMailbox = Flow(InterruptRequest())
  ofMailbox.valid := mailbox.io.interrupt.valid
  ofMailbox.function := mailbox.io.interrupt.function.resized
  ofMailbox.vector := mailbox.io.interrupt.vector.resized
  ofMailbox.aggregate := False
  val own = Seq(ofMailbox.stage().toStream, errors.io.interrupt).map(_.map(RingInterrupt(_))) :+ h2c.io.interrupt
  val ofUser = Option(user).map(_.io.request.map(RingInterrupt(_))) // after all others
  val sources = own ++ c2h.io.interrupts ++ (if (p.memory) memory.io.interrupts else Nil) ++ ofUser
  require(sources.size == interrupts.io.requests.size)
  for ((from, to) <- sources.zip(interrupts.io.requests)) to << from
  if (p.userInterrupts) {
    user.io.pins <> io.qdma.usr_irq
    user.io.busMaster := config.io.busMaster
  }
  interrupts.io.table <> bar.io.msix
  interrupts.io.busMaster := config.io.busMaster
  interrupts.io.enabled := config.io.msix
  interrupts.io.inReset := flr.io.inReset
  interrupts.io.exists := config.io.exists
  interrupts.io.hold <> commands.io.ringHold
  interrupts.io.change << commands.io.ringChange
  io.interrupt << interrupts.io.asked
  // A reset waits for all engines, and then for the interrupts that they have asked for.
  private val drainable =
    Seq(h2c.io.drain, c2h.io.drain) ++ Option(memory).map(_.io.drain) ++ Option(logic).map(_.io.drain)
  val drained = Vec.fill(drainable.size)(RegInit(False))
  for ((drain, isDone) <- drainable.zip(drained)) {
    drain.valid := resets.io.drain.valid && !isDone
    drain.payload := resets.io.drain.payload
    isDone := (isDone || drain.fire) && !resets.io.drain.ready
  }
  val drains = RegInit(False)
  drains := (drains || drained.andR) && !resets.io.drain.ready
  interrupts.io.drain.valid := drains
  interrupts.io.drain.payload := resets.io.drain.payload
  resets.io.drain.ready := drains && interrupts.io.drain.ready

  io.qdma.m_axis_h2c << h2c.io.h2c
  io.qdma.tm_dsc_sts << StreamArbiterFactory().roundRobin.on(Seq(h2c.io.tmStatus, c2h.io.tmStatus))
  h2c.io.credits << io.qdma.dsc_crdt_in // those of C2H are dropped: it fetches without
  c2h.io.c2h << io.qdma.s_axis_c2h
  c2h.io.cmpt << io.qdma.s_axis_c2h_cmpt
  io.qdma.axis_c2h_status << c2h.io.status
  io.qdma.usr_flr_set := resets.io.shell.valid
  io.qdma.usr_flr_fnc := resets.io.shell.payload
  resets.io.shellDone.valid := io.qdma.usr_flr_done_vld
  resets.io.shellDone.payload := io.qdma.usr_flr_done_fnc

  private val accesses =
    Seq(bar.io.csr, bar.io.doorbells, bar.io.mailbox, bar.io.reset, bar.io.msix).map(_.access.valid)
  private val ofBlock = Seq(io.pcie.m_axis_cq_tvalid, io.pcie.m_axis_rc_tvalid) ++
    Seq(io.pcie.s_axis_cc_tvalid, io.pcie.s_axis_rq_tvalid)
  private val ofShell = Seq(io.qdma.m_axis_h2c.valid, io.qdma.tm_dsc_sts.valid, io.qdma.s_axis_c2h.valid) ++
    Seq(io.qdma.s_axis_c2h_cmpt.valid, io.qdma.dsc_crdt_in.valid)
  private val within =
    Seq(decoder.io.header.valid, decoder.io.access.valid, bar.io.value.valid, order.io.value.valid) ++
      Seq(bar.io.bar2.access.valid, rung.valid, errors.io.raise.valid, resets.io.held.orR, flr.io.inReset.orR) ++
      sources.map(_.valid) ++ (if (p.userInterrupts) Seq(io.qdma.usr_irq.in_vld) else Nil)
  val moving = accesses ++ ofBlock ++ ofShell ++ within
  // Memories are cleared one word of each a cycle: of the registers, of the mailbox, of the MSI-X tables, and of queues.
  private val places = 1 << log2Up(p.functions)
  val idle = new EngineIdle(moving.size, Seq(CsrTable.bytes / 4, 64 * places, p.vectors * places, p.queues).max)
  idle.io.valid := moving.asBits()
  private val quiet = Seq(h2c.io.quiet, c2h.io.quiet, interrupts.io.quiet) ++ Option(memory).map(_.io.quiet) ++
    Option(logic).map(_.io.quiet)
  idle.io.quiet := quiet.reduce(_ && _)
  io.idle := idle.io.idle
}
