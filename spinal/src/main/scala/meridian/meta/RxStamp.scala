// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import meridian.ptp.PtpTime
import spinal.core._
import spinal.lib._

/** When a frame arrived. */
case class RxStamp() extends Bundle {
  val time = PtpTime()
  val valid = Bool()
  def none(): Unit = {
    time.assignFromBits(B(0, widthOf(time) bits))
    valid := False
  }
}
