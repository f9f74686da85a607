// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._

/** Of the pulse at each second. */
case class PpsConfig() extends Bundle {
  val enable = Bool()
  val width = UInt(10 bits) // ms, 1 to 999
}

/** One pulse a second. io.pps rises with the clock edge that takes io.time over the second, to one cycle: the two
  * cycles of latency are taken off by looking ahead, at the nominal rate. It falls `width` ms later.
  *
  * io.second is a one-cycle event with each rise. A step of the clock ends the pulse and starts none; a skip over the
  * turn of the second starts it late rather than never.
  *
  * @param frequency nominal clock
  */
class PpsOut(frequency: HertzNumber = 250 MHz) extends Component {
  private val lead = ((2 * Phc.increment(frequency) + (BigInt(1) << 31)) >> 32).toInt // ns
  require(lead >= 1 && lead < 1000000, s"frequency is $frequency: choose 10 kHz to 1 GHz")

  val io = new Bundle {
    val config = in(PpsConfig())
    val time = in(PtpFineTime())
    val stepped = in Bool ()
    val pps = out Bool ()
    val second = out Bool ()
  }

  private val now = io.time.nanoseconds
  val soon = RegNext(now >= Phc.second - lead) init False
  val width = RegNext((io.config.width * 1000000).resize(30 bits)) init 0
  val inside = RegNext(now < width) init False
  val stepped = RegNext(io.stepped) init False
  val parity = RegNext(io.time.seconds.lsb) init False
  val turned = parity =/= (RegNext(parity) init False)

  val pulse = RegInit(False)
  val second = RegInit(False)
  second := False
  when(stepped || !io.config.enable) {
    pulse := False
  } elsewhen (soon && !(RegNext(soon) init False) || turned && inside && !pulse) {
    pulse := True
    second := True
  } elsewhen (!soon && !inside) {
    pulse := False
  }
  io.pps := pulse
  io.second := second
}
