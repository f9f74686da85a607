// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.meta.TxDestinations
import meridian.settings.FunctionFlags
import spinal.core._
import spinal.lib._

object TxRoute {

  /** The port a function is bound to. Combinational: one 256-to-1 multiplexer, four LUT6 levels. */
  def port(functions: FunctionFlags, function: UInt): UInt =
    functions.port(function.resize(log2Up(functions.port.size)))

  /** Edge virtual bridging, for a port that has it switched on: unicast goes to the PS or to the function that is known
    * for it and to the wire if nobody is, never back to who sent it; broadcast and multicast go to the wire, to the
    * other functions, and to the PS if it wants them. A switch that is off leaves the wire. Combinational.
    *
    * @param veb      the port's switch
    * @param group    the destination is broadcast or multicast
    * @param known    the MAC table has an entry for the destination
    * @param ofSender which is the sender's own
    * @param psExact  the PS listens to the destination
    * @param psWants  by that, or as broadcast or multicast
    */
  def apply(veb: Bool, group: Bool, known: Bool, ofSender: Bool, psExact: Bool, psWants: Bool): TxDestinations = {
    val to = TxDestinations()
    to.wire := !veb || group || !known && !psExact
    to.functions := veb && (group || known && !ofSender && !psExact)
    to.ps := veb && psWants
    to
  }
}
