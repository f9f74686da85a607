// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.{LongTest, Pdr}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Frames with any numbers of two queues, of which any one is followed. */
class SequenceCheckProof extends Component {
  val bits = 3
  val dut = FormalDut(new SequenceCheck(2, bits))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  anyseq(io.look)
  anyseq(io.frame.valid)
  anyseq(io.frame.payload)
  assume(!io.frame.payload.andR) // the number behind the last is not reached in practice

  // Both queues are cleared first.
  val cycle = Reg(UInt(2 bits)) init 0
  when(!cycle.andR)(cycle := cycle + 1)
  io.clear.valid := cycle < 2
  io.clear.payload := cycle.resized
  when(!cycle.andR)(assume(!io.frame.valid))

  val followed = UInt(1 bits)
  anyconst(followed)
  val its = io.frame.valid && RegNext(io.look) === followed
  val expected = Reg(UInt(bits bits)) init 0
  val late = io.frame.payload < expected
  when(its && !late)(expected := io.frame.payload + 1)

  val asked = RegNext(its, False)
  when(asked) {
    assert(io.verdict.valid && io.verdict.late === RegNext(late))
    when(!io.verdict.late)(assert(io.verdict.skipped === RegNext(io.frame.payload - expected)))
  }
  assert(io.verdict.valid === RegNext(io.frame.valid, False))

  // The numbers that have come or were skipped are those below the one expected.
  val good, passed, over = Reg(UInt(bits bits)) init 0
  when(asked) {
    good := good + 1
    when(io.verdict.late)(passed := passed + 1) otherwise (over := over + io.verdict.skipped)
  }
  val before = RegNext(expected) init 0
  assert(before === good - passed + over, "frames and counts do not add up")
  cover(asked && io.verdict.late)
  cover(asked && io.verdict.skipped === 3)
}

class SequenceCheckFormal extends AnyFunSuite {
  test("good frames and skipped numbers add up, and each frame is judged by those before it, for any run") {
    Pdr.prove(new SequenceCheckProof, seconds = 170)
  }
  test(
    "the proof notices a frame that follows another of its queue at once, and is judged by what is stored",
    LongTest
  ) {
    Pdr.catches(new SequenceCheckProof, "(lastValid && (lastQueue == queue))", "(1'b0 && (lastQueue == queue))")
  }
}
