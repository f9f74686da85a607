// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.frame._
import meridian.meta.RxMeta
import spinal.core._
import spinal.lib._

/** What became of a frame of the PS inside the card; pulses, ps clock. */
case class PsVebEvents() extends Bundle {
  val frame = Bool() // the frame goes nowhere else
  val copy = Bool() // the frame went to the wire as well
  val lost = Bool() // with either: there was no room for it
}

/** Frames of the PS on their way to functions: stored whole, and lost if there is no room (p.vebBufferBytes) or no host.
  *
  * Latency, last beat taken to first beat offered: 2 cycles of ps, 4 of host and the phase of the clocks. Throughput: one
  * beat a cycle on either side. Nothing here can stop `inside`.
  */
class PsToHost(p: ShellParam, port: Int, psCd: ClockDomain, hostCd: ClockDomain) extends Component {
  val io = new Bundle {

    /** Ps clock. */
    val inside = slave(Flow(Fragment(FrameWord(p.psBytes, HardType(Bool())))))
    val events = out(PsVebEvents())

    /** Host clock. */
    val frames = master(FrameStream(p.hostBytes, RxMeta(p)))
    val idle = out Bool ()
  }
  val words = p.vebBufferBytes / p.hostBytes
  val buffer = new PacketBuffer(p.hostBytes, p.vebBufferBytes, HardType(new NoData), words, psCd, hostCd)

  val ps = psCd on new Area {
    val upsizer = new FrameUpsizer(p.psBytes, p.hostBytes, HardType(Bool()))
    upsizer.io.input << io.inside
    val word = upsizer.io.output
    val dropper = new FrameDropper(p.hostBytes, HardType(new NoData))
    dropper.io.input.valid := word.valid
    dropper.io.input.last := word.last
    dropper.io.input.data := word.data
    dropper.io.input.mty := word.mty
    dropper.io.drop := False
    dropper.io.up := buffer.io.up
    buffer.io.push << dropper.io.push
    buffer.io.abort := dropper.io.abort
    buffer.io.drop := False
    val ends = word.valid && word.last
    io.events.frame := RegNext(ends && word.meta) init False
    io.events.copy := RegNext(ends && !word.meta) init False
    io.events.lost := RegNext(dropper.io.lost)
  }

  io.frames.arbitrationFrom(buffer.io.pop)
  io.frames.data := buffer.io.pop.data
  io.frames.mty := buffer.io.pop.mty
  io.frames.last := buffer.io.pop.last
  io.frames.meta.port := port
  io.frames.meta.length := buffer.io.pop.length.max(p.minFrame)
  io.frames.meta.source.inside := True
  io.frames.meta.source.isFunction := False
  io.frames.meta.source.function := 0
  if (p.stampsAtHost) io.frames.meta.stamp.none()
  io.idle := buffer.io.idle
}
