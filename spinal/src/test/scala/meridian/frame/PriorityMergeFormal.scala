// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The merge with anything at its borders. A beat carries a bit that says where it comes from. */
class PriorityMergeProof(secondAfter: Int) extends Component {
  val dut = FormalDut(new PriorityMerge(Bits(2 bits), secondAfter))
  assumeInitial(ClockDomain.current.isResetActive)
  val (first, second, out) = (dut.io.first, dut.io.second, dut.io.out)
  Proof.drive(first)
  Proof.drive(second)
  anyseq(out.ready)
  val (firstStarts, secondStarts) = (Proof.starts(first), Proof.starts(second))
  anyseq(dut.io.firstThere)
  when(!firstStarts)(assume(dut.io.firstThere === first.valid))
  assume(!first.fragment.msb && second.fragment.msb)

  // A frame once started goes through to its end.
  val ofSecond = RegNextWhen(out.fragment.msb, out.fire)
  val outStarts = Proof.starts(out)
  when(out.valid && !outStarts)(assert(out.fragment.msb === ofSecond, "frames do not mix"))
  assert(Proof.holds(out))

  // Nothing is lost, made or changed.
  val taken = first.fire || second.fire
  assert(!(first.fire && second.fire))
  val held = RegInit(False) setWhen (taken) clearWhen (out.fire && !taken)
  assert(out.valid === held)
  when(out.valid) {
    val beat = RegNextWhen(Mux(second.fire, second.payload, first.payload), taken)
    assert(out.payload.asBits === beat.asBits)
  }

  // What is told of the beat behind is the beat that comes, and it is told whenever it is there.
  val next = dut.io.next
  when(out.valid && next.valid)(assert(!out.last))
  when(out.fire && next.valid)(
    assert(taken && next.payload.asBits === Mux(second.fire, second.payload, first.payload).asBits)
  )
  when(out.fire && !out.last && taken)(assert(next.valid))

  // Nothing waits without a cause.
  when(out.ready || !out.valid) {
    when(firstStarts && secondStarts && (first.valid || second.valid))(assert(taken))
    when(first.valid && !firstStarts)(assert(first.fire))
    when(second.valid && !secondStarts)(assert(second.fire))
  }
  assert(firstStarts || secondStarts)

  // A frame of the second that is there waits for secondAfter of the first at most, one of the first for one.
  val secondDone = second.fire && second.last
  val firstDone = first.fire && first.last
  val passedSecond = Proof.count(firstDone, !second.valid || second.fire, secondAfter + 1)
  val passedFirst = Proof.count(secondDone, !first.valid || first.fire, 2)
  assert(passedSecond <= secondAfter)
  assert(passedFirst <= 1)
  // What the second costs is bounded: one that starts before a waiting first has let secondAfter of them go.
  val since = Proof.count(firstDone, secondDone, secondAfter)
  when(second.fire && secondStarts && first.valid)(assert(since === secondAfter))

  // For the induction: where the monitors and the merge stand to each other.
  val (ahead, inFrame, owner) = (dut.ahead.pull(), dut.inFrame.pull(), dut.ofSecond.pull())
  assert(since === ahead && passedSecond <= ahead)
  assert(dut.secondDue.pull() === (ahead === secondAfter))
  assert(inFrame === !(firstStarts && secondStarts))
  when(inFrame)(assert(owner === !secondStarts))
  when(held)(assert(inFrame === !out.last))
  when(held && inFrame)(assert(owner === out.fragment.msb))
  when(!held)(assert(outStarts === !inFrame))
  when(!held && inFrame)(assert(ofSecond === owner))
  when(passedSecond === secondAfter)(assert(firstStarts))
  when(passedFirst === 1)(assert(ahead < secondAfter && secondStarts))

  cover(passedSecond === secondAfter)
  cover(passedFirst === 1 && first.fire)
}

/** By induction, so for runs of any length; the limit is small, the structure the same. */
class PriorityMergeFormal extends AnyFunSuite {
  test("frames do not mix, none waits without bound") {
    Proof().withProve(4).withCover(12).doVerify(new PriorityMergeProof(3))
  }
}
