// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import spinal.core._

/** How many frames may pass. */
case class FrameRate() extends Bundle {
  val rate = UInt(FrameBucket.rateBits bits) // in FrameBucket.unit
  val burst = UInt(FrameBucket.burstBits bits) // frames
}

/** A token bucket that counts frames: in any time no more pass than `burst` and what the rate gives in that time.
  *
  * What a smaller burst has no room for is gone after as many cycles.
  *
  * Latency: 3 cycles from pass to there, so frames are that far apart. Throughput: a token a cycle at most.
  * About 30 LUTs.
  *
  * @param step         added a cycle for a rate of 1
  * @param fractionBits a token is 2^fractionBits
  */
class FrameBucket(step: Int, fractionBits: Int) extends Component {
  import FrameBucket._
  val io = new Bundle {
    val limit = in(FrameRate())

    /** Cycles that this clock edge stands for: 1, except in a simulation that skips idle time. */
    val skip = in UInt (32 bits)

    /** Nobody is bounded: a token a cycle, so that the bucket is full when somebody is. */
    val fill = in Bool ()
    val pass = in Bool ()
    val there = out Bool ()
  }
  require(rateBits + log2Up(step) <= fractionBits, s"fractionBits is $fractionBits: a cycle gives a token at most")

  val left = Reg(UInt(burstBits bits)) init 0
  val fraction = Reg(UInt(fractionBits bits)) init 0
  val gain = if (step == 1) io.limit.rate else RegNext(io.limit.rate * step) init 0
  val full = left >= io.limit.burst

  val sum = fraction +^ gain
  fraction := sum.resized
  val more = (sum.msb || io.fill) && !full
  val less = io.pass || (full && left =/= io.limit.burst)
  when(more =/= less)(left := Mux(more, left + 1, left - 1))
  when(io.skip =/= 1) {
    val total = fraction + gain * io.skip
    val tokens = total >> fractionBits
    val room = io.limit.burst - left
    fraction := total.resized
    when(!full)(left := left + Mux(tokens < room, tokens, room.resized).resized - io.pass.asUInt)
  }
  when(full)(fraction := 0)
  io.there := RegNext(left =/= 0) init False
}

object FrameBucket {
  val rateBits = 10
  val burstBits = 8

  /** Frames a second of a rate of 1, whatever the clock: 390.625 MHz / 2^18, and 156.25 MHz * 5 / 2^19. */
  val unit = BigDecimal(390625000) / (1 << 18)

  def apply(p: ShellParam): FrameBucket = p.lineRate match {
    case 25 => new FrameBucket(1, 18)
    case 10 => new FrameBucket(5, 19)
  }
}
