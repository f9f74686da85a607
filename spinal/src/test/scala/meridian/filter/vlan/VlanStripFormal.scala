// SPDX-License-Identifier: Apache-2.0
package meridian.filter.vlan

import meridian.{LongTest, Pdr, Proof, ShellParam}
import meridian.frame.FrameStream
import meridian.meta.RxTarget
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any frames of 60 bytes or more, that lose their tag or not, beat for beat as the merge before gives them. Any one byte
  * of a frame that leaves is compared with the one that it was.
  */
class VlanStripProof(hostBytes: Int) extends Component {
  val p = ShellParam(hostBytes = hostBytes)
  val dut = FormalDut(new VlanStrip(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val behind = FrameStream(hostBytes, RxTarget(p))
  Proof.drive(behind)
  val in = behind.m2sPipe()
  dut.io.in << in
  dut.io.next.valid := behind.valid && in.valid && !in.last
  dut.io.next.payload := behind.payload
  val out = dut.io.out
  anyseq(out.ready)

  // What is told of a frame stands in each of its beats; its length is that of what is left of it.
  val laneBits = log2Up(hostBytes)
  val most = 4 // beats
  val target = behind.fragment.meta
  val starts = Proof.starts(behind)
  val beat = Reg(UInt(2 bits)) init 0
  when(behind.fire)(beat := behind.last ? U(0) | beat + 1)
  assume(beat =/= most - 1 || behind.last)
  val before = RegNextWhen(target.asBits, behind.fire)
  assume(starts || target.asBits === before)
  assume(!target.told || target.strip)
  val mty = behind.fragment.mty
  assume(behind.last || mty === 0)
  val bytes = ((beat +^ 1) @@ U(0, laneBits bits)) - mty // in the frame so far
  val length = target.length + Mux(target.strip, U(4), U(0))
  assume(target.length < most * hostBytes && length >= p.minFrame)
  assume(behind.last === (length <= (beat +^ 1) @@ U(0, laneBits bits)))
  assume(!behind.last || bytes === length)
  // A bit tells bytes apart as well as eight of them.
  val bits = anyseq(Bits(hostBytes bits))
  assume(behind.fragment.data === Cat(bits.asBools.map(bit => B(0, 7 bits) ## bit)))

  // The byte that leaves as number n is number n of the frame, or 4 further.
  val n = anyconst(UInt(laneBits + 2 bits))
  def source(target: RxTarget) = n + Mux(target.strip && n >= 12, U(4), U(0))
  val from = source(target)
  val here = behind.valid && beat === (from >> laneBits)
  val outBeat = Reg(UInt(2 bits)) init 0
  when(out.fire)(outBeat := out.last ? U(0) | outBeat + 1)
  // Of the frame at the exit, while the one behind may have begun.
  val kept = RegNextWhen(bits(from(0, laneBits bits)), here && behind.fire)
  val keptNow = Mux(here && !in.last, bits(from(0, laneBits bits)), kept)
  val leaves = in.fragment.meta
  when(out.valid) {
    val end = (outBeat +^ 1) @@ U(0, laneBits bits)
    assert(out.last === (leaves.length <= end), "a frame of another length")
    assert(out.fragment.mty === (end - leaves.length).resize(laneBits).andMask(out.last), "a frame of another length")
    when(outBeat === (n >> laneBits) && n < leaves.length)(
      assert(out.fragment.data.subdivideIn(8 bits)(n(0, laneBits bits))(0) === keptNow, "another byte")
    )
    val tci = RegNextWhen(B(0, 7 bits) ## bits(14) ## B(0, 7 bits) ## bits(15), starts && behind.fire)
    assert(out.fragment.meta.length === leaves.length && out.fragment.meta.stripped === leaves.told)
    assert(out.fragment.meta.tci === tci.andMask(leaves.told), "another tag is told")
  }
  // Every frame leaves: nothing but the exit holds up the beats.
  when(in.valid && out.ready && (in.last || behind.valid))(assert(in.ready, "a frame stands"))
  cover(out.valid && out.last && leaves.strip && outBeat === 2)
}

class VlanStripFormal extends AnyFunSuite {
  val what = "frames leave byte for byte, without their tag if they lose it"
  for (hostBytes <- Seq(32, 64)) {
    test(s"$what, $hostBytes bytes a beat: 12 cycles") {
      Pdr.bounded(new VlanStripProof(hostBytes), cycles = 12)
    }
    test(s"$what, $hostBytes bytes a beat, for any run", LongTest) {
      Pdr.prove(new VlanStripProof(hostBytes), seconds = 900, reduce = true)
    }
  }
  test("the proof notices a last beat of three or four bytes that is not taken for all that is left", LongTest) {
    val (four, two) = ("(&io_next_payload_fragment_mty[4 : 2])", "(&io_next_payload_fragment_mty[4 : 1])")
    Pdr.catches(new VlanStripProof(32), four, two)
  }
}
