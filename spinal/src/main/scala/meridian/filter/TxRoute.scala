// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import spinal.core._
import spinal.lib._

/** Where a frame of a function goes: today always out of the port its function is bound to.
  *
  * This is the place for card-internal switching, rate limits and a flow table. It is asked after the owner of the queue
  * is known and before the anti-spoof lookup, with one register behind it; a route that needs more cycles lengthens
  * TxLookup, and TxFilter's word buffer holds 32 beats for that.
  */
object TxRoute {

  /** Combinational: one 256-to-1 multiplexer, four LUT6 levels. */
  def apply(functions: FunctionFlags, function: UInt): UInt =
    functions.port(function.resize(log2Up(functions.port.size)))
}
