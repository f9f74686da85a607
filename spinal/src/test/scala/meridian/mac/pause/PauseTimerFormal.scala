// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.{LongTest, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

/** A timer of which anything is asked at any time; one class, chosen by the solver, is followed. */
class ProvenPauseTimer(clock: HertzNumber, rate: Int) extends Component {
  val dut = FormalDut(new PauseTimer(clock, rate))
  assumeInitial(ClockDomain.current.isResetActive)
  anyseq(dut.io.times.valid)
  anyseq(dut.io.times.payload)
  anyseq(dut.io.clear)
  dut.io.skip := 1
  val chosen = UInt(3 bits)
  anyconst(chosen)
  val told = dut.io.times.valid && dut.io.times.enable(chosen)

  /** The last time told, and the time since then, in parts of which a quantum is dut.cycles and a cycle dut.quanta. */
  val whole = Reg(UInt(32 bits)) init 0
  val gone = Reg(UInt(32 bits)) init 0
  when(!gone.msb)(gone := gone + dut.quanta)
  when(told) {
    whole := (dut.io.times.quanta(chosen) * dut.cycles).resized
    gone := 0
  }
  when(dut.io.clear(chosen))(whole := 0)
  assert(whole <= BigInt(0xffff) * dut.cycles)

  val left = Vec(dut.timers.map(_.left.pull()))(chosen)
  val runs = gone < whole
  assert(left.resize(32) === Mux(runs, whole - gone, U(0)))
  assert(dut.io.blocked(chosen) === runs, "blocked for another time than told")
  for (timer <- dut.timers) assert(timer.blocked.pull() === (timer.left.pull() =/= 0))
}

/** By induction, so for runs of any length. */
class PauseTimerFormal extends AnyFunSuite {
  for ((mhz, rate, more) <- Seq(("390.625", 25, Nil), ("250", 25, Seq(LongTest)), ("250", 10, Seq(LongTest))))
    test(s"a class is blocked exactly as long as it was told last, $mhz MHz, $rate Gb/s", more: _*) {
      Proof().withProve(3).doVerify(new ProvenPauseTimer(BigDecimal(mhz) MHz, rate))
    }
}
