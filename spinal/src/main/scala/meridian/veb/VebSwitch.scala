// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.frame._
import meridian.meta.{RxMeta, TxCopy}
import meridian.queue._
import spinal.core._
import spinal.lib._

object VebSwitch {

  /** Wire frames after which one from inside the card goes first. */
  val insideAfter = 16
}

/** Joins frames that stay inside the card with those of the wire, in front of the receive filter (host clock).
  *
  * Frames between functions are stored whole. One that finds no room (p.vebBufferBytes) is lost, and reported at `lost`
  * with its last beat, because the transmit side serves all functions and must not wait for one. Frames between
  * functions and those of the PS take turns, are padded to the smallest frame of the wire, and go behind the frames of
  * the wire; after 16 frames of the wire one of them goes first.
  *
  * Latency: 1 cycle from wire to rx; 8 from a copy's last beat to its first beat at rx. Throughput: one beat a cycle,
  * no bubble between frames of the wire. Back-pressure at rx reaches the wire and the frames of the PS, never `copy`.
  *
  * `flush` asks when every frame of a function that was stored before it has begun at rx; `flushed` answers with a
  * pulse. A new request replaces an unanswered one.
  */
class VebSwitch(p: ShellParam) extends Component {
  val io = new Bundle {
    val copy = slave(Flow(Fragment(TxCopy(p))))
    val lost = out Bool ()
    val wire = slave(FrameStream(p.hostBytes, RxMeta(p)))
    val ps = Vec(slave(FrameStream(p.hostBytes, RxMeta(p))), p.ports)
    val rx = master(FrameStream(p.hostBytes, RxMeta(p)))
    val flush = in Bool ()
    val flushed = out Bool ()
    val idle = out Bool ()
  }

  /** Who sent a frame, and on which port. */
  case class Sender() extends Bundle {
    val port = p.portType()
    val function = p.functionType()
  }

  val frames = p.vebBufferBytes / p.hostBytes
  val cd = ClockDomain.current
  val buffer = new PacketBuffer(p.hostBytes, p.vebBufferBytes, HardType(Sender()), frames, cd, cd)

  val store = new Area {
    val dropper = new FrameDropper(p.hostBytes, HardType(Sender()))
    dropper.io.input.valid := io.copy.valid && io.copy.toFunctions
    dropper.io.input.last := io.copy.last
    dropper.io.input.data := io.copy.data
    dropper.io.input.mty := io.copy.mty
    dropper.io.input.meta.port := io.copy.port
    dropper.io.input.meta.function := io.copy.function
    dropper.io.drop := io.copy.drop
    dropper.io.up := buffer.io.up
    buffer.io.push << dropper.io.push
    buffer.io.abort := dropper.io.abort
    buffer.io.drop := False
    io.lost := dropper.io.lost
  }

  val functions = new Area {
    val stored = buffer.io.pop
    val frames = FrameStream(p.hostBytes, RxMeta(p))
    frames.arbitrationFrom(stored)
    frames.last := stored.last
    frames.data := stored.data
    frames.mty := stored.mty
    frames.meta.port := stored.meta.port
    frames.meta.length := stored.length.max(p.minFrame)
    frames.meta.source.inside := True
    frames.meta.source.isFunction := True
    frames.meta.source.function := stored.meta.function
    if (p.stampsAtHost) frames.meta.stamp.none()
  }

  val padder = new FramePadder(p.hostBytes, p.minFrame, RxMeta(p))
  padder.io.input << StreamArbiterFactory().roundRobin.fragmentLock.on(functions.frames +: io.ps)
  val merge = new PriorityMerge(io.rx.fragmentType, VebSwitch.insideAfter)
  merge.io.first << io.wire
  merge.io.firstThere := io.wire.valid
  merge.io.second << padder.io.output
  // That the filter cannot take a beat is known late: it must not reach the pointers of the buffers.
  io.rx << merge.io.out.s2mPipe()

  val flushing = new FlushPoint(log2Up(frames) + 2)
  val begins = RegNextWhen(io.rx.last, io.rx.fire) init True
  flushing.io.begin := store.dropper.io.push.fire && store.dropper.io.push.last
  flushing.io.end := io.rx.fire && begins && io.rx.meta.source.isFunction
  flushing.io.flush := io.flush
  io.flushed := flushing.io.flushed
  io.idle := flushing.io.idle && !io.copy.valid && !padder.io.output.valid && !io.rx.valid && !io.ps.map(_.valid).orR
}
