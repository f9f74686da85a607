// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import meridian.crossing.Crossing
import spinal.core._
import spinal.lib._

/** A count of the cycles of a clock, on demand, seen from who asks (ps clock). */
case class ClockLatch() extends Bundle with IMasterSlave {
  val begin = Bool() // a pulse; has no effect while busy
  val busy = Bool()
  val still = Bool() // the last latch found that the clock stands still, and count is of one before
  val count = UInt(32 bits)
  override def asMaster(): Unit = {
    out(begin)
    in(busy, still, count)
  }
}

object ClockMeter {

  /** Cycles of ps in which a clock that runs has answered. That of a MAC at 10 Gb/s takes 10, one of 10 MHz 120. */
  val patience = 256
}

/** Counts the cycles of a clock of a MAC, for who compares it with the PHC.
  *
  * A latch sends a toggle. In the other clock it latches a counter that runs on, and comes back. So the difference of two
  * counts is right to one cycle of that clock, however far they are apart; the counter wraps. Neither counter nor toggle
  * knows a reset: a clock counts also while its side of the MAC is in reset.
  *
  * A clock stands still if it has not answered in [[ClockMeter.patience]] cycles. Until it has, each further latch finds
  * at once that it stands still. So a late answer, which is of another moment than that of its latch, is no count.
  *
  * io.skip is the number of cycles that an edge stands for, 1 in hardware. A simulation must skip nothing while busy.
  *
  * Latency: from io.latch.begin to the end of busy 4 cycles of each clock; 3 to 4 of the other clock to the moment that is
  * counted.
  */
class ClockMeter(psCd: ClockDomain, macCd: ClockDomain, patience: Int = ClockMeter.patience) extends Component {
  val io = new Bundle {
    val latch = slave(ClockLatch()) // ps
    val skip = in UInt (32 bits) // mac
  }
  val request = new ClockingArea(psCd.withBootReset()) {
    val toggle = RegInit(False)
  }
  val mac = new ClockingArea(macCd.withBootReset()) {
    val count = Reg(UInt(32 bits)) init 0
    count := count + io.skip
    val seen = BufferCC(request.toggle, False)
    val answer = RegNext(seen) init False
    val latched = RegNextWhen(count, seen =/= answer) init 0
  }
  val answer = psCd.withBootReset()(BufferCC(mac.answer, False))
  val ps = new ClockingArea(psCd) {
    val waits, still = RegInit(False)
    val left = Reg(UInt(log2Up(patience) bits)) init 0
    val count = Reg(UInt(32 bits)) init 0
    val answered = answer === request.toggle
    val latched =
      Crossing.held(mac.latched, "A count stands still from its answer to the next toggle, which waits for the answer.")
    when(waits) {
      left := left - 1
      when(answered) {
        count := latched
        waits := False
      } elsewhen (left === 0) {
        still := True
        waits := False
      }
    } elsewhen (io.latch.begin) {
      still := !answered
      waits := answered
      left := patience - 1
      when(answered)(request.toggle := !request.toggle)
    }
  }
  io.latch.busy := ps.waits
  io.latch.still := ps.still
  io.latch.count := ps.count
}
