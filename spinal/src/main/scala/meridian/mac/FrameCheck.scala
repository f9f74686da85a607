// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.frame.RxBeat
import spinal.core._
import spinal.lib._

/** What the beats of a frame say of its length, at its last beat. */
case class FrameCheckResult() extends Bundle {
  val beatsBefore = UInt(13 bits)
  val endless = Bool() // more beats than beatsBefore counts
  val runt, oversize = Bool()

  /** Bytes without FCS, 65535 for anything longer. */
  def length(count: UInt): UInt = {
    val sum = (beatsBefore << 3) +^ count
    Mux(endless || sum.msb, U(0xffff, 16 bits), sum.resize(16))
  }
}

/** Follows the length of each frame; frames may be of any length.
  *
  * Latency: 0 cycles, from registers and the count of the beat. Throughput: one beat a cycle, no back-pressure.
  */
class FrameCheck(p: ShellParam) extends Component {
  val io = new Bundle {
    val beat = slave(Flow(RxBeat()))
    val first = out Bool ()
    val second = out Bool ()
    val result = out(FrameCheckResult())
  }

  val before = Reg(UInt(13 bits)) init 0
  val endless = RegInit(False)

  /** before against words, kept a beat ahead so that a compare is never behind the count of a last beat. */
  class Bound(bytes: Int) extends Area {
    val words = bytes / 8
    val below = RegInit(True)
    val at = RegInit(False)
    when(io.beat.valid) {
      at := before === words - 1
      when(before === words - 1)(below := False)
      when(io.beat.last) {
        at := False
        below := True
      }
    }
    def isBelow(bytesOfLast: UInt): Bool = below || (at && bytesOfLast < bytes % 8)
    def isAbove(bytesOfLast: UInt): Bool = !below && (!at || bytesOfLast > bytes % 8)
  }
  val shortest = new Bound(p.minFrame)
  val longest = new Bound(p.maxFrame)

  when(io.beat.valid) {
    when(before.andR)(endless := True) otherwise (before := before + 1)
    when(io.beat.last) {
      before := 0
      endless := False
    }
  }

  io.first := before === 0
  io.second := before === 1
  io.result.beatsBefore := before
  io.result.endless := endless
  io.result.runt := shortest.isBelow(io.beat.count)
  io.result.oversize := longest.isAbove(io.beat.count)
}
