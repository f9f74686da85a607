// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The choice with anything at its borders. Two bits of a beat say where it comes from. */
class PsFirstProof(controls: Boolean) extends Component {
  val dut = FormalDut(new PsFirst(Bits(3 bits), controls))
  assumeInitial(ClockDomain.current.isResetActive)
  val (host, ps, out) = (dut.io.host, dut.io.ps, dut.io.chosen)
  val inputs = Seq(host, ps) ++ (if (controls) Seq(dut.io.control) else Nil)
  private def source(beat: Fragment[Bits]): Bits = beat.fragment(2 downto 1)
  for ((input, i) <- inputs.zipWithIndex) {
    Proof.drive(input)
    assume(source(input.payload) === i)
  }
  anyseq(out.ready)

  // A frame once started goes through to its end.
  val starts = inputs.map(Proof.starts(_))
  val outStarts = Proof.starts(out)
  val from = RegNextWhen(source(out.payload), out.fire) init 0
  when(out.valid && !outStarts)(assert(source(out.payload) === from, "frames do not mix"))
  assert(dut.io.fromPs === (from === 1))
  if (controls) assert(dut.io.isControl === (from === 2))

  // At the start of a frame the later input goes first, so that one of it waits for one other frame at most.
  for (i <- 1 until inputs.size) {
    val before = inputs.take(i)
    val free = inputs.drop(i + 1).map(!_.valid).fold(True)(_ && _)
    when(out.fire && outStarts && inputs(i).valid && free)(assert(inputs(i).fire, "it goes first"))
    when(inputs(i).valid && starts(i))(
      for ((other, k) <- before.zipWithIndex) assert(!other.fire || !starts(k), "none starts while it waits")
    )
    val ended = before.map(other => other.fire && other.last).orR
    val passed = Proof.count(ended, !inputs(i).valid || inputs(i).fire, 2).setName(s"passed$i")
    assert(passed <= 1)
    when(passed === 1) {
      assert(before.indices.map(starts(_)).andR)
      if (i == inputs.size - 1) assert(outStarts)
    }
    cover(passed === 1 && inputs(i).fire)
  }

  // Nothing is lost, made or changed, and nothing waits without a cause.
  assert(CountOne(inputs.map(_.fire)) === out.fire.asUInt.resized)
  for ((input, i) <- inputs.zipWithIndex) {
    when(input.fire)(assert(out.payload.asBits === input.payload.asBits))
    when(out.ready && input.valid && !starts(i))(assert(input.fire))
  }
  when(out.ready && outStarts && inputs.map(_.valid).orR)(assert(out.fire))
  assert(outStarts === starts.andR)
  assert(CountOne(starts.map(!_)) <= 1)
  assert(dut.first.pull() === outStarts)
  for ((start, i) <- starts.zipWithIndex) when(!start)(assert(from === i))
}

/** By induction, so for runs of any length. */
class PsFirstFormal extends AnyFunSuite {
  test("the PS goes first at the start of a frame, frames do not mix") {
    Proof().withProve(3).withCover(10).doVerify(new PsFirstProof(controls = false))
  }
  test("frames of flow control go before those of the PS, these before those of the host, frames do not mix") {
    Proof().withProve(3).withCover(10).doVerify(new PsFirstProof(controls = true))
  }
}
