// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** What became of a received frame on the host side, of one copy of it, or of a copy that was not made. */
object RxVerdict extends SpinalEnum {
  val delivered, // handed to the queue of a function
  copying, // a frame for several functions, accepted by the replicator: its copies are told one by one
  noMatch, // unicast that no table entry, promiscuous or default function takes; from inside, no table entry but its own
  noListener, // broadcast or multicast that no function of the port wants
  disabled, // the function found is switched off or in reset
  badQueue, // RSS chose a queue that does not belong to the function
  queueFull, // the queue has too few free buffers
  copyCut, // a frame for several functions that found the replicator's buffer full
  hostDisabled // receive towards the host is switched off for the port
  = newElement()
}

/** One per frame, copy or drop; function is valid for verdicts that name one. */
case class RxRecord(p: ShellParam) extends Bundle {
  val verdict = RxVerdict()
  val port = p.portType()
  val function = p.functionType()
  val functionValid = Bool()
  val copy = Bool()
  val length = p.lengthType()
}

/** What became of a frame from the host. */
object TxVerdict extends SpinalEnum {
  val sent, // handed to the transmit buffer of the port
  noFunction, // the queue belongs to no function
  disabled, // the function is switched off or in reset
  spoof, // source address or VLAN are not the function's
  runt, // shorter than an Ethernet header (14 bytes), or the zero-byte beat
  oversize, // longer than the largest frame
  error, // marked bad by the DMA engine
  linkDown, // the port has no link
  hostDisabled, // transmit from the host is switched off for the port
  switched, // handed to a function of the port inside the card, and not to the wire
  toPs, // handed to the PS inside the card, and not to the wire
  vebFull, // was for a function inside the card, whose buffer had no room
  psFull, // was for the PS inside the card, whose buffer had no room
  hairpin, // unicast for the very function that sent it
  controlFrame // link control, which the function may not send
  = newElement()
}

/** What became of the copy inside the card of a frame that was sent. */
case class TxCopyRecord() extends Bundle {
  val made = Bool() // there was to be one
  val full = Bool() // but its buffer had no room
}

/** One per frame. The copies are those of a frame with the verdict sent; a frame that only goes inside has none. */
case class TxRecord(p: ShellParam) extends Bundle {
  val verdict = TxVerdict()
  val port = p.portType()
  val function = p.functionType()
  val functionValid = Bool()
  val length = p.lengthType()
  val unfilled = Bool() // a checksum that the frame asked for was not filled in
  val queueFull = p.egress generate Bool() // the verdict is sent, but the port's queue had no room
  val toFunctions, toPs = TxCopyRecord()
}
