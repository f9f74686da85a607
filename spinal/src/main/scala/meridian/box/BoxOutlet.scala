// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

/** What becomes of a frame at its end. */
case class OutletMeta() extends Bundle {
  val drop = Bool() // with the last beat: the frame is not to be sent
}

/** Makes frames out of what a box offers, whatever it does. A frame ends with `drop`, for its buffer to roll it back, if
  *
  *   - tkeep has a gap, has no byte, or is not full before the last beat
  *   - it has less than minFrame or more than maxFrame bytes; it is cut where it gets too long, and the rest discarded
  *   - the box is closed, as by a reset, before it ends
  *
  * What the box says of its length is not looked at. A frame that the box does not go on with stays in its buffer until
  * the box goes on, or is reset. Each frame makes one pulse, with its end: sent or dropped.
  *
  * Latency: 1 cycle. Throughput: one beat a cycle. Back-pressure goes on to the box.
  */
class BoxOutlet(bytes: Int, minFrame: Int, maxFrame: Int) extends Component {
  require(isPow2(bytes) && minFrame >= 1 && maxFrame >= minFrame && maxFrame > bytes)
  val io = new Bundle {
    val box = slave(Stream(Fragment(BoxBeat(bytes))))
    val open = in Bool ()
    val frames = master(Stream(Fragment(FrameWord(bytes, HardType(OutletMeta())))))
    val sent, dropped = out Bool ()
  }

  val most = (maxFrame + bytes - 1) / bytes // beats
  val beats = Reg(UInt(log2Up(most + 1) bits)) init 0 // of the frame, before this one
  val broken = RegInit(False) // a beat before was not full
  val under = RegInit(False) // a frame has begun towards the shell
  val skip = RegInit(False) // the rest of a frame that was too long
  val owed = RegInit(False) // a frame was begun, and the box is closed: its end is made up

  val beat = io.box.payload
  val full = beat.keep.andR
  val contiguous = (beat.keep & (beat.keep.asUInt + 1).asBits) === 0 && beat.keep.lsb
  val count = CountOne(beat.keep)
  val isMost = beats === most - 1
  val over = isMost && (!beat.last || count > maxFrame - (most - 1) * bytes)
  val whole = minFrame / bytes // beats that a frame has before the one with byte minFrame
  val short = beat.last && (beats < whole || beats === whole && count < minFrame % bytes)
  val bad = broken || !Mux(beat.last, contiguous, full) || over || short

  val feed = cloneOf(io.frames)
  feed.valid := owed || io.box.valid && io.open && !skip
  feed.last := owed || beat.last || over
  feed.data := beat.data
  feed.mty := (feed.last && !feed.meta.drop) ? (U(bytes) - count).resize(feed.mty.getWidth) | U(0)
  feed.meta.drop := feed.last && (owed || bad)
  io.box.ready := io.open && (skip || feed.ready) && !owed
  io.frames << feed.m2sPipe()

  when(feed.fire)(under := !feed.last)
  when(io.box.fire) {
    beats := beats + 1
    broken := bad
    when(over)(skip := !beat.last)
    when(beat.last || over) {
      beats := 0
      broken := False
    }
    when(skip) {
      beats := 0
      broken := False
      skip := !beat.last
    }
  }
  when(!io.open) {
    beats := 0
    broken := False
    skip := False
    when(under)(owed := True)
  }
  when(owed && feed.ready)(owed := False)

  val ends = feed.fire && feed.last
  io.sent := ends && !feed.meta.drop
  io.dropped := ends && feed.meta.drop
}
