// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import spinal.lib.bus.amba4.axilite._

/** The AXI4-Lite bus on which accesses of BAR2 reach the registers, and what it tells beside them. */
object BarBus {

  /** Lowest of the eight bits of m_axil_awuser and m_axil_aruser that hold the number of the function. Public text on
    * these wires is thin: examples and drivers only show that the function is in the lowest byte. If a build of the IP
    * puts it elsewhere, this is the place.
    */
  val functionLsb = 0
  val userBits = 55

  val config = AxiLite4Config(addressWidth = 32, dataWidth = 32)
}
