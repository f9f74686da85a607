// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** Chooses queue and length of each frame. [[FramePace]] says when it may begin.
  *
  * Lengths go from `sizeFirst` in steps to the last that is not above `sizeLast`, and begin again. Queues take turns.
  *
  * Latency: the frame after one that is taken is offered in the next cycle. Throughput: one frame a cycle.
  */
class FramePlan(p: ShellParam) extends Component {
  val io = new Bundle {
    val run = in Bool () // low: begins anew
    val settings = in(SelfTestSettings(p))
    val last = in(p.queueType())
    val frames = master(Stream(PlannedFrame(p)))
    val complete = out Bool () // all have been taken
  }
  val s = io.settings
  val length = Reg(p.lengthType())
  val queue = Reg(p.queueType())
  val left = Reg(UInt(32 bits))
  val endless = RegNext(s.frames === 0)
  val complete = RegInit(False)

  io.frames.valid := io.run && !complete
  io.frames.payload.queue := queue
  io.frames.length := length
  io.complete := complete

  val longer = length +^ s.sizeStep
  when(io.frames.fire) {
    length := (longer > s.sizeLast) ? s.sizeFirst | longer.resized
    queue := (queue === io.last) ? s.first | (queue + 1)
    left := left - 1
    complete := left === 1 && !endless
  }
  when(!io.run) {
    length := s.sizeFirst
    queue := s.first
    left := s.frames
    complete := False
  }
}
