// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.pacing.Pacing
import spinal.core._
import spinal.lib._

/** Chooses queue and length of each frame, and when it may go.
  *
  * Lengths go from `sizeFirst` in steps to the last that is not above `sizeLast`, and begin again. Queues take turns. A
  * frame is offered once `interval` cycles have passed since the one before, and the bucket is not below zero: it gains
  * `rate`, pays for each frame, and holds `burst` bytes at most. So the rate is exact over time; the bucket starts empty.
  * A frame that is not taken waits, and others do not gather behind it, beyond what the bucket holds.
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
  val pause = Reg(UInt(32 bits))
  val pauses = RegInit(False)

  val fractionBits = Pacing.rateShift
  val levelBits = fractionBits + 18
  val bucket = Reg(SInt(levelBits bits))
  val bounded = RegNext(s.rate =/= 0) init False
  // A cycle late: the bucket may hold what the rate gives in two cycles more.
  val full = RegNext(bucket >= (U(0, 2 bits) @@ s.burst @@ U(0, fractionBits bits)).asSInt) init False
  val gain = (if (p.hostMhz == 125) (s.rate << 1) else s.rate).andMask(!full)
  val cost = length.andMask(io.frames.fire)
  bucket := bucket + gain.resize(levelBits).asSInt - (U(0, 2 bits) @@ cost @@ U(0, fractionBits bits)).asSInt

  io.frames.valid := io.run && !complete && !pauses && !(bounded && bucket.msb)
  io.frames.payload.queue := queue
  io.frames.length := length
  io.complete := complete

  when(pauses) {
    pause := pause - 1
    when(pause === 2)(pauses := False)
  }
  val longer = length +^ s.sizeStep
  when(io.frames.fire) {
    length := (longer > s.sizeLast) ? s.sizeFirst | longer.resized
    queue := (queue === io.last) ? s.first | (queue + 1)
    left := left - 1
    complete := left === 1 && !endless
    pause := s.interval
    pauses := s.interval > 1
  }
  when(!io.run) {
    length := s.sizeFirst
    queue := s.first
    left := s.frames
    complete := False
    pauses := False
    bucket := 0
  }
}
