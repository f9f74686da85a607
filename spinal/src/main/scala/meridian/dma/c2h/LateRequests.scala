// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import spinal.core._

/** Whether requests that were begun before a queue's change still wait for RQ. PayloadWriter sees the change, and
  * `settled` says so, 4 cycles after `change`; until what had begun by then has left, it is `late`.
  */
class LateRequests extends Component {
  val io = new Bundle {
    val change = in Bool ()
    val issued, left = in UInt (8 bits) // see PayloadWriter
    val settled, late = out Bool ()
  }

  val pause = RegInit(U(3, 2 bits))
  val target = Reg(UInt(8 bits)) init 0
  val late = RegInit(False)
  io.settled := pause.andR
  io.late := late
  when(!(io.left - target).msb)(late := False)
  when(!io.settled) {
    pause := pause + 1
    target := io.issued
    late := True
  }
  when(io.change)(pause := 0)
}
