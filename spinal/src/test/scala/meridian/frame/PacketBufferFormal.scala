// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import meridian.{LongTest, Pdr}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** A small packet buffer with anything at its borders: any frames, drops, aborts and back-pressure. */
class PacketBufferProof extends Component {
  val bytes = 2
  val dut = FormalDut(
    new PacketBuffer(bytes, 16, HardType(Bool()), 4, ClockDomain.current, ClockDomain.current, settle = 4)
  )
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  anyseq(io.push.valid)
  anyseq(io.push.payload)
  anyseq(io.drop)
  anyseq(io.abort)
  anyseq(io.pop.ready)
  assume(io.push.data(8 * bytes - 1 downto 1) === 0) // a bit tells words apart as well as a word does

  val indexBits = 5
  val ends = io.push.fire && io.push.last
  val rolledBack = io.abort || (ends && io.drop)

  // The words committed, counted; the one of any number, and the frame it is in, kept in mind.
  val watched = anyconst(UInt(indexBits bits))
  val commit, write, popIndex = Reg(UInt(indexBits bits)) init 0
  val data = Reg(Bits(8 * bytes bits))
  val mty = Reg(UInt(1 bits))
  val last = Reg(Bool())
  when(io.push.fire) {
    write := write + 1
    when(write === watched) {
      data := io.push.data
      mty := io.push.mty
      last := io.push.last
    }
  }
  when(ends && !rolledBack)(commit := write + 1)
  when(rolledBack)(write := commit)

  // Length and meta of the frame that ends with the watched word.
  val frameWords = Reg(UInt(indexBits bits)) init 0
  when(io.push.fire)(frameWords := frameWords + 1)
  when(ends || io.abort)(frameWords := 0)
  val length = Reg(UInt(16 bits))
  val meta = Reg(Bool())
  when(io.push.fire && io.push.last && write === watched) {
    length := ((frameWords + 1) << 1).resize(16) - io.push.mty
    meta := io.push.meta
  }

  // No frame is longer than the memory: those are swallowed, which is no order to keep.
  assume(frameWords < 6)
  assume(write =/= U(write.getWidth bits, default -> true))

  when(io.pop.fire)(popIndex := popIndex + 1)
  when(io.pop.valid) {
    assert(popIndex < commit, "nothing that was not committed")
    when(popIndex === watched) {
      assert(io.pop.data === data)
      assert(io.pop.mty === mty)
      assert(io.pop.last === last)
      when(last)(assert(io.pop.length === length && io.pop.meta === meta))
    }
  }
  when(pastValid() && past(io.pop.valid && !io.pop.ready) && !past(ClockDomain.current.isResetActive)) {
    assert(io.pop.valid && stable(io.pop.payload), "a beat on offer stays")
  }
  assert(commit - popIndex <= 9, "memory and output register hold no more than they can")
  when(!ClockDomain.current.isResetActive && pastValid()) {
    assert(!dut.descriptors.io.push.isStall.pull(), "a frame that was taken finds room for its descriptor")
  }
  when(io.pop.fire && !io.pop.last)(cover(True))
  cover(popIndex === 3)
}

/** A bounded check: the first 26 cycles after reset, in which the buffer comes up and gives its first frames. */
class PacketBufferFormal extends AnyFunSuite {
  test("no word is lost, comes twice or out of order, and roll-back leaves no trace: 26 cycles") {
    Pdr.bounded(new PacketBufferProof, cycles = 26)
  }
  test("the proof notices a dropped frame that leaves its words", LongTest) {
    val (all, abort) = ("(((push_take && io_push_payload_last) && io_drop) || io_abort)", "io_abort")
    Pdr.catches(new PacketBufferProof, all, abort)
  }
}
