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
  * pointer of the other from before its clear, even when one clock stops for a while.
  *
  * pushUp, popUp: the side may use the crossing. pushClear, popClear: resets for its pointers, active high, from a
  * register. A restart takes about 2 * settle + 8 cycles of the slower clock.
  *
  * @param settle cycles a flag of the other side must stand before it is believed; a power of two. It has to be longer
  *               than the ratio of the clocks: 16 for any clocks of the shell
  */
class ResetPair(pushCd: ClockDomain, popCd: ClockDomain, settle: Int = 16) extends Component {
  require(isPow2(settle) && settle >= 2, s"settle is $settle: choose a power of two from 2 on")
  for (cd <- Seq(pushCd, popCd)) require(cd.reset != null, "both clock domains of a ResetPair need a reset pin")

  val io = new Bundle {
    val pushUp, pushClear = out Bool ()
    val popUp, popClear = out Bool ()

    /** Pop domain: something that was stored is still to be read. */
    val popHold = in Bool ()
  }

  val pushArmedFlag, pushUpFlag, popArmedFlag, popUpFlag = Bool()

  class Side(cd: ClockDomain, armedThere: Bool, upThere: Bool, hold: => Bool) extends ClockingArea(cd) {
    val up, armed, clear = RegInit(False)
    val otherArmed = BufferCC(armedThere, False)
    val otherUp = BufferCC(upThere, True)
    val stood = Reg(UInt(log2Up(settle) bits)) init 0
    val wanted = Mux(up, !otherArmed && !hold, Mux(armed, otherArmed, !otherUp))
    stood := Mux(wanted, stood + 1, U(0))
    when(wanted && stood.andR) {
      when(up) {
        up := False
        armed := False
      } elsewhen (armed) {
        up := True
        clear := False
      } otherwise {
        armed := True
        clear := True
      }
    }
  }

  val push = new Side(pushCd, popArmedFlag, popUpFlag, False)
  val pop = new Side(popCd, pushArmedFlag, pushUpFlag, io.popHold)
  pushArmedFlag := push.armed
  pushUpFlag := push.up
  popArmedFlag := pop.armed
  popUpFlag := pop.up

  io.pushUp := push.up
  io.pushClear := push.clear
  io.popUp := pop.up
  io.popClear := pop.clear
}

object ResetPair {

  /** The clock of cd, reset by clear. */
  def clearedBy(cd: ClockDomain, clear: Bool): ClockDomain =
    cd.copy(reset = clear, config = cd.config.copy(resetActiveLevel = HIGH))
}
