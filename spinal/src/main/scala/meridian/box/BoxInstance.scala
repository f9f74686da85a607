// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxModule, BoxPins, ShellParam}
import meridian.bus._
import meridian.meta.RxStamp
import spinal.core._
import spinal.lib._

/** An instance of a user's module, with its registers, its clock, its reset and its streams.
  *
  * @param name    of the instance
  * @param page    accesses to its page
  * @param access  accesses to its own registers
  */
class BoxInstance(
    p: ShellParam,
    module: BoxModule,
    name: String,
    page: RegPort,
    access: RegPort,
    control: BoxControl,
    boxReset: Bool
) extends Area {
  val regs =
    new BoxRegs(
      p,
      module.parameters.getOrElse(BoxModule.id, 0),
      module.parameters.getOrElse(BoxModule.version, 0),
      BoxPins.commands(module)
    )
  val window = new RegToAxiLite(BoxPins.addressBits)
  val box = new UserBox(module).setName(name)

  regs.io.bus << page
  window.io.bus << access
  control <> regs.io.control
  regs.io.busHung := window.io.hung
  window.io.clear := boxReset
  box.drive("clk", ClockDomain.current.readClockWire)
  box.drive("rst", boxReset)
  val ready = RegNext(box.bool("box_rst_done", True)) init False
  regs.io.irq := RegNext(box.bool("irq", False)) init False

  def drive(name: String, value: Data): Unit = box.drive(name, value)
  def bit(name: String, absent: Bool): Bool = box.bool(name, absent)
  def bits(name: String, width: Int): Bits = box.bits(name, B(0, width bits))

  /** Its time, if it has a port for it. */
  def tell(time: RxStamp): Unit = {
    drive("phc_time", time.time)
    drive("phc_time_valid", time.valid)
  }

  /** What both places have. */
  def connect(streams: BoxStreams): Unit = {
    toBox("s_axis_rx", streams.rxIn, streams.rxInfo)
    val stamp = streams.rxStamp
    if (stamp != null) {
      drive("s_axis_rx_tuser_time", Mux(stamp.valid, stamp.time.asBits, B(0, 80 bits)))
      drive("s_axis_rx_tuser_time_valid", stamp.valid)
    }
    fromBox("m_axis_rx", streams.rxOut)
    toBox("s_axis_tx", streams.txIn, streams.txInfo)
    drive("s_axis_tx_tuser_function", streams.txSender.function)
    drive("s_axis_tx_tuser_queue", streams.txSender.queue)
    fromBox("m_axis_tx", streams.txOut)
  }

  private def toBox(name: String, stream: Stream[Fragment[BoxBeat]], info: BoxInfo): Unit = {
    drive(s"${name}_tvalid", stream.valid)
    drive(s"${name}_tdata", stream.data)
    drive(s"${name}_tkeep", stream.keep)
    drive(s"${name}_tlast", stream.last)
    drive(s"${name}_tuser_size", info.size)
    drive(s"${name}_tuser_src", info.source)
    drive(s"${name}_tuser_dst", info.destination)
    stream.ready := box.bool(s"${name}_tready", False)
  }

  private def fromBox(name: String, stream: Stream[Fragment[BoxBeat]]): Unit = {
    stream.valid := box.bool(s"${name}_tvalid", False)
    stream.data := box.bits(s"${name}_tdata", B(0))
    stream.keep := box.bits(s"${name}_tkeep", B(0))
    stream.last := box.bool(s"${name}_tlast", False)
    drive(s"${name}_tready", stream.ready)
  }

  private val axi = window.io.axi
  drive("s_axil_awaddr", axi.aw.addr)
  drive("s_axil_awvalid", axi.aw.valid)
  axi.aw.ready := box.bool("s_axil_awready", True)
  drive("s_axil_wdata", axi.w.data)
  drive("s_axil_wstrb", axi.w.strb)
  drive("s_axil_wvalid", axi.w.valid)
  axi.w.ready := box.bool("s_axil_wready", True)
  axi.b.valid := box.bool("s_axil_bvalid", True) // a module without registers refuses accesses
  axi.b.resp := box.bits("s_axil_bresp", B"10")
  drive("s_axil_bready", axi.b.ready)
  drive("s_axil_araddr", axi.ar.addr)
  drive("s_axil_arvalid", axi.ar.valid)
  axi.ar.ready := box.bool("s_axil_arready", True)
  axi.r.valid := box.bool("s_axil_rvalid", True)
  axi.r.data := box.bits("s_axil_rdata", B(0, 32 bits))
  axi.r.resp := box.bits("s_axil_rresp", B"10")
  drive("s_axil_rready", axi.r.ready)
}
