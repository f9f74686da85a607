// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import spinal.core._
import spinal.lib._

object BoxWatch {

  /** Cycles that one taken beat makes up for. A box that takes a tenth of the line rate gets no verdict, whatever the size
    * of the frames: most time for a beat have frames of 64 bytes, with the 24 that a frame has on the wire beside its own.
    */
  def perBeat(p: ShellParam): Int = {
    val tenthOfFrame = 10 * (64 + 24) * 8 * p.hostMhz // thousandths of cycles, times Gb/s
    val beats = 64 / p.hostBytes
    val each = p.lineRate * 1000 * beats
    (tenthOfFrame + each - 1) / each
  }
}

/** Tells that a box hangs, by a bucket of cycles. A cycle in which a beat is offered and not taken goes in, unless the
  * shell holds the box up. A taken beat takes `perBeat` of them out, and a cycle without an offer takes one out. A box
  * hangs when the bucket has `limit`: one that takes nothing after that many cycles, one that is too slow somewhat later.
  *
  * Latency: the verdict is there in the cycle after, and stays until `clear`.
  */
class BoxWatch(limitBits: Int, perBeat: Int) extends Component {
  val io = new Bundle {
    val offered, taken = in Bool () // a beat, in this cycle
    val held = in Bool () // by the shell
    val limit = in UInt (limitBits bits) // cycles; 0: for ever
    val clear = in Bool ()
    val hung = out Bool ()
  }
  val hung = RegInit(False)
  val cycles = Reg(UInt(limitBits bits)) init 0
  private def less(by: Int) = (cycles > by) ? (cycles - by) | U(0)
  when(!io.offered)(cycles := less(1)) elsewhen (io.taken)(cycles := less(perBeat)) elsewhen (!io.held && !hung) {
    cycles := cycles + 1
    when(cycles + 1 >= io.limit)(hung := True)
  }
  when(io.limit === 0) {
    cycles := 0
    hung := hung // a verdict stays
  }
  when(io.clear) {
    cycles := 0
    hung := False
  }
  io.hung := hung
}
