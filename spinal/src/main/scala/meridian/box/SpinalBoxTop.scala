// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxPins, ShellParam}
import meridian.dma.HostCommand
import meridian.meta.RxStamp
import spinal.core._
import spinal.lib._

/** A box in SpinalHDL with the ports that a module in Verilog has, so that the shell sees no difference.
  *
  * Latency: 0 cycles, wires only.
  */
class SpinalBoxTop(name: String, hostBytes: Int, make: => BoxComponent) extends Component {
  setDefinitionName(name)

  private val clock = ClockDomain(
    in(Bool()).setName("clk"),
    in(Bool()).setName("rst"),
    config = ClockDomainConfig(resetKind = SYNC, resetActiveLevel = HIGH)
  )
  private val box = clock(make.setName("box"))
  private val atHost = box.isInstanceOf[HostSpinalBox]
  private val pins = BoxPins.of(ShellParam(hostBytes = hostBytes), atHost).map(pin => pin.name -> pin).toMap

  /** A port of that name. */
  private def port(name: String): BaseType = {
    val pin = pins(name)
    val signal: BaseType = if (pin.width == 1) Bool() else Bits(pin.width bits)
    (if (pin.toBox) in(signal) else out(signal)).setName(name)
  }
  box.setDefinitionName(s"${name}_Logic") // the module's own name is that of this component

  /** Joins signals of the box with the ports of these names. */
  private def join(signals: (String, Data)*): Unit = for ((name, signal) <- signals) {
    val outer = port(name)
    if (pins(name).toBox) signal.assignFromBits(outer.asBits) else outer.assignFromBits(signal.asBits)
  }
  private def stream(name: String, signals: Stream[Fragment[BoxBeat]]): Unit = join(
    s"${name}_tvalid" -> signals.valid,
    s"${name}_tready" -> signals.ready,
    s"${name}_tdata" -> signals.data,
    s"${name}_tkeep" -> signals.keep,
    s"${name}_tlast" -> signals.last
  )
  stream("s_axis_rx", box.io.rxIn)
  stream("m_axis_rx", box.io.rxOut)
  stream("s_axis_tx", box.io.txIn)
  stream("m_axis_tx", box.io.txOut)
  join(
    "s_axis_rx_tuser_size" -> box.io.rxInfo.size,
    "s_axis_rx_tuser_src" -> box.io.rxInfo.source,
    "s_axis_rx_tuser_dst" -> box.io.rxInfo.destination,
    "s_axis_tx_tuser_size" -> box.io.txInfo.size,
    "s_axis_tx_tuser_src" -> box.io.txInfo.source,
    "s_axis_tx_tuser_dst" -> box.io.txInfo.destination,
    "s_axis_tx_tuser_function" -> box.io.txSender.function,
    "s_axis_tx_tuser_queue" -> box.io.txSender.queue
  )
  private def stamp(name: String, signals: RxStamp): Unit =
    join(s"${name}_tuser_time" -> signals.time, s"${name}_tuser_time_valid" -> signals.valid)
  private def target(name: String, signals: BoxTarget): Unit = join(
    s"${name}_tuser_function" -> signals.function,
    s"${name}_tuser_queue" -> signals.queue,
    s"${name}_tuser_completion" -> signals.completion
  )
  private def command(name: String, signals: HostCommand): Unit = join(
    s"${name}_tuser_address" -> signals.address,
    s"${name}_tuser_bytes" -> signals.bytes,
    s"${name}_tuser_queue" -> signals.queue,
    s"${name}_tuser_tag" -> signals.tag
  )
  box match {
    case box: SpinalBox =>
      stamp("s_axis_rx", box.io.rxStamp)
      if (box.passesTime) stamp("m_axis_rx", box.io.rxOutStamp)
    case box: HostSpinalBox =>
      target("s_axis_rx", box.io.rxTarget)
      target("m_axis_rx", box.io.rxOutTarget)
      if (box.arrival) stamp("s_axis_rx", box.io.rxStamp)
      // Its queue is that of the sender.
      val request = port("s_axis_tx_tuser_request").asBits
      box.io.txRequest.queue := box.io.txSender.queue.pull()
      box.io.txRequest.tci := request(15 downto 0)
      box.io.txRequest.insert := request(16)
      box.io.txRequest.unfilled := request(17)
      join("m_axis_tx_tuser_queue" -> box.io.txOutRequest.queue, "m_axis_tx_tuser_request" -> box.io.txOutRequest.word)
      if (box.reads) {
        command("m_axis_dma_read", box.io.read.payload)
        join("m_axis_dma_read_tvalid" -> box.io.read.valid, "m_axis_dma_read_tready" -> box.io.read.ready)
        val bytes = box.io.readBytes
        join(
          "s_axis_dma_read_tvalid" -> bytes.valid,
          "s_axis_dma_read_tready" -> bytes.ready,
          "s_axis_dma_read_tdata" -> bytes.data,
          "s_axis_dma_read_tkeep" -> bytes.keep,
          "s_axis_dma_read_tlast" -> bytes.last,
          "s_axis_dma_read_tuser_tag" -> bytes.tag,
          "s_axis_dma_read_tuser_error" -> bytes.failed
        )
      }
      if (box.writes) {
        val (write, written) = (box.io.write, box.io.written)
        command("m_axis_dma_write", write.command)
        join(
          "m_axis_dma_write_tvalid" -> write.valid,
          "m_axis_dma_write_tready" -> write.ready,
          "m_axis_dma_write_tdata" -> write.data,
          "m_axis_dma_write_tlast" -> write.last,
          "s_axis_dma_written_tvalid" -> written.valid,
          "s_axis_dma_written_tuser_tag" -> written.tag,
          "s_axis_dma_written_tuser_error" -> written.failed
        )
      }
  }
  if (box.tellsReady) join("box_rst_done" -> box.io.ready)
  if (box.interrupts) join("irq" -> box.io.irq)
  if (box.time) join("phc_time" -> box.io.phcTime.time, "phc_time_valid" -> box.io.phcTime.valid)
  if (box.registers) {
    val axi = box.io.axi
    join(
      "s_axil_awaddr" -> axi.aw.addr,
      "s_axil_awvalid" -> axi.aw.valid,
      "s_axil_awready" -> axi.aw.ready,
      "s_axil_wdata" -> axi.w.data,
      "s_axil_wstrb" -> axi.w.strb,
      "s_axil_wvalid" -> axi.w.valid,
      "s_axil_wready" -> axi.w.ready,
      "s_axil_bresp" -> axi.b.resp,
      "s_axil_bvalid" -> axi.b.valid,
      "s_axil_bready" -> axi.b.ready,
      "s_axil_araddr" -> axi.ar.addr,
      "s_axil_arvalid" -> axi.ar.valid,
      "s_axil_arready" -> axi.ar.ready,
      "s_axil_rdata" -> axi.r.data,
      "s_axil_rresp" -> axi.r.resp,
      "s_axil_rvalid" -> axi.r.valid,
      "s_axil_rready" -> axi.r.ready
    )
    axi.aw.prot := 0
    axi.ar.prot := 0
  }
}
