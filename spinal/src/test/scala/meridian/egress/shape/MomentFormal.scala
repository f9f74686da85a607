// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import meridian.{LongTest, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

/** Any moments and changes of them; the time goes on by a cycle each, told to a ns. */
class ProvenMoment(hundredths: Int) extends Component {
  val dut = FormalDut(new Moment(TimeNumber(BigDecimal(hundredths) * BigDecimal("1e-11"))))
  assumeInitial(ClockDomain.current.isResetActive)

  /** The true time in ns, and 0.01 ns below; it does not run over its end. */
  val exact = Reg(UInt(64 bits))
  val below = Reg(UInt(7 bits))
  val sum = below +^ (hundredths % 100)
  val carry = sum >= 100
  below := Mux(carry, sum - 100, sum).resize(7)
  exact := exact + hundredths / 100 + carry.asUInt
  assume(below < 100 && exact > 1000 && !exact.msb)
  val told = UInt(64 bits)
  anyseq(told)
  assume(told <= exact + 1 && told >= exact - 1)
  dut.io.now := told
  val target = Reg(UInt(64 bits))
  assume(target > 100 && !target.msb)
  val changed = Bool()
  anyseq(changed)
  val next = UInt(64 bits)
  anyseq(next)
  when(changed)(target := next)
  dut.io.target := target
  dut.io.changed := changed

  // What follows io.reached is a cycle behind it.
  val gate = RegNext(dut.io.reached) init False
  val goal = RegNext(target)
  val steps = Proof.count(True, False, 7)
  when(gate && steps > 5)(assert(exact >= goal, "the moment has not come"))
  cover(gate && steps > 5)
}

/** By induction, so for runs of any length. */
class MomentFormal extends AnyFunSuite {
  for ((rate, hundredths, more) <- Seq((25, 256, Nil), (10, 640, Seq(LongTest))))
    test(s"what follows a moment is never before it, $rate Gb/s", more: _*) {
      Proof().withProve(8).withCover(10).doVerify(new ProvenMoment(hundredths))
    }
}
