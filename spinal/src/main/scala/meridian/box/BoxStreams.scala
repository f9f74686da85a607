// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxPins, ShellParam}
import meridian.host.{CompletionLayout, LayoutField}
import meridian.meta.{C2hMeta, RxStamp, TxSender}
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
  val destination = Bits(16 bits) // the same coding; 0 at the wire, where it is not known
}

/** Where a received frame goes, at the host: what the shell says of a frame, and what a box says of its own. */
case class BoxTarget(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val queue = p.queueType()
  val completion = Bits(BoxPins.completionBits bits) // for the completion entry, as its words 2 and 3
}

object BoxTarget {

  /** Of a frame that the filter sends on. */
  def of(p: ShellParam, meta: C2hMeta): BoxTarget = {
    val target = BoxTarget(p)
    target.function := meta.function
    target.queue := meta.queue
    target.completion := CompletionLayout
      .entry(
        CompletionLayout.hash -> meta.hash.value,
        CompletionLayout.vlanTci -> meta.tci,
        CompletionLayout.hashType -> meta.hash.kind.asBits,
        CompletionLayout.vlanStripped -> meta.stripped.asBits
      )
      .takeHigh(BoxPins.completionBits)
    target
  }

  /** What a completion is made from; of a box whatever it said. */
  def toC2h(target: BoxTarget, length: UInt, meta: C2hMeta): Unit = {
    def field(field: LayoutField) = target.completion(32 * (field.word - 2) + field.low, field.width bits)
    meta.function := target.function
    meta.queue := target.queue
    meta.length := length
    meta.hash.value := field(CompletionLayout.hash)
    meta.hash.kind.assignFromBits(field(CompletionLayout.hashType).resize(widthOf(meta.hash.kind)))
    meta.stripped := field(CompletionLayout.vlanStripped).asBool
    meta.tci := field(CompletionLayout.vlanTci)
  }
}

/** What the host asks for a frame, at the host; a box says the same of its own. */
case class BoxRequest(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val tci = Bits(16 bits) // of the tag that the frame is to get
  val insert = Bool() // it is to get one
  val unfilled = Bool() // a checksum that it asked for was not filled in
  def word: Bits = (unfilled ## insert ## tci).resize(32)
}

/** The streams of a box, seen from the shell. At the wire, what a box says of its own frames beside their beats is not
  * looked at, but for when they came, if a module at the host is told; at the host, it names their queues.
  */
case class BoxStreams(p: ShellParam, atHost: Boolean = false) extends Bundle with IMasterSlave {
  val rxIn, txIn = Stream(Fragment(BoxBeat(p.hostBytes)))
  val rxInfo, txInfo = BoxInfo(p)
  val rxStamp = (!atHost || p.stampsAtHost) generate RxStamp()
  val rxOutStamp = (!atHost && p.stampsAtHost) generate RxStamp()
  val txSender = TxSender(p)
  val rxOut, txOut = Stream(Fragment(BoxBeat(p.hostBytes)))
  val rxTarget, rxOutTarget = atHost generate BoxTarget(p)
  val txRequest, txOutRequest = atHost generate BoxRequest(p)
  override def asMaster(): Unit = {
    master(rxIn, txIn)
    out(rxInfo, txInfo, txSender)
    if (rxStamp != null) out(rxStamp)
    if (atHost) out(rxTarget, txRequest)
    slave(rxOut, txOut)
    if (rxOutStamp != null) in(rxOutStamp)
    if (atHost) in(rxOutTarget, txOutRequest)
  }
}
