// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.mac.RxStamp
import spinal.core._
import spinal.lib._

/** A beat as AXI4-Stream has it: keep has a bit for each byte of data. */
case class BoxBeat(bytes: Int) extends Bundle {
  val data = Bits(8 * bytes bits)
  val keep = Bits(bytes bits)
}

/** What is known of a whole frame on its way to a box, constant over its beats. */
case class BoxInfo(p: ShellParam) extends Bundle {
  val size = p.lengthType()
  val source = Bits(16 bits) // 1 << (6 + port) of a MAC, 1 << PF of a PF, 0 of a VF
}

/** Who sent a frame of the host; known behind the transmit filter. */
case class TxSender(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val queue = p.queueType()
}

/** The streams of a box, seen from the shell. What a box says of its own frames beside their beats is not looked at. */
case class BoxStreams(p: ShellParam) extends Bundle with IMasterSlave {
  val rxIn, txIn = Stream(Fragment(BoxBeat(p.hostBytes)))
  val rxInfo, txInfo = BoxInfo(p)
  val rxStamp = RxStamp()
  val txSender = TxSender(p)
  val rxOut, txOut = Stream(Fragment(BoxBeat(p.hostBytes)))
  override def asMaster(): Unit = {
    master(rxIn, txIn)
    out(rxInfo, txInfo, rxStamp, txSender)
    slave(rxOut, txOut)
  }
}
