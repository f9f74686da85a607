// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import meridian.dma.context._
import meridian.dma.h2c.H2cEngine
import meridian.dma.mailbox.Mailbox
import meridian.dma.pcie._
import meridian.host.QdmaPins
import spinal.core._
import spinal.lib._

/** A DMA engine with the registers and the stream pins of the QDMA IP, on the integrated block for PCIe.
  *
  * What there is so far (docs/dma.md): reads and writes of BAR0, contexts, mailbox, errors, function level resets, and the
  * way from host to card. Doorbells and interrupts come out at ports; nothing takes those of C2H and of interrupt rings
  * yet, and the streams of C2H are idle. Clock: the block's user_clk, 250 MHz.
  *
  * A read of a register is answered 10 to 14 cycles after its request, if the block takes completions at once. One access
  * is under way at a time.
  */
class DmaEngine(p: DmaParam = DmaParam()) extends Component {
  val io = new Bundle {
    val pcie = Pcie4Pins()
    val qdma = slave(QdmaPins(32))
    val doorbell = master(Flow(Doorbell()))
    val interrupt = master(Stream(InterruptRequest()))
  }
  // Names as the block has them.
  addPrePopTask(() => io.pcie.flatten.foreach(pin => pin.setName(pin.getName().stripPrefix("io_pcie_"))))

  val decoder = new CqDecoder(p)
  val encoder = new CcEncoder
  val bar = new BarDecode(p)
  decoder.io.cq << io.pcie.cq
  encoder.io.header << decoder.io.header
  bar.io.access << decoder.io.access
  encoder.io.value << bar.io.value
  io.pcie.cc(encoder.io.cc)
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
  io.pcie.rq(h2c.io.rq)
  h2c.io.rc << io.pcie.rc
  h2c.io.maxReadRequest := RegNext(io.pcie.cfg_max_read_req)
  h2c.io.hold <> commands.io.hold
  h2c.io.change << commands.io.change
  csr.io.late := h2c.io.late
  h2c.io.ringSizes := csr.io.ringSizes
  h2c.io.statusInterval := csr.io.statusInterval
  val rung = doorbells.io.doorbell
  val isH2c = rung.kind === Doorbell.h2cPidx
  h2c.io.doorbell.valid := rung.valid && isH2c
  h2c.io.doorbell.payload.queue := rung.payload.queue
  h2c.io.doorbell.pidx := rung.value(15 downto 0).asUInt
  h2c.io.doorbell.arm := rung.value(16)
  rung.ready := !isH2c || h2c.io.doorbell.ready
  io.doorbell.valid := rung.fire
  io.doorbell.payload := rung.payload

  // A word that is written in part has no effect: the register map is one of words.
  val partial = Reg(Flow(BarAccess()))
  partial.valid init False
  partial.valid.clearWhen(errors.io.raise.ready)
  when(decoder.io.partial.valid)(partial := decoder.io.partial)
  val raises = StreamArbiterFactory().lowerFirst.noLock.on(Seq(doorbells.io.raise, h2c.io.raise))
  errors.io.raise.valid := partial.valid || raises.valid
  errors.io.raise.payload := raises.payload
  raises.ready := errors.io.raise.ready && !partial.valid
  errors.io.log << doorbells.io.log
  errors.io.failure << h2c.io.failure
  when(partial.valid) {
    errors.io.raise.leaf := ErrorTree.request
    errors.io.raise.bits := 1 << ErrorTree.unmapped
    errors.io.log.valid := errors.io.raise.ready
    errors.io.log.payload := partial.payload
  }

  val config = new ConfigSnoop(p)
  config.io.functionStatus := io.pcie.cfg_function_status
  config.io.vfStatus := io.pcie.cfg_vf_status
  config.io.maxPayload := io.pcie.cfg_max_payload
  config.io.maxReadRequest := io.pcie.cfg_max_read_req
  h2c.io.busMaster := config.io.busMaster

  val flr = new FlrBridge(p)
  flr.io.pfInProcess := io.pcie.cfg_flr_in_process
  flr.io.vfInProcess := io.pcie.cfg_vf_flr_in_process
  flr.io.held := resets.io.held
  resets.io.request << flr.io.request
  io.pcie.cfg_flr_done := flr.io.pfDone
  io.pcie.cfg_vf_flr_done := flr.io.vfDone.valid
  io.pcie.cfg_vf_flr_func_num := flr.io.vfDone.payload

  val requests = Seq.fill(2)(Flow(InterruptRequest()))
  requests(0).valid := mailbox.io.interrupt.valid
  requests(0).function := mailbox.io.interrupt.function.resized
  requests(0).vector := mailbox.io.interrupt.vector.resized
  requests(0).aggregate := False
  requests(1) << errors.io.interrupt
  val interrupts = new InterruptPort(p, 3)
  for ((from, to) <- (requests.map(_.toStream) :+ h2c.io.interrupt).zip(interrupts.io.requests)) to << from
  interrupts.io.busMaster := config.io.busMaster
  io.interrupt << interrupts.io.interrupt
  // A reset waits for both.
  val (reads, waiting) = StreamFork2(resets.io.drain)
  h2c.io.drain << reads
  interrupts.io.drain << waiting

  io.qdma.m_axis_h2c << h2c.io.h2c
  io.qdma.tm_dsc_sts << h2c.io.tmStatus
  h2c.io.credits << io.qdma.dsc_crdt_in

  // The streams on which nothing passes yet.
  private def idle(payload: Data): Unit = payload.assignFromBits(B(0, widthOf(payload) bits))
  io.qdma.s_axis_c2h.ready := False
  io.qdma.s_axis_c2h_cmpt.ready := False
  io.qdma.axis_c2h_status.valid := False
  idle(io.qdma.axis_c2h_status.payload)
  io.qdma.usr_flr_set := resets.io.shell.valid
  io.qdma.usr_flr_fnc := resets.io.shell.payload
  resets.io.shellDone.valid := io.qdma.usr_flr_done_vld
  resets.io.shellDone.payload := io.qdma.usr_flr_done_fnc
}
