// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{LongTest, Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The outlet with a box that does anything: it takes back beats, changes them, and breaks every rule of a frame. A beat
  * carries the parity of its frame, whether it is the first of one, and its keep, so that frames are told apart.
  */
class BoxOutletProof(minFrame: Int = 6, maxFrame: Int = 11) extends Component {
  val bytes = 4
  val dut = FormalDut(new BoxOutlet(bytes, minFrame, maxFrame))
  assumeInitial(ClockDomain.current.isResetActive)
  val box = dut.io.box
  anyseq(box.valid)
  anyseq(box.payload)
  anyseq(dut.io.open)
  anyseq(dut.io.frames.ready)

  val parity = RegInit(False) toggleWhen (box.fire && box.last || !dut.io.open)
  val first = RegNextWhen(box.last, box.fire) init True
  when(!dut.io.open)(first := True)
  assume(box.data(0) === parity && box.data(1) === first && box.data(7 downto 4) === box.keep)

  val out = dut.io.frames
  assert(Proof.holds(out), "a beat on offer stays")
  val begins = Proof.starts(out)
  val beats = Proof.count(out.fire && !out.last, out.fire && out.last, 7)
  val length = (beats << 2) + (U(bytes) - out.mty)
  val dropped = out.last && out.meta.drop
  val all = B(bytes bits, default -> True)
  val said = Mux(out.last, all |>> out.mty, all)
  val wrong = RegInit(False) setWhen (out.fire && out.data(7 downto 4) =/= said) clearWhen (out.fire && out.last)
  when(out.valid) {
    assert(!out.meta.drop || out.last, "only the last beat drops")
    assert(out.last || out.mty === 0, "a beat before the last is full")
    assert(beats < (maxFrame + bytes - 1) / bytes, "a frame ends")
    when(out.last && !out.meta.drop)(assert(!wrong && out.data(7 downto 4) === said, "a frame has bytes that are none"))
    when(out.last && !out.meta.drop)(assert(length >= minFrame && length <= maxFrame, "a frame has a length"))
    // A frame begins with the first beat of one of the box, and goes on with the same.
    val owner = RegNextWhen(out.data(0), out.fire)
    when(!dropped)(assert(out.data(1) === begins, "a frame has lost a beat, or has one of another"))
    when(!dropped && !begins)(assert(out.data(0) === owner, "frames mix"))
  }
  // A frame that is under way while the box is closed ends.
  val closed = Proof.count(!dut.io.open && out.ready, dut.io.open || !out.ready, 3)
  when(closed === 3)(assert(begins && !out.valid, "a closed box leaves a frame open"))
  cover(out.fire && out.last && !out.meta.drop && length === maxFrame)
  cover(out.fire && out.last && !out.meta.drop && length === minFrame)
}

class BoxOutletFormal extends AnyFunSuite {
  test("frames are well formed and whole whatever the box does, for any run") {
    Pdr.prove(new BoxOutletProof)
  }
  test("frames are well formed if the largest fills its last beat and the smallest is below one, for any run") {
    Pdr.prove(new BoxOutletProof(minFrame = 3, maxFrame = 8))
  }
  test("the proof notices a frame of which a beat before the last was not full", LongTest) {
    Pdr.catches(new BoxOutletProof, "broken <= bad;", "broken <= 1'b0;")
  }
}
