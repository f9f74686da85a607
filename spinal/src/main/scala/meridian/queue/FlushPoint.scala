// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.promise.Promise
import spinal.core._
import spinal.lib._

/** Reports when everything that began before a moment, or in its cycle, has ended, while more may begin. Things end in
  * the order in which they began, in the same cycle at the earliest.
  *
  * flush marks the moment. flushed answers with a pulse, at the earliest 2 cycles after the last end. A new flush
  * replaces an unanswered one.
  *
  * @param countBits fewer than 2^countBits things are under way at any time
  */
class FlushPoint(countBits: Int) extends Component {
  val io = new Bundle {
    val begin, end, flush = in Bool ()
    val flushed = out Bool ()
    val idle = out Bool ()
  }
  val begun, ended = Reg(UInt(countBits bits)) init 0
  when(io.begin)(begun := begun + 1)
  when(io.end)(ended := ended + 1)
  val busy = RegInit(False)
  val until = Reg(UInt(countBits bits))
  val reached = busy && ended === until
  when(reached)(busy := False)
  when(io.flush) {
    busy := True
    until := begun + U(io.begin)
  }
  io.flushed := RegNext(reached && !io.flush) init False
  io.idle := RegNext(begun === ended) init True
  Promise(!io.end || begun =/= ended || io.begin, "something ends that has not begun")
  Promise(!io.begin || io.end || begun + 1 =/= ended, "too much is under way")
}

object FlushPoint {

  /** Asks several points at once; the pulse comes a cycle after the last of them has answered. */
  def all(flush: Bool, points: FlushPoint*): Bool = {
    val all = Bool()
    val answered = for (point <- points) yield {
      point.io.flush := flush
      RegInit(False) setWhen (point.io.flushed) clearWhen (flush || all)
    }
    all := answered.andR
    all
  }
}
