// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** Cuts beats of inBytes into beats of outBytes.
  *
  * Latency: 0 cycles (a multiplexer behind its input, which should come from registers). Throughput: one narrow beat a
  * cycle, no bubble within or between frames as long as input has none. input.ready comes with the last narrow beat of
  * a word and follows output.ready in the same cycle.
  */
class FrameDownsizer[M <: Data](inBytes: Int, outBytes: Int, metaType: HardType[M]) extends Component {
  require(isPow2(outBytes) && outBytes >= 2, s"outBytes is $outBytes: choose a power of two from 2 on")
  require(isPow2(inBytes) && inBytes > outBytes, s"inBytes is $inBytes: choose a power of two above $outBytes")
  val ratio = inBytes / outBytes

  val io = new Bundle {
    val input = slave(FrameStream(inBytes, metaType))
    val output = master(FrameStream(outBytes, metaType))
  }

  val slot = Reg(UInt(log2Up(ratio) bits)) init 0
  val endSlot = ~(io.input.mty >> log2Up(outBytes)) // mty is 0, so this is the highest slot, in all but the last word
  val wordEnds = slot === endSlot

  io.output.valid := io.input.valid
  io.output.data := io.input.data.subdivideIn(ratio slices)(slot)
  io.output.last := io.input.last && wordEnds
  io.output.mty := io.input.mty.resize(log2Up(outBytes))
  when(!io.output.last)(io.output.mty := 0)
  io.output.meta := io.input.meta
  io.input.ready := io.output.ready && wordEnds

  when(io.output.fire) {
    slot := slot + 1
    when(wordEnds)(slot := 0)
  }
}
