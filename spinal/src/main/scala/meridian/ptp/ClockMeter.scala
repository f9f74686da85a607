// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import meridian.crossing.Crossing
import spinal.core._
import spinal.lib._

/** Counts the cycles that a clock of a MAC has in each second of the PHC.
  *
  * A second that ends sends a toggle. In the other clock it latches a counter that runs on, and comes back. So the count
  * is right to one cycle of that clock, 0.003 ppm of a second, and wrong by nothing over several. The counter knows no
  * reset: a clock counts also while its side of the MAC is in reset.
  *
  * `cycles` is 0 without a whole second: after a reset of ps, after a step of the PHC, and if the clock has not answered
  * within a second, as it stands still. io.skip is the number of cycles that an edge stands for, 1 in hardware.
  *
  * Latency: 6 cycles of each clock from the second to `cycles`.
  */
class ClockMeter(psCd: ClockDomain, macCd: ClockDomain) extends Component {
  val io = new Bundle {
    val second = in(WholeSecond()) // ps
    val skip = in UInt (32 bits) // mac
    val cycles = out UInt (32 bits) // ps
  }
  val request = new ClockingArea(psCd) {
    val toggle = RegInit(False)
    when(io.second.ends)(toggle := !toggle)
  }
  val mac = new ClockingArea(macCd.withBootReset()) {
    val count = Reg(UInt(32 bits)) init 0
    count := count + io.skip
    val seen = BufferCC(request.toggle, False)
    val answer = RegNext(seen) init False
    val latched = RegNextWhen(count, seen =/= answer) init 0
  }
  val ps = new ClockingArea(psCd) {
    private val still = "A count stands still from its toggle to the next, which is a second of the PTP clock later."
    val answer = BufferCC(mac.answer, False)
    val came = answer =/= (RegNext(answer) init False)
    val waits, whole, known, late = RegInit(False)
    val last = Reg(UInt(32 bits))
    val latched = Crossing.held(mac.latched, still)
    val cycles = Reg(UInt(32 bits)) init 0
    when(came) {
      waits := False
      late := False
      known := !late // it was latched at the end of a second
      last := latched
      cycles := (latched - last).andMask(whole && known && waits)
    }
    when(io.second.ends) {
      waits := True
      whole := io.second.whole
      when(waits) {
        late := True
        known := False
        cycles := 0
      }
    }
  }
  io.cycles := ps.cycles
}
