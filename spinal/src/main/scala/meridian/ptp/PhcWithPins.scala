// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._

/** The PTP clock and what hangs on it: pulse per second, periodic output, external timestamps (ps clock). The blocks say
  * their latencies.
  */
class PhcWithPins(frequency: HertzNumber) extends Component {
  val io = new Bundle {
    val signals = slave(PhcSignals())
    val skip = in UInt (32 bits)
    val time = out(PtpFineTime())
    val stepped = out Bool ()
    val pps, perout = out Bool ()
    val extTs = in Bool ()

    /** Cycles until time alone changes a pin; see [[QuietTime]]. */
    val quietCycles = out UInt (32 bits)
  }
  val phc = new Phc(frequency)
  phc.io.control <> io.signals.control
  phc.io.skip := io.skip
  io.time := phc.io.time
  io.stepped := phc.io.stepped
  io.signals.time := phc.io.time

  val pps = new PpsOut(frequency)
  pps.io.config := io.signals.pps
  pps.io.time := phc.io.time
  pps.io.stepped := phc.io.stepped
  io.pps := pps.io.pps
  io.signals.second := pps.io.second

  val perout = new Perout(frequency)
  perout.io.config := io.signals.perout
  perout.io.time := phc.io.time
  perout.io.stepped := phc.io.stepped
  io.perout := perout.io.output
  io.signals.peroutRunning := perout.io.running

  val quiet = new QuietTime
  quiet.io.time := phc.io.time
  quiet.io.pps := io.signals.pps
  quiet.io.peroutRunning := perout.io.running
  quiet.io.peroutTarget := perout.io.target
  io.quietCycles := quiet.io.cycles

  val extTs = new ExtTs(frequency)
  extTs.io.config := io.signals.extTs
  extTs.io.pin := io.extTs
  extTs.io.time := phc.io.time
  io.signals.extTsEvent << extTs.io.event
  io.signals.extTsLost := extTs.io.lost
}
