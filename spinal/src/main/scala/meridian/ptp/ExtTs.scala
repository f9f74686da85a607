// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._

/** Which edges of an external signal are stamped. */
case class ExtTsConfig() extends Bundle {
  val rising = Bool()
  val falling = Bool()
}

/** Stamps the edges of an asynchronous pin with the time, for PTP_CLK_REQ_EXTTS.
  *
  * The stamp is the middle of the clock cycle in which the edge came, which is within half a cycle of the truth (and 1
  * ns of rounding); the latency of the synchroniser is taken off at the nominal rate. Levels have to last more than a
  * cycle. A stamp comes out 6 cycles after its edge; 8 of them wait; what finds no room is counted in io.lost, which
  * stops at its maximum.
  *
  * @param frequency nominal clock
  */
class ExtTs(frequency: HertzNumber = 250 MHz) extends Component {
  private val synchroniser = 3

  // The edge is seen synchroniser - 1 to synchroniser cycles after it came.
  private val latency = (BigDecimal(Phc.increment(frequency)) * (synchroniser - 0.5) / BigDecimal(BigInt(1) << 32))
    .setScale(0, BigDecimal.RoundingMode.HALF_UP)
    .toBigInt
  require(latency >= 1 && latency < 1000000, s"frequency is $frequency: choose 10 kHz to 1 GHz")

  val io = new Bundle {
    val config = in(ExtTsConfig())
    val pin = in Bool ()
    val time = in(PtpFineTime())
    val event = master(Stream(PtpTime()))
    val lost = out UInt (16 bits)
  }

  val pin = BufferCC(io.pin, init = False, bufferDepth = Some(synchroniser))
  val before = RegNext(pin) init False

  /** (1) the time of the edge, (2) the latency taken off, (3) borrowed from the seconds if it has to be. */
  val stamp = new Area {
    val valid1 = RegNext(io.config.rising && pin && !before || io.config.falling && !pin && before) init False
    val seconds1 = RegNext(io.time.seconds)
    val nanoseconds1 = RegNext(io.time.nanoseconds(29 downto 0))

    val valid2 = RegNext(valid1) init False
    val seconds2 = RegNext(seconds1)
    val nanoseconds2 = RegNext(nanoseconds1.resize(31 bits).asSInt - S(latency, 31 bits))

    val valid3 = RegNext(valid2) init False
    val time3 = Reg(PtpTime())
    time3.nanoseconds := nanoseconds2.asUInt.resized
    time3.seconds := seconds2
    when(nanoseconds2.msb) {
      time3.nanoseconds := (nanoseconds2 + S(Phc.second, 31 bits)).asUInt.resized
      time3.seconds := seconds2 - 1
    }
  }

  val fifo = StreamFifo(PtpTime(), 8)
  fifo.io.push.valid := stamp.valid3
  fifo.io.push.payload := stamp.time3
  io.event << fifo.io.pop

  val lost = Reg(UInt(16 bits)) init 0
  when(fifo.io.push.isStall && !lost.andR) {
    lost := lost + 1
  }
  io.lost := lost
}
