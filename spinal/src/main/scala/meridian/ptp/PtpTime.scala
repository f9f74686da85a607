// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._

/** PTP time as the MAC IP carries it: 80 bits, seconds above nanoseconds. */
case class PtpTime() extends Bundle {
  val nanoseconds = UInt(32 bits)
  val seconds = UInt(48 bits)
}

/** PTP time with 2^-32 ns below. */
case class PtpFineTime() extends Bundle {
  val fraction = UInt(32 bits)
  val nanoseconds = UInt(32 bits)
  val seconds = UInt(48 bits)
  def coarse: PtpTime = {
    val ret = PtpTime()
    ret.nanoseconds := nanoseconds
    ret.seconds := seconds
    ret
  }
}
