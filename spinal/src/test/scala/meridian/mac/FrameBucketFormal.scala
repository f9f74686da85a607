// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.{LongTest, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

/** A bucket with any rate and burst, which stay, and frames at any time; from any moment on they are bounded. */
class ProvenFrameBucket(step: Int, fractionBits: Int) extends Component {
  val dut = FormalDut(new FrameBucket(step, fractionBits))
  assumeInitial(ClockDomain.current.isResetActive)
  val limit = dut.io.limit
  anyconst(limit.rate)
  anyconst(limit.burst)
  dut.io.skip := 1
  val fill, offered = Bool()
  anyseq(fill)
  dut.io.fill := fill
  anyseq(offered)
  val passed = offered && dut.io.there
  dut.io.pass := passed
  val since = Proof.count(True, passed, 3) // cycles after a frame that passed
  assume(!passed || since === 3)

  /** Tokens in 2^-fractionBits; what is over in a full bucket is gone in the next cycle. */
  val bits = 64
  def tokens(n: UInt): UInt = (n << fractionBits).resize(bits)
  val (left, fraction) = (dut.left.pull(), dut.fraction.pull())
  val credit = tokens(left) + fraction.andMask(left < limit.burst).resize(bits)
  val gain = (limit.rate * step).resize(bits)
  val full = left >= limit.burst

  // Nothing runs over an end, and a burst holds.
  assert(left <= limit.burst)
  assert(!passed || left =/= 0)
  assert(dut.io.there === (RegNext(left =/= 0) init False))
  if (step != 1) assert(dut.gain.pull() === RegNext(limit.rate * step, U(0)))

  // A cycle gives the rate, and takes a token a frame; a full bucket takes nothing.
  val before = RegNext(credit) init 0
  val added = RegNext(dut.gain.pull().resize(bits)) init 0
  val taken = RegNext(passed.asUInt) init 0
  val wasFull = RegNext(full) init True
  val started = RegNext(True) init False
  when(started && !(RegNext(fill) init True)) {
    val exact = before + added - tokens(taken)
    when(wasFull)(assert(credit === before - tokens(taken)))
    when(!wasFull && !full)(assert(credit === exact))
    when(!wasFull && full)(assert(credit === tokens(limit.burst) && credit <= exact + tokens(taken)))
  }

  // From any moment on: no more frames than the burst and what the rate gives.
  val chosen = Bool()
  anyseq(chosen)
  val runs = RegInit(False) setWhen chosen
  assume(!runs || !fill)
  val earned, spent = Reg(UInt(bits bits)) init 0
  when(runs) {
    earned := earned + gain
    when(passed)(spent := spent + tokens(U(1)))
  }
  assert(runs || (earned === 0 && spent === 0))
  assume(!earned.msb && !spent.msb)
  assert(credit + spent <= tokens(limit.burst) + earned)
  assert(spent <= tokens(limit.burst) + earned, "more passed than burst and rate")

  // A frame passes when there are tokens: a bucket that had one two cycles ago, and gave none since, lets it.
  when(left =/= 0 && RegNext(left =/= 0, False) && since === 3)(assert(dut.io.there))
  cover(spent > tokens(limit.burst) && limit.burst > 1)
}

/** By induction, so for runs of any length. */
class FrameBucketFormal extends AnyFunSuite {
  for ((rate, step, fractionBits, more) <- Seq((25, 1, 18, Nil), (10, 5, 19, Seq(LongTest))))
    test(s"in any time no more passes than burst and rate, and no less than there are tokens, $rate Gb/s", more: _*) {
      Proof().withProve(4).doVerify(new ProvenFrameBucket(step, fractionBits))
    }
}
