// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import meridian.{LongTest, Pdr, TwoClocks}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** A small buffer between two clocks of which each is reset at any time, with any frames, drops, aborts and back-pressure.
  * Each word of data says which frame it is of, which word, and whether it is the last.
  */
class PacketBufferResetProof(dropper: Boolean) extends Component {
  assumeInitial(ClockDomain.current.isResetActive)
  val clocks = new TwoClocks
  val (pushing, popping) = (clocks.push, clocks.pop)
  val kind = HardType(Bits(2 bits))
  val dut = FormalDut(new PacketBuffer(2, 16, kind, 4, pushing.cd, popping.cd, settle = 4))
  TwoClocks.skew(dut)
  val (push, pop) = (dut.io.push, dut.io.pop)
  anyseq(pop.ready)

  // Of all frames any one is followed: those before it carry a 0, it a 1, those behind it a 2.
  val gone = RegInit(False)
  val kindNow = push.meta
  val word = Reg(UInt(2 bits)) init 0 // of the frame that is written
  val offered = FrameStream(2, kind)
  anyseq(offered.payload)
  assume(offered.data(15 downto 5) === 0)
  assume(offered.data(4 downto 0) === offered.meta ## word ## offered.last)
  val taken, ends, kept = Bool() // in this cycle: a word, the last of a frame; and the frame counts as written
  if (dropper) {
    val in = FormalDut(pushing.cd(new FrameDropper(2, kind)))
    anyseq(in.io.input.valid)
    anyseq(in.io.drop)
    in.io.input.payload := offered.payload
    offered.valid := in.io.input.valid
    offered.ready := True
    push << in.io.push
    dut.io.drop := False
    dut.io.abort := in.io.abort
    in.io.up := dut.io.up
    taken := in.io.input.valid && pushing.works
    ends := taken && offered.last
    kept := ends && !in.io.lost && !in.io.drop
  } else {
    anyseq(offered.valid)
    anyseq(dut.io.drop)
    anyseq(dut.io.abort)
    push << offered
    taken := push.fire && pushing.works
    ends := taken && push.last || dut.io.abort && pushing.works
    val upAll = RegInit(True)
    when(taken && !dut.io.up)(upAll := False)
    when(ends)(upAll := True)
    kept := taken && push.last && !dut.io.drop && !dut.io.abort && dut.io.up
  }
  // A reset ends what its writer was about to write.
  val torn = pushing.works && pushing.reset
  when(taken)(word := word + 1)
  when(ends || torn)(word := 0)
  val first = RegInit(True)
  when(taken)(first := False)
  when(ends || torn)(first := True)
  val kindOf = RegNextWhen(offered.meta, taken)
  when(!first)(assume(offered.meta === kindOf))
  when(gone)(assume(offered.meta === 2)) otherwise (assume(offered.meta === 0 || offered.meta === 1))
  when(taken && offered.meta === 1 && (ends || torn))(gone := True)
  when(!first && kindOf === 1 && (ends || torn))(gone := True)
  assume(!(word === 3 && taken && !offered.last)) // frames of four words at most

  // What is read: words in order, one frame after another.
  val popped = pop.fire && popping.works
  val seen = RegInit(False) setWhen (popped && pop.last && pop.meta === 1)
  val after = RegInit(False) setWhen (popped && pop.meta === 2)
  val stored = RegInit(False) setWhen (kept && offered.meta === 1)
  val emptied = RegInit(False) setWhen (stored && !seen && !dut.pair.io.popUp.pull())
  val at = Reg(UInt(2 bits)) init 0
  when(popped)(at := pop.last ? U(0) | at + 1)
  when(popping.works && popping.reset)(at := 0)
  when(pop.valid && popping.works) {
    assert(pop.data === B(0, 11 bits) ## pop.meta ## at ## pop.last, "a word of another frame, or not the next one")
    assert(pop.length === (at +^ U(1)).resize(16) * 2 - pop.mty || !pop.last, "another length")
    assert(pop.meta =/= 3)
    when(pop.meta === 0)(assert(!seen && !after, "a frame is behind its successor, or there twice"))
    when(pop.meta === 1)(assert(stored && !seen && !after, "a frame that was not written, is late or there twice"))
    when(pop.meta === 2)(assert(gone && (!stored || seen || emptied), "a frame is lost, or invented"))
  }
  cover(seen && after && !emptied)
  cover(emptied && after)
}

/** A bounded check: the first 26 steps of either clock. */
class PacketBufferResetFormal extends AnyFunSuite {
  for ((dropper, name) <- Seq(false -> "a buffer", true -> "a buffer behind a dropper"))
    test(s"$name: a frame is whole or not there, once, in order, whichever side is reset: 26 steps", LongTest) {
      Pdr.bounded(new PacketBufferResetProof(dropper), cycles = 26)
    }
  test("the proof notices a frame that lost a beat for want of room, and is not told as lost", LongTest) {
    Pdr.catches(new PacketBufferResetProof(dropper = true), "(gone || (! io_push_ready))", "gone", cycles = 26)
  }
}
