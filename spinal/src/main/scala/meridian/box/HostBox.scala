// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.filter.RxMeta
import meridian.frame.FrameStream
import meridian.mac.{HostTxMeta, RxStamp}
import meridian.regs.BoxRegs
import meridian.regs.bus._
import spinal.core._
import spinal.lib._

/** The user's modules of all ports, each in its guard, and their registers (host clock).
  *
  * Latency of a register access: 6 cycles and what the module takes; one access at a time, from BAR2 and the PS by turns.
  */
class HostBox(p: ShellParam, module: BoxModule) extends Component {
  val io = new Bundle {
    val host, ps = slave(RegPort(BoxRegs.addressBits))
    val fromWire = Vec(slave(FrameStream(p.hostBytes, RxMeta(p))), p.ports)
    val stamp = in Vec (RxStamp(), p.ports)
    val toHost = Vec(master(FrameStream(p.hostBytes, RxMeta(p))), p.ports)
    val fromHost = Vec(slave(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports)
    val toWire = Vec(master(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports)
    val paced = out Vec (p.txBeatsType(), p.ports)
    val idle = out Bool ()
  }
  val guards = List.tabulate(p.ports)(new BoxGuard(p, _))
  val regs = List.fill(p.ports)(
    new BoxRegs(p, module.parameters.getOrElse(BoxModule.id, 0), module.parameters.getOrElse(BoxModule.version, 0))
  )
  val windows = List.fill(p.ports)(new RegToAxiLite(BoxPins.addressBits))
  val boxes = List.tabulate(p.ports)(port => new UserBox(module).setName(s"box$port"))

  val arbiter = new RegArbiter(BoxRegs.addressBits)
  arbiter.io.masters(0) << io.host
  arbiter.io.masters(1) << io.ps
  arbiter.io.masters(1).cmd.fromHost.allowOverride() := False
  val splitter = new RegSplitter(BoxRegs.addressBits, 2 * p.ports)(command =>
    (0 until p.ports).map(BoxRegs.isPage(command.address, _)) ++
      (0 until p.ports).map(BoxRegs.isWindow(command.address, _))
  )
  splitter.io.bus << arbiter.io.bus
  for (port <- 0 until p.ports) {
    regs(port).io.bus << splitter.io.target(port)
    windows(port).io.bus << splitter.io.target(p.ports + port)
  }

  for (port <- 0 until p.ports) {
    val (box, guard, window) = (boxes(port), guards(port), windows(port))
    guard.io.fromWire << io.fromWire(port)
    guard.io.stamp := io.stamp(port)
    guard.io.toHost >> io.toHost(port)
    guard.io.fromHost << io.fromHost(port)
    guard.io.toWire >> io.toWire(port)
    io.paced(port) := guard.io.paced
    guard.io.control <> regs(port).io.control
    regs(port).io.busHung := window.io.hung
    window.io.clear := guard.io.boxReset

    box.drive("clk", ClockDomain.current.readClockWire)
    box.drive("rst", guard.io.boxReset)
    guard.io.boxReady := RegNext(box.bool("box_rst_done", True)) init False
    regs(port).io.irq := RegNext(box.bool("irq", False)) init False

    def toBox(name: String, stream: Stream[Fragment[BoxBeat]], info: BoxInfo): Unit = {
      box.drive(s"${name}_tvalid", stream.valid)
      box.drive(s"${name}_tdata", stream.data)
      box.drive(s"${name}_tkeep", stream.keep)
      box.drive(s"${name}_tlast", stream.last)
      box.drive(s"${name}_tuser_size", info.size)
      box.drive(s"${name}_tuser_src", info.source)
      box.drive(s"${name}_tuser_dst", B(0, 16 bits))
      stream.ready := box.bool(s"${name}_tready", False)
    }
    def fromBox(name: String, stream: Stream[Fragment[BoxBeat]]): Unit = {
      stream.valid := box.bool(s"${name}_tvalid", False)
      stream.data := box.bits(s"${name}_tdata", B(0))
      stream.keep := box.bits(s"${name}_tkeep", B(0))
      stream.last := box.bool(s"${name}_tlast", False)
      box.drive(s"${name}_tready", stream.ready)
    }
    val streams = guard.io.streams
    toBox("s_axis_rx", streams.rxIn, streams.rxInfo)
    box.drive("s_axis_rx_tuser_time", Mux(streams.rxStamp.valid, streams.rxStamp.time.asBits, B(0, 80 bits)))
    box.drive("s_axis_rx_tuser_time_valid", streams.rxStamp.valid)
    fromBox("m_axis_rx", streams.rxOut)
    toBox("s_axis_tx", streams.txIn, streams.txInfo)
    box.drive("s_axis_tx_tuser_function", streams.txSender.function)
    box.drive("s_axis_tx_tuser_queue", streams.txSender.queue)
    fromBox("m_axis_tx", streams.txOut)

    val axi = window.io.axi
    box.drive("s_axil_awaddr", axi.aw.addr)
    box.drive("s_axil_awvalid", axi.aw.valid)
    axi.aw.ready := box.bool("s_axil_awready", True)
    box.drive("s_axil_wdata", axi.w.data)
    box.drive("s_axil_wstrb", axi.w.strb)
    box.drive("s_axil_wvalid", axi.w.valid)
    axi.w.ready := box.bool("s_axil_wready", True)
    axi.b.valid := box.bool("s_axil_bvalid", True) // a module without registers refuses accesses
    axi.b.resp := box.bits("s_axil_bresp", B"10")
    box.drive("s_axil_bready", axi.b.ready)
    box.drive("s_axil_araddr", axi.ar.addr)
    box.drive("s_axil_arvalid", axi.ar.valid)
    axi.ar.ready := box.bool("s_axil_arready", True)
    axi.r.valid := box.bool("s_axil_rvalid", True)
    axi.r.data := box.bits("s_axil_rdata", B(0, 32 bits))
    axi.r.resp := box.bits("s_axil_rresp", B"10")
    box.drive("s_axil_rready", axi.r.ready)
  }
  io.idle := guards.map(_.io.idle).andR
}
