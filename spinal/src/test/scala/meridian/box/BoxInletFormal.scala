// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The inlet with a box that takes beats when it likes, and is opened and closed at any time. */
class BoxInletProof extends Component {
  val bytes = 4
  val dut = FormalDut(new BoxInlet(bytes))
  assumeInitial(ClockDomain.current.isResetActive)
  val frames = dut.io.frames
  Proof.drive(frames)
  assume(frames.last || frames.mty === 0)
  anyseq(dut.io.open)
  anyseq(dut.io.box.ready)
  assume(frames.data(0) === Proof.starts(frames))

  val box = dut.io.box
  val open = dut.io.open
  val stalled = RegNext(box.isStall && open) init False
  when(stalled && open)(
    assert(box.valid && box.payload.asBits === RegNext(box.payload.asBits), "a beat on offer stays")
  )
  // From the first cycle in which it is open the box sees whole frames.
  val begins = RegNextWhen(box.last, box.fire) init True
  when(!open)(begins := True)
  when(box.valid)(assert(box.data(0) === begins, "a box sees a part of a frame"))
  assert(!box.valid || open, "a closed box sees a frame")
  assert(open || frames.ready, "a closed box stalls")
  val ends = frames.fire && frames.last
  assert(ends === (dut.io.passed || dut.io.dropped) && !(dut.io.passed && dut.io.dropped), "a frame counts once")
  assert(dut.io.passed === (box.fire && box.last))
  cover(dut.io.passed && RegNext(dut.io.dropped, False))
}

class BoxInletFormal extends AnyFunSuite {
  test("a box sees whole frames, whenever it is opened and closed, and each frame counts once, for any run") {
    Pdr.prove(new BoxInletProof)
  }
}
