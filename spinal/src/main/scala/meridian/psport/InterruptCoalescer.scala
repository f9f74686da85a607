// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import spinal.core._
import spinal.lib._

/** Turns the completions of a ring into one latched interrupt cause.
  *
  * The cause is set when the first completion since the last clear is control.microseconds old, or when control.frames
  * completions have come, whichever is first; with microseconds 0 it is set at once. It stays set until software clears
  * it. Software clears it before it looks at the ring: completions before the clear are then visible in the ring, and
  * those in the cycle of the clear or later set the cause again, so none is ever left without a cause. The enable bit
  * has no effect here: the cause is also set while disabled, and shows when it is enabled.
  *
  * Latency: 2 cycles beyond the configured time.
  *
  * @param cyclesPerMicrosecond clock cycles in a microsecond
  */
class InterruptCoalescer(cyclesPerMicrosecond: Int) extends Component {
  require(
    cyclesPerMicrosecond >= 1 && cyclesPerMicrosecond <= 1000,
    s"cyclesPerMicrosecond is $cyclesPerMicrosecond: choose 1 to 1000"
  )
  val io = new Bundle {
    val control = in(CoalesceControl())
    val event = in Bool ()
    val clear = in Bool ()

    /** Cycles that this clock edge stands for. */
    val skip = in UInt (32 bits)
    val status = out Bool ()

    /** Cycles until time alone sets the cause; all ones: it does not. */
    val remaining = out UInt (32 bits)
  }
  val status, pending = RegInit(False)
  val count = Reg(UInt(8 bits)) init 0
  val timer = Reg(UInt(32 bits)) init 0
  val limit = RegNext((io.control.microseconds * cyclesPerMicrosecond).resize(32 bits)) init 0

  val running = pending && !status
  val advanced = timer +^ io.skip
  when(running)(timer := advanced.msb ? U(0xffffffffL, 32 bits) | advanced.resize(32 bits))
  val full = io.control.frames =/= 0 && count >= io.control.frames
  when(running && (timer >= limit || full))(status := True)

  when(io.event) {
    pending := True
    when(!count.andR)(count := count + 1)
  }
  when(io.clear) {
    status := False
    pending := io.event
    count := U(io.event).resized
    timer := 0
  }
  io.status := status
  io.remaining := U(0xffffffffL, 32 bits)
  when(running)(io.remaining := (timer >= limit) ? U(0, 32 bits) | limit - timer)
}
