// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The choice with anything at its borders. A beat carries a bit that says where it comes from. */
class PsFirstProof extends Component {
  val dut = FormalDut(new PsFirst(Bits(2 bits)))
  assumeInitial(ClockDomain.current.isResetActive)
  val (host, ps, out) = (dut.io.host, dut.io.ps, dut.io.chosen)
  Proof.drive(host)
  Proof.drive(ps)
  anyseq(out.ready)
  assume(!host.fragment.msb && ps.fragment.msb)

  // A frame once started goes through to its end.
  val (hostStarts, psStarts, outStarts) = (Proof.starts(host), Proof.starts(ps), Proof.starts(out))
  val fromPs = RegNextWhen(out.fragment.msb, out.fire) init False
  when(out.valid && !outStarts)(assert(out.fragment.msb === fromPs, "frames do not mix"))
  assert(dut.io.fromPs === fromPs)

  // At the start of a frame the PS goes first, so that it waits for one host frame at most.
  when(out.fire && outStarts && ps.valid)(assert(ps.fire, "the PS goes first"))
  when(ps.valid && psStarts)(assert(!host.fire || !hostStarts, "no host frame starts while the PS waits"))
  val passed = Proof.count(host.fire && host.last, !ps.valid || ps.fire, 2)
  assert(passed <= 1)
  when(passed === 1)(assert(hostStarts && outStarts))

  // Nothing is lost, made or changed, and nothing waits without a cause.
  assert(out.fire === (host.fire ^ ps.fire) && !(host.fire && ps.fire))
  when(host.fire)(assert(out.payload.asBits === host.payload.asBits))
  when(ps.fire)(assert(out.payload.asBits === ps.payload.asBits))
  when(out.ready) {
    when(outStarts && (host.valid || ps.valid))(assert(out.fire))
    when(host.valid && !hostStarts)(assert(host.fire))
    when(ps.valid && !psStarts)(assert(ps.fire))
  }
  assert(outStarts === (hostStarts && psStarts))
  assert(dut.first.pull() === outStarts)
  when(!outStarts)(assert(fromPs === !psStarts && fromPs === hostStarts))

  cover(passed === 1 && ps.fire)
}

/** By induction, so for runs of any length. */
class PsFirstFormal extends AnyFunSuite {
  test("the PS goes first at the start of a frame, frames do not mix") {
    Proof().withProve(3).withCover(10).doVerify(new PsFirstProof)
  }
}
