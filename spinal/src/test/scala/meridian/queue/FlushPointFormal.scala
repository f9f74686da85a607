// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.{LongTest, Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

/** Things that begin and end in order, and questions at any time. */
class FlushPointProof extends Component {
  val countBits = 2
  val most = (1 << countBits) - 1
  val dut = FormalDut(new FlushPoint(countBits))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  for (input <- Seq(io.begin, io.end, io.flush)) anyseq(input)

  // What is under way, and of it what began before the last question, or with it.
  val open, before = Reg(UInt(countBits bits)) init 0
  open := open + U(io.begin) - U(io.end)
  when(io.end && before =/= 0)(before := before - 1)
  when(io.flush)(before := open + U(io.begin) - U(io.end))
  val asked = RegInit(False) clearWhen io.flushed setWhen io.flush

  when(io.flushed)(assert(asked && before === 0, "an answer before all has ended, or without a question"))
  val waited = Proof.count(asked && before === 0, io.flush || io.flushed || before =/= 0, 7)
  assert(waited <= 2, "all has ended, and no answer comes")
  assert(io.idle === RegNext(open === 0, True))
  cover(io.flushed && open === most)
}

class FlushPointFormal extends AnyFunSuite {
  test("an answer comes when all that began before the last question has ended, and not earlier, for any run") {
    Pdr.prove(new FlushPointProof)
  }
  test("the proof notices an answer to a question that has been replaced", LongTest) {
    Pdr.catches(new FlushPointProof, "(reached && (! io_flush))", "reached")
  }
}
