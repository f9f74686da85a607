// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** Fills frames up to the smallest length of the wire with zero bytes, for those that never see a MAC.
  *
  * Bytes after the end of a frame are 0, in all frames. Latency: 1 cycle. Throughput: one beat a cycle, no bubble but
  * the beats that are added. Meta is passed on: a length in it is the caller's business.
  */
class FramePadder[M <: Data](bytes: Int, minimum: Int, metaType: HardType[M]) extends Component {
  require(isPow2(bytes) && bytes >= 2, s"bytes is $bytes: choose a power of two from 2 on")
  require(minimum >= 1, s"minimum is $minimum: choose 1 or more")

  val io = new Bundle {
    val input = slave(FrameStream(bytes, metaType))
    val output = master(FrameStream(bytes, metaType))
  }

  /** The beat in which the smallest frame ends, and the bytes of it that are not of that frame. */
  val endBeat = (minimum - 1) / bytes
  val endMty = (endBeat + 1) * bytes - minimum

  val padded = FrameStream(bytes, metaType)
  val beat = Reg(UInt(log2Up(endBeat + 2) bits)) init 0 // stops behind endBeat
  val below = beat < endBeat
  val filling = RegInit(False)
  val meta = RegNextWhen(io.input.meta, io.input.fire)

  padded.valid := filling || io.input.valid
  padded.meta := Mux(filling, meta, io.input.meta)
  padded.last := (filling || io.input.last) && !below
  padded.mty := 0
  when(padded.last && beat === endBeat) {
    padded.mty := endMty
    when(!filling && io.input.mty < endMty)(padded.mty := io.input.mty)
  } elsewhen (padded.last)(padded.mty := io.input.mty)
  for ((to, i) <- padded.data.subdivideIn(8 bits).zipWithIndex) {
    val beyond = if (i == 0) False else io.input.last && io.input.mty > bytes - 1 - i
    to := io.input.data(8 * i, 8 bits).andMask(!filling && !beyond)
  }
  io.input.ready := padded.ready && !filling

  when(padded.fire) {
    when(padded.last)(beat := 0) elsewhen (beat <= endBeat)(beat := beat + 1)
    filling := (filling || io.input.last) && below
  }
  io.output << padded.m2sPipe()
}
