// SPDX-License-Identifier: Apache-2.0
package meridian.filter.vlan

import meridian.{Pdr, Proof, ShellParam}
import meridian.meta.TxVerdict
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The inserter with anything at its borders; any byte of any one of the first frames is followed through it. */
class VlanInsertProof extends Component {
  val p = ShellParam(hostBytes = 32)
  val dut = FormalDut(new VlanInsert(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val (words, decisions, beats) = (dut.io.words, dut.io.decisions, dut.io.beats)
  Proof.drive(words)
  Proof.drive(decisions)
  anyseq(beats.ready)
  when(!words.last)(assume(words.mty === 0))
  assert(Proof.holds(beats))

  val which = anyconst(UInt(2 bits)) // the frame
  val at = anyconst(UInt(7 bits)) // the byte of it, as it came

  /** Where a stream stands: in which frame, and at which byte of it. */
  class Place(fire: Bool, last: Bool) extends Area {
    val frame = Proof.count(fire && last, False, 7)
    val byte = Reg(UInt(10 bits)) init 0
    when(fire)(byte := last ? U(0, 10 bits) | byte + p.hostBytes)
    val mine = frame === which
    def end(mty: UInt): UInt = byte + p.hostBytes - mty

    /** The byte at a place of the frame, if this beat has it. */
    def has(at: UInt, mty: UInt): Bool = mine && at >= byte && at < end(mty)
    def value(at: UInt, data: Bits): Bits = data.subdivideIn(8 bits)((at - byte).resize(5))
  }
  val in = new Place(words.fire, words.last)
  val out = new Place(beats.fire, beats.last)
  val decided = Proof.count(decisions.fire, False, 7)

  // A word at the head may leave in two parts: what it says is taken when it is there.
  val decision = RegNextWhen(decisions.payload, decisions.valid && decided === which)
  val place = at.resize(10)
  val came = words.valid && in.has(place, words.mty)
  val seen = RegInit(False) setWhen (came)
  val value = RegNextWhen(in.value(place, words.data), came)
  val length = RegNextWhen(in.end(words.mty), words.valid && words.last && in.mine)

  val tagged = decision.tag.insert && decision.verdict === TxVerdict.sent
  val moved = place + Mux(tagged && place >= 12, U(4, 10 bits), U(0, 10 bits))
  when(beats.valid && out.has(moved, beats.mty)) {
    when(seen)(assert(out.value(moved, beats.data) === value, "a byte has changed or moved"))
  }
  when(beats.valid && out.mine) {
    assert(beats.decision.asBits === decision.asBits)
    when(!beats.last)(assert(beats.mty === 0))
    when(beats.last) {
      assert(out.end(beats.mty) === length + Mux(tagged, U(4, 10 bits), U(0, 10 bits)), "a frame has another length")
      when(place < length)(assert(seen))
    }
    when(tagged && out.byte === 0 && out.end(beats.mty) >= 16) {
      val tci = decision.tag.tci
      assert(beats.data(127 downto 96) === tci(7 downto 0) ## tci(15 downto 8) ## B(0x0081, 16 bits))
    }
  }
  assert(out.frame <= in.frame || in.frame === 7)

  cover(beats.fire && beats.last && out.mine && tagged && which === 2 && length === 30)
  cover(beats.fire && beats.last && out.mine && tagged && length === 64)
}

class VlanInsertFormal extends AnyFunSuite {
  test("every byte of a frame leaves once and in its place, four behind the addresses of one with a tag") {
    Pdr.bounded(new VlanInsertProof, cycles = 8, seconds = 200)
  }
}
