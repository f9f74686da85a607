// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.frame.RxBeat
import meridian.ptp.PtpFinder
import spinal.core._
import spinal.lib._

/** What the wire may give the PS; set by the PS at any time. */
case class PsLimit() extends Bundle {
  val enable = Bool()
  val ptp, others = FrameRate()
}

object PsLimit {

  /** Brings what was set in the ps clock into the current one. A number that is just being written may be seen torn for a
    * cycle, which is worth a frame at most.
    */
  def crossed(from: PsLimit): PsLimit = {
    val to = PsLimit()
    to.enable := BufferCC(from.enable, False)
    to.ptp := BufferCC(from.ptp)
    to.others := BufferCC(from.others)
    to
  }
}

/** Limits how many frames the PS gets from the wire, with one limit for PTP and one for all other frames. So a flood to
  * the PS's addresses leaves room in its buffer and ring, and processor time, for PTP.
  *
  * Latency: io.ptp and io.may are valid, from registers, with a frame's last beat; the frame does not wait. Throughput:
  * one beat a cycle, and frames that pass are at least 4 cycles apart. About 100 LUTs.
  */
class PsPolicer(p: ShellParam) extends Component {
  val io = new Bundle {
    val limit = in(PsLimit())
    val skip = in UInt (32 bits)
    val beat = slave(Flow(RxBeat()))
    val first, vlan = in Bool () // as PtpFinder wants them

    /** With the last beat: it is a frame of PTP; it is within its limit. */
    val ptp, may = out Bool ()

    /** A cycle after the last beat: the frame is for the PS. */
    val pass = in Bool ()
  }
  val finder = new PtpFinder
  finder.io.beat << io.beat
  finder.io.first := io.first
  finder.io.vlan := io.vlan
  val isPtp = RegNext(finder.io.ptp)

  val ptp, others = FrameBucket(p)
  for ((bucket, limit) <- Seq(ptp -> io.limit.ptp, others -> io.limit.others)) {
    bucket.io.limit := limit
    bucket.io.skip := io.skip
    bucket.io.fill := !io.limit.enable
  }
  ptp.io.pass := io.pass && isPtp && ptp.io.there
  others.io.pass := io.pass && !isPtp && others.io.there
  io.ptp := finder.io.ptp
  io.may := !io.limit.enable || Mux(finder.io.ptp, ptp.io.there, others.io.there)
}
