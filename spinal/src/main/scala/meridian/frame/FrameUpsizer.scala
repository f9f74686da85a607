// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** Gathers beats of inBytes into beats of outBytes, for a writer that cannot wait.
  *
  * Latency: 1 cycle from the beat that fills a word, or ends the frame, to the word. Throughput: one beat in a cycle,
  * frames back to back. No back-pressure: the word stands for one cycle. Bytes beyond the end of a frame are 0 in whole
  * beats. Meta is that of the last beat gathered.
  */
class FrameUpsizer[M <: Data](inBytes: Int, outBytes: Int, metaType: HardType[M]) extends Component {
  require(isPow2(inBytes) && inBytes >= 2, s"inBytes is $inBytes: choose a power of two from 2 on")
  require(isPow2(outBytes) && outBytes > inBytes, s"outBytes is $outBytes: choose a power of two above $inBytes")
  val ratio = outBytes / inBytes

  val io = new Bundle {
    val input = slave(Flow(Fragment(FrameWord(inBytes, metaType))))
    val output = master(Flow(Fragment(FrameWord(outBytes, metaType))))
  }

  val slot = Reg(UInt(log2Up(ratio) bits)) init 0
  val slots = Vec(Reg(Bits(8 * inBytes bits)), ratio)
  val mty = Reg(UInt(log2Up(outBytes) bits))
  val last = Reg(Bool())
  val meta = Reg(metaType())
  val valid = RegNext(io.input.valid && (io.input.last || slot.andR)) init False

  when(io.input.valid) {
    slot := slot + 1
    when(io.input.last)(slot := 0)
    for (i <- 0 until ratio) {
      when(slot === 0)(slots(i) := 0)
      when(slot === i)(slots(i) := io.input.data)
    }
    last := io.input.last
    mty := 0
    when(io.input.last)(mty := ~slot @@ io.input.mty)
    meta := io.input.meta
  }

  io.output.valid := valid
  io.output.data := slots.asBits
  io.output.mty := mty
  io.output.last := last
  io.output.meta := meta
}
