// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import spinal.core._

/** How long frames may wait for buffers of their rings, and so hold up the frames of all other queues: `limit` cycles
  * at once, and a ninth of the time in the long run, whatever software does. When the time is used up, no frame may
  * wait until all of it has come back, 8 cycles for each.
  */
class FrameWait(limit: Int) extends Component {
  require(limit >= 1, s"limit is $limit: choose at least a cycle")
  val io = new Bundle {
    val starve = in Bool () // the first frame has no buffers, and may wait
    val wake = in Bool () // something has come for it; a wake in the cycle of a starve counts
    val leaves = in Bool () // the first frame was served or dropped
    val waits = out Bool ()
    val mayWait = out Bool ()
    val idle = out Bool () // no time is used, and none has to come back
  }

  val waits, holds = RegInit(False) // holds: the frame has had to wait, and is still there
  val mayWait = RegInit(True)
  val spent = RegInit(U(0, log2Up(limit + 1) bits))
  val step = RegInit(U(0, 3 bits))
  step := step + 1
  io.waits := waits
  io.mayWait := mayWait
  io.idle := !holds && spent === 0

  when(spent === 0)(mayWait := True)
  when(io.starve) {
    waits := True
    holds := True
  }
  when(io.leaves)(holds := False)
  when(holds) {
    when(spent =/= limit)(spent := spent + 1) otherwise {
      mayWait := False
      waits := False
    }
  } elsewhen (spent =/= 0 && step === 0)(spent := spent - 1)
  when(io.wake)(waits := False)
}
