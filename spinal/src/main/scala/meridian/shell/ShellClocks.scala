// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import spinal.core._

/** The clock domains of the shell, made from its pins. All resets are synchronous to their clock, as the IP gives them. */
case class ShellClocks(pins: ShellPins) {
  private def config(level: Polarity) =
    ClockDomainConfig(clockEdge = RISING, resetKind = SYNC, resetActiveLevel = level)

  val host = ClockDomain(pins.axi_aclk, pins.axi_aresetn, config = config(LOW))
  val ps = ClockDomain(pins.ps_clk, pins.ps_resetn, config = config(LOW))
  val macRx = pins.port.map(port => ClockDomain(port.mac_rx_clk, port.mac_rx_reset, config = config(HIGH)))
  val macTx = pins.port.map(port => ClockDomain(port.mac_tx_clk, port.mac_tx_reset, config = config(HIGH)))
}
