// SPDX-License-Identifier: Apache-2.0
package meridian.box

import spinal.core._
import spinal.lib._

/** Says when the next frame may begin so that a stream brings no more than the wire of a port could: a box that makes
  * frames of its own takes nothing of the other ports. A frame counts as 20 bytes more, 4 less than on the wire, so that a
  * wire that is a little fast is not held up. A burst of one more largest frame may pass.
  *
  * Latency: a frame is known in the cycle after its first beat.
  */
class WirePace(lineRate: Int, hostMhz: Int, maxFrame: Int) extends Component {
  val io = new Bundle {
    val begins = slave(Flow(UInt(16 bits))) // a frame of so many bytes
    val may = out Bool ()
  }
  val rate = 2 * lineRate * 1000 / hostMhz / 8 // half bytes a cycle
  require(rate * hostMhz * 4 == lineRate * 1000, s"$lineRate Gb/s are no whole half bytes at $hostMhz MHz")
  val burst = 2 * maxFrame
  val debt = Reg(UInt(log2Up(2 * burst + (1 << 7)) bits)) init 0
  val left = Mux(debt > rate, debt - rate, U(0))
  debt := left
  when(io.begins.valid)(debt := left + ((io.begins.payload +^ 20) << 1).resize(debt.getWidth))
  io.may := debt <= burst
}
