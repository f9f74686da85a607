// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.TxMeta
import spinal.core._
import spinal.lib._

/** Writes the checksums of a frame into it as it passes. `patches` holds from the frame's first beat to its last.
  *
  * Latency 2 cycles, one beat a cycle, no bubble between frames. Back-pressure passes through.
  */
class FramePatcher(p: ShellParam) extends Component {
  val io = new Bundle {
    val frames = slave(FrameStream(p.hostBytes, TxMeta(p)))
    val patches = in(ChecksumPatches())
    val patched = master(FrameStream(p.hostBytes, TxMeta(p)))
  }
  val words = p.hostBytes / 2
  val wordBits = log2Up(words)

  /** The beat of the frame; the fields are in the first ones. */
  val beat = Reg(UInt(6 - wordBits + 1 bits)) init 0
  when(io.frames.fire)(beat := Mux(io.frames.last, U(0), Mux(beat.msb, beat, beat + 1)))

  case class Chosen() extends Bundle {
    val word = io.frames.payloadType()
    val ip, l4 = Bits(words bits)
    val ipValue, l4Value = Bits(16 bits)
  }
  def choose(patch: ChecksumPatch): Bits = {
    val here = patch.valid && patch.place.dropLow(wordBits).asUInt.resize(widthOf(beat)) === beat
    UIntToOh(patch.place.take(wordBits).asUInt, words).andMask(here)
  }
  val chosen = Chosen()
  chosen.word := io.frames.payload
  chosen.ip := choose(io.patches.ip)
  chosen.l4 := choose(io.patches.l4)
  chosen.ipValue := io.patches.ip.value
  chosen.l4Value := io.patches.l4.value
  val staged = io.frames.translateWith(chosen).m2sPipe()

  val out = FrameStream(p.hostBytes, TxMeta(p))
  out.arbitrationFrom(staged)
  out.payload := staged.word
  for (w <- 0 until words) {
    def put(value: Bits): Unit = out.fragment.data(16 * w, 16 bits) := value(7 downto 0) ## value(15 downto 8)
    when(staged.ip(w))(put(staged.ipValue))
    when(staged.l4(w))(put(staged.l4Value))
  }
  io.patched << out.m2sPipe()
}
