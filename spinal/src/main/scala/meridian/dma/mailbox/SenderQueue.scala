// SPDX-License-Identifier: Apache-2.0
package meridian.dma.mailbox

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** VFs whose message waits at their PF, the oldest first. One can leave from any place, and has one place at most.
  *
  * A change is seen a cycle later; not both changes in one cycle.
  */
class SenderQueue(places: Int) extends Component {
  val io = new Bundle {
    val add = slave(Flow(DmaParam.functionType()))
    val remove = slave(Flow(DmaParam.functionType()))
    val clear = in Bool ()
    val waits = out Bool ()
    val first = out(DmaParam.functionType())
  }

  val used = RegInit(B(0, places bits)) // from the lowest on, without gaps
  val senders = Vec.fill(places)(Reg(DmaParam.functionType()))
  io.waits := used(0)
  io.first := senders(0)

  val matches = (0 until places).map(i => used(i) && senders(i) === io.remove.payload)
  when(io.remove.valid) {
    // Those behind the one that leaves move up.
    for (i <- 0 until places) when(matches.take(i + 1).orR) {
      used(i) := (if (i + 1 < places) used(i + 1) else False)
      if (i + 1 < places) senders(i) := senders(i + 1)
    }
  } elsewhen (io.add.valid) {
    for (i <- 0 until places) when(!used(i) && (if (i == 0) True else used(i - 1))) {
      used(i) := True
      senders(i) := io.add.payload
    }
  }
  when(io.clear)(used := 0)
}
