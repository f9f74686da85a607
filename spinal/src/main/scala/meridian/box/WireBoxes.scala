// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxModule, BoxPins, ShellParam}
import meridian.bus._
import meridian.frame.FrameStream
import meridian.host.HostInterrupt
import meridian.meta.{HostTxMeta, RxMeta, RxStamp}
import spinal.core._
import spinal.lib._

/** The user's modules at the wire, one a port, each in its guard, and their registers (host clock).
  *
  * Latency of a register access: 4 cycles and what the module takes.
  */
class WireBoxes(p: ShellParam, module: BoxModule) extends Component {
  val io = new Bundle {
    val page = Vec(slave(RegPort(12)), p.ports)
    val window = Vec(slave(RegPort(BoxPins.addressBits)), p.ports)
    val fromWire = Vec(slave(FrameStream(p.hostBytes, RxMeta.ofPort(p))), p.ports)
    val toHost = Vec(master(FrameStream(p.hostBytes, RxMeta(p))), p.ports)
    val fromHost = Vec(slave(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports)
    val toWire = Vec(master(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports)
    val paced = out Vec (p.txBeatsType(), p.ports)
    val idle = out Bool ()
    val time = p.boxTime generate in(RxStamp())
    val functionReset = in Bits (p.functions bits)
    val interrupt = Vec(master(Stream(HostInterrupt())), p.ports)
    val interruptFailed = in Bits (p.ports bits)
    val irqRose = out Bits (p.ports bits)
  }
  val guards = List.tabulate(p.ports)(new BoxGuard(p, _))
  val boxes = for ((guard, port) <- guards.zipWithIndex) yield {
    guard.io.fromWire << io.fromWire(port)
    guard.io.toHost >> io.toHost(port)
    guard.io.fromHost << io.fromHost(port)
    guard.io.toWire >> io.toWire(port)
    io.paced(port) := guard.io.paced

    val streams = guard.io.streams
    val box =
      new BoxInstance(p, module, s"box$port", io.page(port), io.window(port), guard.io.control, guard.io.boxReset)
    guard.io.boxReady := box.ready
    box.connect(streams)
    if (p.stampsAtHost) {
      streams.rxOutStamp.time.assignFromBits(box.bits("m_axis_rx_tuser_time", 80))
      streams.rxOutStamp.valid := box.bit("m_axis_rx_tuser_time_valid", False)
    }
    if (p.boxTime) box.tell(io.time)
    box.regs.io.functionReset := io.functionReset
    io.interrupt(port) << box.regs.io.interrupt
    box.regs.io.interruptFailed := io.interruptFailed(port)
    io.irqRose(port) := box.regs.io.irqRose
    box
  }
  io.idle := guards.map(_.io.idle).andR && boxes.map(_.regs.io.idle).andR
}
