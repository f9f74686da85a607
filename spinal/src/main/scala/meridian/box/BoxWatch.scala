// SPDX-License-Identifier: Apache-2.0
package meridian.box

import spinal.core._
import spinal.lib._

/** Tells that a box hangs: it has not taken a beat that was offered for so many cycles in which the shell took all that
  * the box offered. Cycles in which the shell holds the box up do not count.
  *
  * Latency: the verdict is there in the cycle after, and stays until `clear`.
  */
class BoxWatch(limitBits: Int) extends Component {
  val io = new Bundle {
    val offered, taken = in Bool () // a beat, in this cycle
    val held = in Bool () // by the shell
    val limit = in UInt (limitBits bits) // cycles; 0: for ever
    val clear = in Bool ()
    val hung = out Bool ()
  }
  val hung = RegInit(False)
  val cycles = Reg(UInt(limitBits bits)) init 0
  when(io.offered && !io.taken && !io.held && !hung) {
    cycles := cycles + 1
    when(cycles + 1 >= io.limit && io.limit =/= 0)(hung := True)
  }
  when(!io.offered || io.taken)(cycles := 0)
  when(io.clear) {
    cycles := 0
    hung := False
  }
  io.hung := hung
}
