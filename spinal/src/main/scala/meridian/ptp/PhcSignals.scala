// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._

/** Between the registers of the clock and the clock with its pins, seen from the registers. */
case class PhcSignals() extends Bundle with IMasterSlave {
  val control = PhcControl()
  val pps = PpsConfig()
  val perout = PeroutConfig()
  val extTs = ExtTsConfig()
  val time = PtpFineTime()
  val second = Bool()
  val peroutRunning = Bool()
  val extTsEvent = Stream(PtpTime())
  val extTsLost = UInt(16 bits)
  override def asMaster(): Unit = {
    master(control)
    out(pps, perout, extTs)
    in(time, second, peroutRunning, extTsLost)
    slave(extTsEvent)
  }
}
