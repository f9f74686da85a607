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

  /** Declares that what passes `signal` stands still while another clock takes it over, and why. The signal is the
    * register on either side, or a wire between them. A crossing without a synchroniser that passes no such signal ends
    * the generation.
    *
    * @param reason a sentence; it goes into Vivado's waiver of the crossing
    */
  def held[T <: Data](signal: T, reason: String): T = {
    require(reason.matches("[A-Za-z0-9 .,;:()'_-]+"), s"'$reason': a reason is a sentence of plain characters")
    for (part <- signal.flatten) {
      part.addTag(crossClockDomain)
      part.addTag(Held(reason))
    }
    signal
  }
}
