// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._

/** How long the clock's pins stay as they are, for a simulation that skips idle time: io.cycles never promises more
  * than is true while a cycle adds less than 8 ns, and less the nearer the instant is, so that a simulator gets there in
  * a few steps. All ones: no pin will change by time alone.
  *
  * Latency: 4 cycles, taken off; after a skip wait that long. Nobody reads it in hardware, and then it is not there.
  */
class QuietTime extends Component {
  val io = new Bundle {
    val time = in(PtpFineTime())
    val pps = in(PpsConfig())
    val peroutRunning = in Bool ()
    val peroutTarget = in(PtpTime())
    val cycles = out UInt (32 bits)
  }
  private val longestStep = 8 // ns
  private val margin = 16 // cycles
  private val now = io.time.nanoseconds.resize(30 bits)

  val toSecond = RegNext(U(Phc.second, 30 bits) - now)
  val width = RegNext((io.pps.width * 1000000).resize(30 bits))
  val toWidth = RegNext(width - now)
  val inside = RegNext(now < width)
  val toPerout = RegNext(io.peroutTarget.nanoseconds.resize(30 bits) - now)
  val peroutLater = RegNext(io.peroutTarget.seconds > io.time.seconds)
  val peroutPast = RegNext(io.peroutTarget.nanoseconds.resize(30 bits) <= now)

  val untilPps = RegNext(inside ? toWidth | toSecond)
  val untilPerout = RegNext(peroutLater ? toSecond | (peroutPast ? U(0) | toPerout))

  val cycles = Reg(UInt(32 bits)) init 0
  private val ppsFirst = RegNext(!io.peroutRunning || io.pps.enable && untilPps < untilPerout)
  private val until = ppsFirst ? RegNext(untilPps) | RegNext(untilPerout)
  private val whole = (until >> log2Up(longestStep)).resize(32 bits)
  cycles := (whole > margin) ? (whole - margin) | U(0)
  when(!io.pps.enable && !io.peroutRunning)(cycles := U(0xffffffffL, 32 bits))
  io.cycles := cycles
}
