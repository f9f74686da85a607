// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import meridian.ShellParam
import meridian.ptp.PtpTime
import spinal.core._
import spinal.lib._

/** What the PS learns of a received frame. */
case class PsRxMeta(p: ShellParam) extends Bundle {
  val length = p.lengthType()
  val timestamp = PtpTime()
  val timestampValid = Bool()
  val inside = Bool() // of a function of the host: it never was on the wire and has no timestamp
  val bulk = Bool() // the PS has limits and this is not PTP: it leaves the last quarter of the ring to PTP
}

/** What the PS asks for a frame it sends: its transmit timestamp under this tag. */
case class PsTxMeta() extends Bundle {
  val timestamp = Bool()
  val tag = Bits(16 bits)
}

/** A transmit timestamp coming back from the MAC. */
case class TxTimestamp() extends Bundle {
  val tag = Bits(16 bits)
  val timestamp = PtpTime()
}
