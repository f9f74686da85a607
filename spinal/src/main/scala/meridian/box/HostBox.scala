// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxModule, BoxPins, ShellParam}
import meridian.bus._
import meridian.dma.CommandPort
import meridian.frame.FrameStream
import meridian.host.HostInterrupt
import meridian.meta.{C2hMeta, RxStamp, TxMeta}
import meridian.queue.{CreditLookup, QueueLookup}
import meridian.settings.FunctionFlags
import spinal.core._
import spinal.lib._

/** The user's module at the host, one for all ports, in its guard, and its registers (host clock). See [[HostGuard]] for
  * the streams.
  *
  * Latency of a register access: 4 cycles and what the module takes.
  */
class HostBox(p: ShellParam, module: BoxModule) extends Component {
  val io = new Bundle {
    val page = slave(RegPort(12))
    val window = slave(RegPort(BoxPins.addressBits))
    val fromFilter = slave(FrameStream(p.hostBytes, C2hMeta(p, p.stampsAtHost)))
    val toHost = master(FrameStream(p.hostBytes, C2hMeta(p)))
    val fromHost = slave(FrameStream(p.hostBytes, TxMeta(p)))
    val toFilter = master(FrameStream(p.hostBytes, TxMeta(p)))
    val functions = in(FunctionFlags(p))
    val rxOwner, txOwner = master(QueueLookup(p))
    val credit = master(CreditLookup(p))
    val paced = in Bool ()
    val buffered = out(p.txBeatsType())
    val rxFlush, txFlush = in Bool ()
    val rxFlushed, txFlushed = out Bool ()
    val idle = out Bool ()
    val time = p.boxTime generate in(RxStamp())
    val commands = p.commands generate master(CommandPort())
    val functionReset = in Bits (p.functions bits)
    val interrupt = master(Stream(HostInterrupt()))
    val interruptFailed = in Bool ()
    val irqRose = out Bool ()
  }
  val guard = new HostGuard(p)
  guard.io.fromFilter << io.fromFilter
  guard.io.toHost >> io.toHost
  guard.io.fromHost << io.fromHost
  guard.io.toFilter >> io.toFilter
  guard.io.functions := io.functions
  guard.io.rxOwner <> io.rxOwner
  guard.io.txOwner <> io.txOwner
  guard.io.credit <> io.credit
  guard.io.paced := io.paced
  io.buffered := guard.io.buffered
  guard.io.rxFlush := io.rxFlush
  guard.io.txFlush := io.txFlush
  io.rxFlushed := guard.io.rxFlushed
  io.txFlushed := guard.io.txFlushed
  io.idle := guard.io.idle

  val streams = guard.io.streams
  val box = new BoxInstance(p, module, "boxAtHost", io.page, io.window, guard.io.control, guard.io.boxReset)
  guard.io.boxReady := box.ready
  box.connect(streams)
  box.drive("s_axis_rx_tuser_function", streams.rxTarget.function)
  box.drive("s_axis_rx_tuser_queue", streams.rxTarget.queue)
  box.drive("s_axis_rx_tuser_completion", streams.rxTarget.completion)
  box.drive("s_axis_tx_tuser_request", streams.txRequest.word)

  val target = streams.rxOutTarget
  target.function := box.bits("m_axis_rx_tuser_function", p.functionBits).asUInt
  target.queue := box.bits("m_axis_rx_tuser_queue", p.queueBits).asUInt
  target.completion := box.bits("m_axis_rx_tuser_completion", BoxPins.completionBits)
  val request = box.bits("m_axis_tx_tuser_request", 32)
  streams.txOutRequest.queue := box.bits("m_axis_tx_tuser_queue", p.queueBits).asUInt
  streams.txOutRequest.tci := request(15 downto 0)
  streams.txOutRequest.insert := request(16)
  streams.txOutRequest.unfilled := request(17)

  if (p.commands) {
    BoxCommands(box, io.commands, guard.io.boxReset)
    guard.io.moves := io.commands.read.valid || io.commands.bytes.valid || io.commands.write.valid || io.commands.written.valid
  }
  if (p.boxTime) box.tell(io.time)
  box.regs.io.functionReset := io.functionReset
  io.interrupt << box.regs.io.interrupt
  box.regs.io.interruptFailed := io.interruptFailed
  io.irqRose := box.regs.io.irqRose
  when(!box.regs.io.idle)(io.idle := False)
}
