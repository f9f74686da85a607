// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._

/** A signed step of the clock in two's complement: `nanoseconds` + `fraction` * 2^-32 ns, so -0.25 ns is
  * nanoseconds = -1, fraction = 0xC0000000. nanoseconds is within -1e9 to 1e9.
  */
case class PtpStep() extends Bundle {
  val fraction = UInt(32 bits)
  val nanoseconds = SInt(33 bits)
}

/** What the software of the clock commands.
  *
  *   - `increment`: what a cycle adds, 8 bits of ns above 32 bits of 2^-32 ns. A new value acts 5 cycles later.
  *   - `set`: io.time is this value in the next cycle. nanoseconds is below 1e9. Steps that are still on their way are
  *     dropped: the value set is the value had.
  *   - `adjust`: 5 cycles later io.time is ahead by this amount of what it would have been, to the last bit.
  *     One a cycle is possible. Of a set and an adjust in the same cycle the set counts. For steps beyond 1 s read the
  *     time and set it.
  */
case class PhcControl() extends Bundle with IMasterSlave {
  val increment = UInt(40 bits)
  val set = Flow(PtpFineTime())
  val adjust = Flow(PtpStep())
  override def asMaster(): Unit = {
    out(increment)
    master(set, adjust)
  }
}
