// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.crossing.Crossing
import meridian.frame.RxBeat
import spinal.core._
import spinal.lib._

/** Frames that stop the sender at the other end of a link: PAUSE (IEEE 802.3 annex 31B) stops all of it, PFC (802.3 annex
  * 31D, 802.1Qbb) stops classes.
  */
object Pause {
  val classes = 8

  /** Where such frames go, as the first beat has it: 01-80-C2-00-00-01. */
  val address = BigInt("010000c28001", 16)
  val etherType = 0x8808
  val pauseOpcode = 0x0001
  val pfcOpcode = 0x0101

  /** Times are told in quanta of so many bits on the line. */
  val quantumBits = 512
  def quantaType(): UInt = UInt(16 bits)

  /** A clock of so many of these cycles has so many quanta of a line: (cycles, quanta), without a common divisor. */
  def cyclesPerQuanta(clock: HertzNumber, gigabits: Int): (Int, Int) = {
    val cycles = clock.toBigDecimal.toBigInt * quantumBits
    val quanta = BigInt(gigabits) * 1000000000
    val common = cycles.gcd(quanta)
    ((cycles / common).toInt, (quanta / common).toInt)
  }
}

/** What a frame of flow control asks for. */
case class PauseTimes() extends Bundle {
  val enable = Bits(Pause.classes bits) // the frame tells of these classes
  val quanta = Vec(Pause.quantaType(), Pause.classes) // 0: the class goes on
}

/** What MacRx shows of received frames to [[PauseRx]], and which of them that keeps. Master is MacRx. */
case class PauseLook() extends Bundle with IMasterSlave {
  val beat = Flow(RxBeat())
  val bad, take = Bool() // see PauseReader
  override def asMaster(): Unit = {
    master(beat)
    out(bad)
    in(take)
  }
}

/** Which frames of flow control a port obeys; the address of the station is quasi-static. */
case class PauseRxConfig() extends Bundle {
  val pause = Bool() // PAUSE, for all classes
  val pfc = Bits(Pause.classes bits) // PFC, for these classes
  val station = Bits(48 bits) // the port's own address; 0 for none
  def on: Bool = pause || pfc.orR

  /** The classes that a frame can stop. */
  def obeying: Bits = pfc | B(Pause.classes bits, default -> pause)
}

object PauseRxConfig {

  /** Brings what was set in another clock into the current one. */
  def crossed(from: PauseRxConfig): PauseRxConfig = {
    val to = PauseRxConfig()
    to.pause := BufferCC(from.pause, False)
    to.pfc := BufferCC(from.pfc, B(0, Pause.classes bits))
    val station = Crossing.held(
      from.station,
      "The address of a port changes only while its flow control is off and is looked at only while that is on."
    )
    to.station := RegNext(station)
    to
  }
}
