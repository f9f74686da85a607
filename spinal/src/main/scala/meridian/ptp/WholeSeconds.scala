// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._

/** The end of a second of the PHC. */
case class WholeSecond() extends Bundle {
  val ends = Bool() // a pulse
  val whole = Bool() // with it: the PHC made no step since the second began
}

object WholeSeconds {

  /** Cycles in which the clocks of the MACs have answered, if they run. */
  val answer = 64
}

/** Says when a second of the PHC has ended, for [[ClockMeter]]s (ps clock).
  *
  * `number` counts whole seconds, `answer` cycles after their end, when the meters have them. A step of the PHC ends no second.
  *
  * io.quietCycles tells a simulation how many cycles it may skip, so that it leaves out neither the turn of a second nor
  * the cycles that the meters need behind it. Like that of [[QuietTime]] it is right while a cycle adds less than 8 ns.
  *
  * Latency: 1 cycle from the turn to `ends`.
  */
class WholeSeconds extends Component {
  val io = new Bundle {
    val time = in(PtpFineTime())
    val stepped = in Bool ()
    val second = out(WholeSecond())
    val number = out UInt (16 bits)
    val quietCycles = out UInt (32 bits)
  }
  val turned = io.time.seconds.lsb =/= (RegNext(io.time.seconds.lsb) init False) && !io.stepped
  val broken = RegInit(True) clearWhen turned setWhen io.stepped
  val second = Reg(WholeSecond())
  second.ends.init(False)
  second.ends := turned
  second.whole := !broken
  io.second := second

  val left = Reg(UInt(log2Up(WholeSeconds.answer + 1) bits)) init 0
  val counts = RegInit(False)
  val number = Reg(UInt(16 bits)) init 0
  when(left =/= 0)(left := left - 1)
  when(left === 1 && counts)(number := number + 1)
  when(second.ends) {
    left := WholeSeconds.answer
    counts := second.whole
  }
  io.number := number

  val quiet = new Area {
    private val longestStep = 8 // ns
    private val margin = 24 // cycles
    val until = RegNext(U(Phc.second, 30 bits) - io.time.nanoseconds.resize(30))
    val whole = RegNext(until >> log2Up(longestStep))
    val cycles = Reg(UInt(32 bits)) init 0
    cycles := (whole > margin && left === 0) ? (whole.resize(32 bits) - margin) | U(0)
    io.quietCycles := cycles
  }
}
