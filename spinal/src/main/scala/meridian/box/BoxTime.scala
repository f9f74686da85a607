// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.frame.ResetPair
import meridian.meta.RxStamp
import meridian.ptp.{PtpFineTime, TimeCrossing}
import spinal.core._
import spinal.lib._

/** The PTP clock in the clock of users' modules, by a [[TimeCrossing]]: `hostTime` is the PHC's time at the clock edge that
  * it changes with, to less than a cycle of the host's clock. If the two clocks have nearly the
  * same frequency, successive samples have the same phase, so averaging does not help: the error is then up to half a cycle
  * and the rounding to a nanosecond. When the phase slips, the time follows within some microseconds.
  *
  * hostTime.valid is low, and the time 0, until the time is known: 1.6 us after the reset of host or PS at the latest. It is
  * low while the PS is in reset. The time grows in each cycle. It follows a step of the PHC in one cycle, 0.3 us later at
  * the latest. A ps clock that stops leaves it valid: it runs on with its last rate.
  *
  * Throughput: a time each cycle.
  */
class BoxTime(p: ShellParam, psCd: ClockDomain, hostCd: ClockDomain) extends Component {
  val io = new Bundle {
    val psTime = in(PtpFineTime())
    val psStepped = in Bool ()
    val hostSkip = in UInt (32 bits) // cycles that an edge stands for, see TimeCrossing
    val hostTime = out(RxStamp())
  }
  val ps = new ClockingArea(psCd) {
    val up = RegInit(False)
    up := True
  }
  val host = new ClockingArea(hostCd) {
    val clear = RegNext(!BufferCC(ps.up, False)) init True
  }
  val crossing = new TimeCrossing(psCd, ResetPair.clearedBy(hostCd, host.clear), p.psFrequency, p.hostMhz MHz)
  crossing.io.psTime := io.psTime
  crossing.io.psStepped := io.psStepped
  crossing.io.psAhead := 0
  crossing.io.dstSkip := io.hostSkip
  io.hostTime.valid := crossing.io.dstKnown
  io.hostTime.time := crossing.io.dstTime
  when(!crossing.io.dstKnown)(io.hostTime.time.assignFromBits(B(0, 80 bits)))
}
