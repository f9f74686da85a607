// SPDX-License-Identifier: Apache-2.0
package meridian.transceiver

import spinal.core._
import spinal.lib._

/** What a port's loopback at the MAC's host side is told and tells (ps clock). Master is who tells. */
case class MacLoopControl() extends Bundle with IMasterSlave {
  val on = Bool() // a register
  val loops = Bool()
  val lost = UInt(32 bits) // frames; wraps
  override def asMaster(): Unit = { out(on); in(loops, lost) }
}

/** The dynamic reconfiguration port of a transceiver channel (UG578, "Dynamic Reconfiguration Port"). */
case class DrpPort() extends Bundle with IMasterSlave {
  val drpen, drpwe = Bool()
  val drpaddr = UInt(DrpPort.addressBits bits)
  val drpdi, drpdo = Bits(16 bits)
  val drprdy = Bool()
  override def asMaster(): Unit = { out(drpen, drpwe, drpaddr, drpdi); in(drpdo, drprdy) }
}

object DrpPort { val addressBits = 10 }

/** What a port's transceiver is told, in the ps clock, and what it tells. */
case class TransceiverPort() extends Bundle with IMasterSlave {
  val loopback = Bits(3 bits)
  val txPrbs, rxPrbs = Bits(4 bits)
  val forceError, resetCount = Bool() // pulses; a count is reset while the clock of the receiver runs
  val eyescanReset = Bool()
  val drp = DrpPort()
  val prbsError = Bool() // high for some cycles after each word with an error
  val rxClock = Bool() // the clock of the receiver runs
  val macLoop = Bool() // frames are to go round at the MAC's host side: MacLoop
  val macLoops = Bool() // they do
  val macLost = UInt(32 bits) // frames that the loop had no room for; wraps
  override def asMaster(): Unit = {
    out(loopback, txPrbs, rxPrbs, forceError, resetCount, eyescanReset, macLoop)
    master(drp)
    in(prbsError, rxClock, macLoops, macLost)
  }
}

/** Pins towards the transceiver of a port, with the names of the 10G/25G Ethernet IP (PG210, additional GT control and
  * status ports). loopback_in and eyescanreset may change at any time; drp* are in ps_clk; what has rx in its name is in
  * mac_rx_clk, what has tx in mac_tx_clk.
  */
case class TransceiverPins() extends Bundle with IMasterSlave {
  val loopback_in = Bits(3 bits)
  val txprbssel, rxprbssel = Bits(4 bits)
  val txprbsforceerr, rxprbscntreset = Bool()
  val rxprbserr = Bool()
  val eyescanreset = Bool()
  val drp = DrpPort()

  /** Resets the data path of the transmitter, like mac_rx_restart of the receiver. */
  val tx_restart = Bool()
  override def asMaster(): Unit = {
    out(loopback_in, txprbssel, rxprbssel, txprbsforceerr, rxprbscntreset, eyescanreset, tx_restart)
    in(rxprbserr)
    master(drp)
  }
}
