// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.filter.rss._
import meridian.ShellParam
import meridian.mac.RxStamp
import spinal.core._
import spinal.lib._

/** Where a frame on its way to the host comes from: the wire, or inside the card, there a function or the PS. */
case class RxSource(p: ShellParam) extends Bundle {
  val inside = Bool()
  val isFunction = Bool() // only with inside
  val function = p.functionType()
  def fromWire(): Unit = {
    inside := False
    isFunction := False
    function := 0
  }
}

/** A received frame on its way to the host, before it is known for whom. */
case class RxMeta(p: ShellParam, stamped: Boolean) extends Bundle {
  val port = p.portType()
  val length = p.lengthType()
  val source = RxSource(p)
  val stamp = stamped generate RxStamp() // not valid of a frame from inside the card
}

object RxMeta {
  def apply(p: ShellParam): RxMeta = RxMeta(p, p.stampsAtHost)

  /** As it leaves its port. */
  def ofPort(p: ShellParam): RxMeta = RxMeta(p, p.stamps)
}

/** Where a received frame goes, or a copy of one. */
case class RxTarget(p: ShellParam, stamped: Boolean = false) extends Bundle {
  val function = p.functionType()
  val queue = p.queueType()
  val length = p.lengthType() // as it leaves
  val hash = FrameHash()
  val strip = Bool() // its tag is to be taken out: it has 4 bytes more than it leaves with
  val told = Bool() // and what it was is told
  val stamp = stamped generate RxStamp()
}

/** A received frame, or a copy of one, on its way to a queue. */
case class C2hMeta(p: ShellParam, stamped: Boolean = false) extends Bundle {
  val function = p.functionType()
  val queue = p.queueType()
  val length = p.lengthType()
  val hash = FrameHash()
  val stripped = Bool() // an 802.1Q tag was taken out
  val tci = Bits(16 bits) // its control information, else 0
  val stamp = stamped generate RxStamp() // up to the user's module at the host
}

/** The hash that chose the queue of a frame. */
case class FrameHash() extends Bundle {
  val value = Bits(32 bits)
  val kind = HashType()
}

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

/** A frame from the host on its way to the transmit filter. `error`, `zero` and `more` are final with the last beat. */
case class TxMeta(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val tag = TxTag() // the frame asks for it
  val unfilled = Bool() // a checksum that it asked for was not filled in
  val error = Bool() // marked bad by the DMA engine
  val zero = Bool() // a transfer without a byte: one beat whose data and mty mean nothing
  val taken = p.selfTest generate Bool() // it ends before TxFilter
  val more = p.segmentation generate Bool() // it is a segment, and another of the same frame follows
  val refused =
    p.segmentation generate Bool() // an error frame of one beat, whose data are the beats that it stands for
  val outer = p.segmentation generate Bool() // outer headers are to be put before it; nothing behind OuterPrepend
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

/** A beat of a frame from the host that goes to functions or to the PS inside the card. */
case class TxCopy(p: ShellParam) extends Bundle {
  val data = Bits(8 * p.hostBytes bits)
  val mty = UInt(log2Up(p.hostBytes) bits)
  val port = p.portType()
  val function = p.functionType() // who sent it
  val toFunctions, toPs = Bool()
  val drop = Bool() // with last: the frame is not sent after all
}
