// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

/** A gate that is closed at any time. */
class ProvenFrameGate extends Component {
  val dut = FormalDut(new FrameGate(Bits(2 bits)))
  assumeInitial(ClockDomain.current.isResetActive)
  val (input, output) = (dut.io.input, dut.io.output)
  Proof.drive(input)
  anyseq(dut.io.closed)
  anyseq(output.ready)
  val starts = Proof.starts(output)
  assert(dut.first.pull() === starts)
  when(dut.io.closed && starts)(assert(!output.valid, "a frame begins at a closed gate"))
  when(!starts && input.valid)(assert(output.valid, "a frame that has begun is held up"))
  when(!dut.io.closed)(assert(output.valid === input.valid))
  assert(output.fire === input.fire && (!output.fire || output.payload.asBits === input.payload.asBits))
  cover(input.fire && !starts && dut.io.closed)
}

/** By induction, so for runs of any length. */
class FrameGateFormal extends AnyFunSuite {
  test("no frame begins at a closed gate, and none is held up inside") {
    Proof().withProve(3).withCover(5).doVerify(new ProvenFrameGate)
  }
}
