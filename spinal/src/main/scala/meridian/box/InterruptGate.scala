// SPDX-License-Identifier: Apache-2.0
package meridian.box

import spinal.core._

object InterruptGate {
  val gapBits = 24

  /** Cycles in a millisecond, which is the gap after a reset. */
  def millisecond(mhz: Int): Int = mhz * 1000
}

/** Makes of events what a reader is told. An event sets `pending`, which stays until the reader acknowledges it, and is set
  * by another event only when `gap` cycles have passed since. So whatever the events are, the reader is told once in `gap`
  * cycles at most, and not before it has acknowledged. An event while `pending` is set is covered by it: a reader
  * acknowledges first, and then looks at what has happened. One that comes after the acknowledgement, and within the gap,
  * sets `pending` at the end of the gap.
  *
  * Latency: `pending` is set in the cycle after the event. One event a cycle.
  */
class InterruptGate extends Component {
  val io = new Bundle {
    val event, acknowledge = in Bool ()
    val gap = in UInt (InterruptGate.gapBits bits)
    val pending = out Bool ()
    val idle = out Bool () // nothing changes until an event
  }
  val pending, again = RegInit(False)
  val left = Reg(UInt(InterruptGate.gapBits bits)) init 0
  val resting = left =/= 0
  when(resting)(left := left - 1)
  when(io.acknowledge)(pending := False)
  when(!pending || io.acknowledge) {
    when(io.event)(again := True)
    when(!pending && !resting && (io.event || again)) {
      pending := True
      again := False
      left := io.gap
    }
  }
  io.pending := pending
  io.idle := !resting && !again
}
