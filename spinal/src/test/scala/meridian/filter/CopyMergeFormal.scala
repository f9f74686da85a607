// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The merge with anything at its borders. A beat carries a bit that says where it comes from. */
class CopyMergeProof(copyAfter: Int) extends Component {
  val dut = FormalDut(new CopyMerge(Bits(2 bits), copyAfter))
  assumeInitial(ClockDomain.current.isResetActive)
  val (unicast, copy, out) = (dut.io.unicast, dut.io.copy, dut.io.out)
  Proof.drive(unicast)
  Proof.drive(copy)
  anyseq(out.ready)
  val (unicastStarts, copyStarts) = (Proof.starts(unicast), Proof.starts(copy))
  anyseq(dut.io.unicastThere)
  when(!unicastStarts)(assume(dut.io.unicastThere === unicast.valid))
  assume(!unicast.fragment.msb && copy.fragment.msb)

  // A frame once started goes through to its end.
  val ofCopy = RegNextWhen(out.fragment.msb, out.fire)
  val outStarts = Proof.starts(out)
  when(out.valid && !outStarts)(assert(out.fragment.msb === ofCopy, "frames do not mix"))
  assert(Proof.holds(out))

  // Nothing is lost, made or changed.
  val taken = unicast.fire || copy.fire
  assert(!(unicast.fire && copy.fire))
  val held = RegInit(False) setWhen (taken) clearWhen (out.fire && !taken)
  assert(out.valid === held)
  when(out.valid) {
    val beat = RegNextWhen(Mux(copy.fire, copy.payload, unicast.payload), taken)
    assert(out.payload.asBits === beat.asBits)
  }

  // What is told of the beat behind is the beat that comes, and it is told whenever it is there.
  val next = dut.io.next
  when(out.valid && next.valid)(assert(!out.last))
  when(out.fire && next.valid)(
    assert(taken && next.payload.asBits === Mux(copy.fire, copy.payload, unicast.payload).asBits)
  )
  when(out.fire && !out.last && taken)(assert(next.valid))

  // Nothing waits without a cause.
  when(out.ready || !out.valid) {
    when(unicastStarts && copyStarts && (unicast.valid || copy.valid))(assert(taken))
    when(unicast.valid && !unicastStarts)(assert(unicast.fire))
    when(copy.valid && !copyStarts)(assert(copy.fire))
  }
  assert(unicastStarts || copyStarts)

  // A copy that is there waits for copyAfter unicast frames at most, a unicast frame for one copy.
  val copyDone = copy.fire && copy.last
  val unicastDone = unicast.fire && unicast.last
  val passedCopy = Proof.count(unicastDone, !copy.valid || copy.fire, copyAfter + 1)
  val passedUnicast = Proof.count(copyDone, !unicast.valid || unicast.fire, 2)
  assert(passedCopy <= copyAfter)
  assert(passedUnicast <= 1)
  // What copies cost is bounded: one that starts before waiting unicast has let copyAfter frames go first.
  val since = Proof.count(unicastDone, copyDone, copyAfter)
  when(copy.fire && copyStarts && unicast.valid)(assert(since === copyAfter))

  // For the induction: where the monitors and the merge stand to each other.
  val (ahead, inFrame, owner) = (dut.ahead.pull(), dut.inFrame.pull(), dut.ofCopy.pull())
  assert(since === ahead && passedCopy <= ahead)
  assert(inFrame === !(unicastStarts && copyStarts))
  when(inFrame)(assert(owner === !copyStarts))
  when(held)(assert(inFrame === !out.last))
  when(held && inFrame)(assert(owner === out.fragment.msb))
  when(!held)(assert(outStarts === !inFrame))
  when(!held && inFrame)(assert(ofCopy === owner))
  when(passedCopy === copyAfter)(assert(unicastStarts))
  when(passedUnicast === 1)(assert(ahead < copyAfter && copyStarts))

  cover(passedCopy === copyAfter)
  cover(passedUnicast === 1 && unicast.fire)
}

/** By induction, so for runs of any length; the limit is small, the structure the same. */
class CopyMergeFormal extends AnyFunSuite {
  test("frames do not mix, copies and unicast wait a bounded time") {
    Proof().withProve(4).withCover(12).doVerify(new CopyMergeProof(3))
  }
}
