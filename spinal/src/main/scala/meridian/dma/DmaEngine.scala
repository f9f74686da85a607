// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import meridian.dma.context._
import meridian.dma.mailbox.Mailbox
import meridian.dma.pcie._
import meridian.host.QdmaPins
import spinal.core._
import spinal.lib._

/** A DMA engine with the registers and the stream pins of the QDMA IP, on the integrated block for PCIe.
  *
  * What there is so far is the completer's side: reads and writes of BAR0, contexts, mailbox, errors and function level
  * resets (docs/dma.md). Doorbells and interrupts come out; nothing takes them yet, no frame passes, and the streams are
  * idle. Clock: the block's user_clk, 250 MHz.
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
  io.doorbell << doorbells.io.doorbell

  // A word that is written in part has no effect: the register map is one of words.
  val partial = Reg(Flow(BarAccess()))
  partial.valid init False
  partial.valid.clearWhen(errors.io.raise.ready)
  when(decoder.io.partial.valid)(partial := decoder.io.partial)
  errors.io.raise.valid := partial.valid || doorbells.io.raise.valid
  errors.io.raise.payload := doorbells.io.raise.payload
  doorbells.io.raise.ready := errors.io.raise.ready && !partial.valid
  errors.io.log << doorbells.io.log
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

  val flr = new FlrBridge(p)
  flr.io.pfInProcess := io.pcie.cfg_flr_in_process
  flr.io.vfInProcess := io.pcie.cfg_vf_flr_in_process
  flr.io.held := resets.io.held
  resets.io.request << flr.io.request
  io.pcie.cfg_flr_done := flr.io.pfDone
  io.pcie.cfg_vf_flr_done := flr.io.vfDone.valid
  io.pcie.cfg_vf_flr_func_num := flr.io.vfDone.payload

  // A function that may not access memory sends no interrupt.
  val requests = Seq.fill(2)(Flow(InterruptRequest()))
  requests(0).valid := mailbox.io.interrupt.valid
  requests(0).function := mailbox.io.interrupt.function.resized
  requests(0).vector := mailbox.io.interrupt.vector.resized
  requests(0).aggregate := False
  requests(1) << errors.io.interrupt
  val waiting = StreamArbiterFactory().lowerFirst.on(requests.map(_.toStream.queueLowLatency(4)))
  val isMaster = waiting.function < p.functions &&
    config.io.busMaster(waiting.function.resize(log2Up(p.functions) bits))
  io.interrupt << waiting.throwWhen(!isMaster && !waiting.aggregate).stage()

  // The streams, on which nothing passes yet.
  private def idle(payload: Data): Unit = payload.assignFromBits(B(0, widthOf(payload) bits))
  io.qdma.m_axis_h2c.valid := False
  idle(io.qdma.m_axis_h2c.payload)
  io.qdma.s_axis_c2h.ready := False
  io.qdma.s_axis_c2h_cmpt.ready := False
  io.qdma.axis_c2h_status.valid := False
  idle(io.qdma.axis_c2h_status.payload)
  io.qdma.tm_dsc_sts.valid := False
  idle(io.qdma.tm_dsc_sts.payload)
  io.qdma.dsc_crdt_in.ready := True
  io.qdma.usr_flr_set := resets.io.shell.valid
  io.qdma.usr_flr_fnc := resets.io.shell.payload
  resets.io.shellDone.valid := io.qdma.usr_flr_done_vld
  resets.io.shellDone.payload := io.qdma.usr_flr_done_fnc
}
