// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ptp.PtpTime
import spinal.core._
import spinal.lib._

/** [[MacRxPins]] without systemTimer, which the PTP clock drives. */
case class MacRxSignals() extends Bundle with IMasterSlave {
  val tvalid = Bool()
  val tdata = Bits(64 bits)
  val tkeep = Bits(8 bits)
  val tlast = Bool()
  val tuser = Bool()
  val tstampValid = Bool()
  val tstamp = PtpTime()
  override def asMaster(): Unit = out(tvalid, tdata, tkeep, tlast, tuser, tstampValid, tstamp)

  def connect(pins: MacRxPins): Unit = {
    tvalid := pins.tvalid
    tdata := pins.tdata
    tkeep := pins.tkeep
    tlast := pins.tlast
    tuser := pins.tuser
    tstampValid := pins.tstampValid
    tstamp := pins.tstamp
  }
}

/** [[MacTxPins]] without systemTimer, which the PTP clock drives. */
case class MacTxSignals() extends Bundle with IMasterSlave {
  val tready = Bool()
  val tvalid = Bool()
  val tdata = Bits(64 bits)
  val tkeep = Bits(8 bits)
  val tlast = Bool()
  val tuser = Bool()
  val ptpOp = Bits(2 bits)
  val ptpTag = Bits(16 bits)
  val tstampValid = Bool()
  val tstampTag = Bits(16 bits)
  val tstamp = PtpTime()
  override def asMaster(): Unit = {
    out(tvalid, tdata, tkeep, tlast, tuser, ptpOp, ptpTag)
    in(tready, tstampValid, tstampTag, tstamp)
  }

  def connect(pins: MacTxPins): Unit = {
    pins.tvalid := tvalid
    pins.tdata := tdata
    pins.tkeep := tkeep
    pins.tlast := tlast
    pins.tuser := tuser
    pins.ptpOp := ptpOp
    pins.ptpTag := ptpTag
    tready := pins.tready
    tstampValid := pins.tstampValid
    tstampTag := pins.tstampTag
    tstamp := pins.tstamp
  }
}
