// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** Tells when a moment has come, so that a register that follows io.reached changes at that moment or behind it, never
  * before: within two cycles and 2 ns.
  *
  * Times are in ns. io.now is the time of the cycle, and may be wrong by 1 ns either way. What the comparison takes is added
  * to it, rounded down.
  *
  * Latency: io.reached is right from the third cycle on in which io.target is there; it is low before, if io.changed is
  * high in the cycle before the first. Throughput: a comparison a cycle.
  *
  * @param period of the clock
  */
class Moment(period: TimeNumber) extends Component {
  val io = new Bundle {
    val now, target = in UInt (64 bits)
    val changed = in Bool () // the target changes with the end of this cycle
    val reached = out Bool ()
  }
  val lead = (Moment.latency * period.toBigDecimal * 1000000000).toBigInt - 1
  require(lead >= 0, s"period is $period: choose 1 ns or more")
  val early = io.target - lead // a register's time before the sum of now would be longer
  val goal = RegNext(early)
  val now = RegNext(io.now)
  val above = RegNext(now(63 downto 32) > goal(63 downto 32)) init False
  val same = RegNext(now(63 downto 32) === goal(63 downto 32)) init False
  val below = RegNext(now(31 downto 0) >= goal(31 downto 0)) init False
  val settling = Reg(UInt(2 bits)) init 3
  when(io.changed)(settling := 3) elsewhen (settling =/= 0)(settling := settling - 1)
  io.reached := RegNext(above || (same && below), False) && settling === 0
}

object Moment {

  /** Cycles from io.now to a register that follows io.reached: two within, that of io.reached, and that register. */
  val latency = 4
}
