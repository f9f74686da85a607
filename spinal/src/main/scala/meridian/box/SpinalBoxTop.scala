// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** A box in SpinalHDL with the ports that a module in Verilog has, so that the shell sees no difference.
  *
  * Latency: 0 cycles, wires only.
  */
class SpinalBoxTop(name: String, hostBytes: Int, make: => SpinalBox) extends Component {
  setDefinitionName(name)
  private val pins = BoxPins.of(ShellParam(hostBytes = hostBytes)).map(pin => pin.name -> pin).toMap

  /** A port of that name. */
  private def port(name: String): BaseType = {
    val pin = pins(name)
    val signal: BaseType = if (pin.width == 1) Bool() else Bits(pin.width bits)
    (if (pin.toBox) in(signal) else out(signal)).setName(name)
  }

  private val clock = ClockDomain(
    port("clk").asInstanceOf[Bool],
    port("rst").asInstanceOf[Bool],
    config = ClockDomainConfig(resetKind = SYNC, resetActiveLevel = HIGH)
  )
  private val box = clock(make.setName("box"))
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
    "s_axis_rx_tuser_time" -> box.io.rxStamp.time,
    "s_axis_rx_tuser_time_valid" -> box.io.rxStamp.valid,
    "s_axis_tx_tuser_size" -> box.io.txInfo.size,
    "s_axis_tx_tuser_src" -> box.io.txInfo.source,
    "s_axis_tx_tuser_function" -> box.io.txSender.function,
    "s_axis_tx_tuser_queue" -> box.io.txSender.queue
  )
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
