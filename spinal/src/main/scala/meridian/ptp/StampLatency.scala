// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._

/** What a frame takes between the connector of a port and where the MAC stamps it: in 2^-16 ns, signed, as a measured
  * difference may be. Set by the PS; a MAC's time is behind the PHC's by rx, and ahead of it by tx.
  */
case class StampLatency() extends Bundle {
  val rx, tx = SInt(32 bits)
}

object StampLatency {

  /** -latency, or the highest value for that of the lowest, which has no opposite. */
  def behind(latency: SInt): SInt = (latency === latency.minValue) ? S(latency.maxValue, 32 bits) | -latency
}
