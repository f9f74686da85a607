// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The admission with any frames, and stores that are full or out of use at any time. */
class EgressAdmissionProof extends Component {
  val p = ShellParam(egress = true)
  val dut = FormalDut(new EgressAdmission(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val input = dut.io.input
  Proof.drive(input)
  for (store <- dut.io.stores) {
    anyseq(store.push.ready)
    anyseq(store.full)
    anyseq(store.up)
  }
  assume(input.data >> 1 === 0) // a bit tells beats apart
  val starts = Proof.starts(input)
  assume(starts || input.meta.paced === RegNextWhen(input.meta.paced, input.fire))

  // Never a wait for a frame that is not paced, nor for one whose store is out of use.
  val high = Mux(starts, input.meta.high, RegNextWhen(input.meta.high, input.fire && starts))
  def ofChosen(flag: EgressStore => Bool) = Mux(high, flag(dut.io.stores(1)), flag(dut.io.stores(0)))
  when(input.valid && !input.meta.paced)(assert(input.ready, "a frame that is not paced waits"))
  when(input.valid && !ofChosen(_.up))(assert(input.ready, "a frame waits for a store that is not in use"))
  when(input.valid && ofChosen(_.push.ready))(assert(input.ready, "a frame waits beside room"))

  // Each frame is either stored whole or taken back, and lost exactly in the second case; no other store sees it.
  val whole = RegInit(True) // all beats of the frame up to now are stored
  val upAll = RegInit(True)
  val stored = input.fire && ofChosen(s => s.push.valid && s.push.ready)
  val ends = input.fire && input.last
  when(input.fire)(whole := whole && stored)
  when(!starts || input.fire)(upAll := upAll && ofChosen(_.up))
  when(ends) {
    whole := True
    upAll := True
    assert(ofChosen(_.abort) === !(whole && stored), "a frame is stored in parts")
    assert(ofChosen(_.abort) || upAll && ofChosen(_.up), "a frame is stored during which the store was not in use")
    assert(
      dut.io.lost.orR === (ofChosen(_.abort) && !input.meta.drop),
      "a frame is lost and not told, or told and not lost"
    )
  } otherwise {
    assert(dut.io.lost === 0, "a frame is told as lost before its end")
  }
  for ((store, i) <- dut.io.stores.zipWithIndex) {
    when(high =/= Bool(i == 1))(
      assert(!store.push.valid && !store.abort && !dut.io.lost(i), "a frame is in two classes")
    )
    when(store.abort)(assert(ends, "a frame is taken back before its end"))
    when(store.push.fire) {
      assert(store.push.last === input.last && store.push.data === input.data && store.push.meta === input.meta.paced)
      assert(store.drop === input.meta.drop)
    }
  }
  // A paced frame is lost for a store that was not in use alone.
  when(dut.io.lost.orR && input.meta.paced)(
    assert(!upAll || !ofChosen(_.up), "a paced frame is lost beside a store in use")
  )
  cover(dut.io.lost(0) && !starts)
  cover(ends && whole && stored && high && !starts)
}

class EgressAdmissionFormal extends AnyFunSuite {
  test("a frame is stored whole or lost whole and told, and only paced frames wait, for any run") {
    Pdr.prove(new EgressAdmissionProof)
  }
  test("the proof notices a frame whose class changes within it", LongTest) {
    Pdr.catches(
      new EgressAdmissionProof,
      "(first ? io_input_payload_fragment_meta_high : begun)",
      "io_input_payload_fragment_meta_high"
    )
  }
}
