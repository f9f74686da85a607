// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.pacing.Pacing
import spinal.core._
import spinal.lib._

/** Says when the next frame may begin.
  *
  * It may once `interval` cycles have passed since the one before began, and the bucket is not below zero: it gains
  * `rate`, pays for each frame that begins, and holds `burst` bytes at most. So the rate is exact over time, if the
  * burst is no less than what the rate gives in 3 cycles; with less, a frame comes a cycle late. The bucket starts empty.
  * Frames that wait for buffers or for the stream gather no further claim than what the bucket holds.
  *
  * Throughput: one frame a cycle, or every other cycle with a rate. `open` comes from registers.
  *
  * @param cycles of those that `rate` is told for, in a cycle of this clock: 1 or 2
  */
class FramePace(p: ShellParam, cycles: Int) extends Component {
  require(cycles == 1 || cycles == 2, s"cycles is $cycles: choose 1 or 2")
  val io = new Bundle {
    val run = in Bool () // low: begins anew
    val settings = in(SelfTestSettings(p))
    val begun = slave(Flow(p.lengthType())) // a frame of so many bytes begins
    val open = out Bool () // one may
  }
  val s = io.settings
  val spaced = RegNext(s.interval > 1) init False
  val pause = Reg(UInt(32 bits))
  val pauses = RegInit(False)
  when(pauses) {
    pause := pause - 1
    when(pause === 2)(pauses := False)
  }
  when(io.begun.valid) {
    pause := s.interval
    pauses := spaced
  }

  val fractionBits = Pacing.rateShift
  val levelBits = fractionBits + 18
  val bucket = Reg(SInt(levelBits bits))
  val bounded = RegNext(s.rate =/= 0) init False
  // A frame pays in the cycle behind its first, in which no other may begin: so whether it begins is known early enough.
  val pays = RegNext(io.begun.valid) init False
  // A cycle late: the bucket may hold what the rate gives in two cycles more.
  val full = RegNext(!pays && bucket >= (U(0, 2 bits) @@ s.burst @@ U(0, fractionBits bits)).asSInt) init False
  val gain = (s.rate << (cycles - 1)).andMask(!full)
  val cost = RegNext(io.begun.payload).andMask(pays)
  bucket := bucket + gain.resize(levelBits).asSInt - (U(0, 2 bits) @@ cost @@ U(0, fractionBits bits)).asSInt

  io.open := !pauses && !(bounded && (pays || bucket.msb))
  when(!io.run) {
    pauses := False
    bucket := 0
  }
}
