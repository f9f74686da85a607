// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.completion.CompletionAdd
import meridian.qdma.{C2hStatusPins, CmptPins}
import spinal.core._
import spinal.lib._

/** Gives a frame's completion away when the frame's last request has left RQ, and not before. Frames and completions are in
  * the same order. A frame that was dropped takes its completion along, unless that is to tell of a bad descriptor.
  *
  * A frame a cycle at most, 2 cycles after its last beat was taken by RQ.
  */
class FrameOrder(frames: Int) extends Component {
  val io = new Bundle {
    val end = slave(Stream(FrameEnd()))
    val written = slave(Flow(Bool())) // one for each end with `requested`, in their order; true: some of it was dropped
    val cmpt = slave(Stream(CmptPins()))
    val add = master(Stream(CompletionAdd()))
    val status = master(Flow(C2hStatusPins()))
    val idle = out Bool () // no frame waits
  }

  val ended = StreamFifo(FrameEnd(), frames, forFMax = true)
  ended.io.push << io.end
  val ends = ended.io.pop
  // At most one more than ends wait, as an end is taken after its request has begun.
  val lost = StreamFifo(Bool(), 2 * frames)
  lost.io.push.valid := io.written.valid
  lost.io.push.payload := io.written.payload
  val completions = io.cmpt.map(_.tdata(127 downto 0)).queue(frames)
  val hasLeft = ends.valid && (!ends.requested || lost.io.pop.valid)
  val isDropped = ends.dropped || (ends.requested && lost.io.pop.payload)
  val isQuiet = isDropped && !ends.failed // nothing is told to the host
  io.add.valid := hasLeft && completions.valid && !isQuiet
  io.add.payload.queue := ends.payload.queue
  io.add.epoch := ends.epoch
  io.add.data := completions.payload
  io.add.error := ends.failed
  val leaves = hasLeft && completions.valid && (isQuiet || io.add.ready)
  ends.ready := leaves
  completions.ready := leaves
  lost.io.pop.ready := leaves && ends.requested
  io.idle := !ends.valid
  io.status.valid := RegNext(leaves) init False
  io.status.qid := RegNext(ends.payload.queue)
  io.status.drop := RegNext(isDropped)
  io.status.last := True
  io.status.cmp := !io.status.drop
  io.status.error := False
}
