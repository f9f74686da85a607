// SPDX-License-Identifier: Apache-2.0
package meridian.transceiver

import spinal.core._
import spinal.lib._

/** Says whether the pattern checker of a receiver has found its pattern, from its error pin alone: not every release of
  * the Ethernet IP has the pin that tells it.
  *
  * Time is cut into windows. A window without an error locks. One that has errors from its first cycle to its last
  * unlocks: a checker that has not found its pattern finds errors in nearly every word. One that has some errors leaves
  * it: that is a lane with a high bit error rate. `off` unlocks at once.
  *
  * Latency: two windows. io.skip is the number of cycles an edge stands for, 1 in hardware. A window that a simulation
  * leaves time out of is not judged.
  *
  * @param window cycles of a window, a power of two
  */
class PrbsLock(window: Int = PrbsLock.window) extends Component {
  require(isPow2(window) && window >= 64, s"window is $window: choose a power of two, at least 64")
  val io = new Bundle {
    val error = in Bool () // high for some cycles after each word with an error
    val off = in Bool () // no pattern is looked for, or no clock
    val skip = in UInt (32 bits)
    val locked = out Bool ()
  }
  val left = Reg(UInt(log2Up(window) bits)) init window - 1
  val good, bad = RegInit(True)
  val locked = RegInit(False)
  when(io.error)(good := False) otherwise (bad := False)
  left := left - 1
  when(left === 0) {
    left := window - 1
    good := True
    bad := True
    when(good && !io.error)(locked := True)
    when(bad && io.error)(locked := False)
  }
  when(io.off)(locked := False)
  when(io.off || io.skip =/= 1) {
    good := True
    bad := True
    left := window - 1
  }
  io.locked := locked
}

object PrbsLock {

  /** 256 ns of 250 MHz, 100 words of 64 bits at 25 Gb/s: of random words nearly each has an error. A lane that has an error
    * in every 40 ns of such a time, or in every 100 ns at 10 Gb/s, counts as one without the pattern: that is one bit of
    * 1,000.
    */
  val window = 64
}
