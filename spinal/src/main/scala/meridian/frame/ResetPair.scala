// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** Restarts the two sides of a clock crossing together, whichever of their resets is seen, in whatever order, and for
  * however short a time.
  *
  * A side that comes out of reset keeps its pointers as they are until the other side has stopped using them, then
  * clears its own, and goes on when the other has done the same. A side that is told of the other's reset stops at a
  * moment of its own choice (hold), so that a reader can first drain what was stored. Neither side ever works with a
  * pointer of the other from before its clear, whatever the ratio of the clocks, and even when one clock stops for a
  * while: a side clears nothing before the other has seen its reset, and says so after the clear.
  *
  * pushUp, popUp: the side may use the crossing. pushClear, popClear: resets for its pointers, active high, from a
  * register. A restart takes 3 * settle + 10 cycles of the slower clock at the most, counted from the
  * end of the reset, or of the hold.
  *
  * @param settle cycles a flag of the other side must stand before it is believed; a power of two. 4 cover one cycle
  *               by which synchronisers differ; 16 leave room
  */
class ResetPair(val pushCd: ClockDomain, val popCd: ClockDomain, settle: Int = 16) extends Component {
  require(isPow2(settle) && settle >= 4, s"settle is $settle: choose a power of two from 4 on")
  for (cd <- Seq(pushCd, popCd)) require(cd.reset != null, "both clock domains of a ResetPair need a reset pin")

  val io = new Bundle {
    val pushUp, pushClear = out Bool ()
    val popUp, popClear = out Bool ()

    /** Pop domain: something that was stored is still to be read. */
    val popHold = in Bool ()
  }

  /** What a side tells the other: that it has cleared its pointers, that it uses them, and that it sees the other's armed. */
  case class Flags() extends Bundle {
    val armed, up, seen = Bool()
  }
  val pushFlags, popFlags = Flags()

  class Side(cd: ClockDomain, there: Flags, hold: => Bool) extends ClockingArea(cd) {
    val up, armed, clear = RegInit(False)
    val otherArmed = BufferCC(there.armed, False)
    val otherUp = BufferCC(there.up, True)
    // A side whose clock stood still may still believe in the armed of before a reset, and go up by it.
    val believed = BufferCC(there.seen, True)
    val stood = Reg(UInt(log2Up(settle) bits)) init 0
    val wanted = Mux(up, !otherArmed && !hold, Mux(armed, otherArmed, !otherUp && !believed))
    stood := Mux(wanted, stood + 1, U(0))
    when(wanted && stood.andR) {
      when(up) {
        up := False
        armed := False
      } elsewhen (armed) {
        up := True
        clear := False
      } otherwise {
        clear := True
      }
    }
    when(clear && !armed)(armed := True) // a cycle later, when the pointers are clear
  }

  val push = new Side(pushCd, popFlags, False)
  val pop = new Side(popCd, pushFlags, io.popHold)
  for ((side, flags) <- Seq(push -> pushFlags, pop -> popFlags)) {
    flags.armed := side.armed
    flags.up := side.up
    flags.seen := side.otherArmed
  }

  io.pushUp := push.up
  io.pushClear := push.clear
  io.popUp := pop.up
  io.popClear := pop.clear
}

object ResetPair {

  /** Cycles of the slower clock that a restart takes at the most. */
  def longest(settle: Int): Int = 3 * settle + 10

  /** The clock of cd, reset by clear. */
  def clearedBy(cd: ClockDomain, clear: Bool): ClockDomain =
    cd.copy(reset = clear, config = cd.config.copy(resetActiveLevel = HIGH))
}
