// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** A bucket whose inputs may be anything, and what holds once they have been still for its latency. */
class ProvenRateBucket(fraction: Int, floor: Int) extends Component {
  val dut = FormalDut(new RateBucket(fraction, floor))
  assumeInitial(ClockDomain.current.isResetActive)
  anyseq(dut.io.level)
  anyseq(dut.io.spent)
  anyseq(dut.io.rate)
  anyseq(dut.io.refill)
  val inputs = dut.io.level ## dut.io.spent ## dut.io.rate ## dut.io.refill
  val still = Proof.count(inputs === RegNext(inputs), inputs =/= RegNext(inputs), 4)

  def bytes(n: BigInt) = S(n << fraction, 56 bits)
  val burst = (dut.io.rate.resize(56) << fraction >> 3).resize(56).asSInt + bytes(Pacing.baseBytes)
  // What a visit leaves behind.
  val from: SInt = dut.io.level.resize(56 bits)
  assume(from >= bytes(floor) && from <= bytes((1 << 23) + Pacing.baseBytes))
  val gain = dut.io.rate.andMask(dut.io.refill).resize(56).asSInt
  val exact = from - (dut.io.spent.resize(56) << fraction).resize(56).asSInt + gain
  when(still > RateBucket.latency && inputs === RegNext(inputs)) {
    val next = dut.io.next.resize(56)
    when(dut.io.rate === 0) {
      assert(next === 0 && dut.io.full)
    } otherwise {
      assert(next <= burst && next >= bytes(floor))
      when(exact <= burst && exact >= bytes(floor))(assert(next === exact))
      when(exact > burst)(assert(next === burst && dut.io.full))
      when(exact < bytes(floor))(assert(next === bytes(floor)))
    }
  }
}

/** Whatever level, bytes and rate: what is spent is taken in full, what a refill gives is never more than the rate, a full
  * bucket holds the burst, and no step runs over the end of the numbers. So what passes in any time is at most what the
  * rate gives in it and the burst.
  */
class RateBucketFormal extends AnyFunSuite {
  test("a step is exact, and between the limits") {
    // 256 functions, with a host clock of 250 and of 125 MHz.
    for (fraction <- Seq(6, 5)) Proof().withProve(6).doVerify(new ProvenRateBucket(fraction, floor = -(1 << 24)))
  }
}
