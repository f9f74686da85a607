// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ptp.PtpTime
import spinal.core._
import spinal.lib._

/** Receive side of the Ethernet MAC IP, as the shell sees it. There is no ready: what comes must be taken.
  * tuser at tlast: the frame is bad (FCS, length or code error). The FCS is already removed. The timestamp pulse comes
  * with the first beat of its frame or later, at the latest with tlast. The clock the MAC stamps with comes from the PTP
  * side of the shell.
  */
case class MacRxPins() extends Bundle with IMasterSlave {
  val tvalid = Bool()
  val tdata = Bits(64 bits)
  val tkeep = Bits(8 bits)
  val tlast = Bool()
  val tuser = Bool()
  val tstampValid = Bool()
  val tstamp = PtpTime()
  override def asMaster(): Unit = out(tvalid, tdata, tkeep, tlast, tuser, tstampValid, tstamp)
}

/** Transmit side of the Ethernet MAC IP, as the shell sees it. Inside a frame tvalid never falls. The MAC adds the FCS. */
case class MacTxPins() extends Bundle with IMasterSlave {
  val tready = Bool()
  val tvalid = Bool()
  val tdata = Bits(64 bits)
  val tkeep = Bits(8 bits)
  val tlast = Bool()
  val tuser = Bool()

  /** On the first beat: 0 no timestamp, 2 two-step. */
  val ptpOp = Bits(2 bits)
  val ptpTag = Bits(16 bits)
  val tstampValid = Bool()
  val tstampTag = Bits(16 bits)
  val tstamp = PtpTime()
  override def asMaster(): Unit = {
    out(tvalid, tdata, tkeep, tlast, tuser, ptpOp, ptpTag)
    in(tready, tstampValid, tstampTag, tstamp)
  }
}
