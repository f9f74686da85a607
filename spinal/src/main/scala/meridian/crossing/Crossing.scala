// SPDX-License-Identifier: Apache-2.0
package meridian.crossing

import spinal.core._

/** A register, or the read port of a memory, that looks at another clock.
  *
  * @param kind      sync, bus, held, memory or input, as vivado/tcl/crossings.tcl explains them
  * @param from      paths in the generated Verilog, without the top: registers, a memory, or a pin of the top
  * @param fromClock name of the top's pin; for a pin, the clock of the target, as nobody here knows its own
  * @param reason    of a held crossing: why no bit of `from` moves while `to` takes it over
  */
case class Crossing(
    kind: String,
    from: Seq[String],
    fromClock: String,
    to: String,
    toClock: String,
    reason: String = ""
)

object Crossing {

  /** Says why registers may cross clocks without a synchroniser. */
  case class Held(reason: String) extends SpinalTag {
    override def allowMultipleInstance = false
  }

  /** Declares that `signal` stands still while another clock takes it over, and why: the value to take. A crossing
    * without a synchroniser whose path passes no such value ends the generation. It is a wire, as SpinalHDL would mark a
    * register ASYNC_REG, which is for synchronisers only: Vivado keeps such registers close together and as they are.
    *
    * @param reason a sentence; it goes into Vivado's waiver of the crossing
    */
  def held[T <: Data](signal: T, reason: String): T = {
    require(reason.matches("[A-Za-z0-9 .,;:()'_-]+"), s"'$reason': a reason is a sentence of plain characters")
    val still = CombInit(signal).setCompositeName(signal, "held")
    for (part <- still.flatten) {
      part.addTag(crossClockDomain)
      part.addTag(Held(reason))
    }
    still
  }
}
