// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** A tag that a frame from the host gets. */
case class TxTag() extends Bundle {
  val insert = Bool()
  val tci = Bits(16 bits)
  def vid: UInt = tci(11 downto 0).asUInt
  def pcp: UInt = tci(15 downto 13).asUInt
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

/** Where a frame of a function goes; several may hold. */
case class TxDestinations() extends Bundle {
  val wire = Bool()
  val functions = Bool() // of the same port: the receive filter says which
  val ps = Bool()
  def somewhere: Bool = wire || functions || ps
  def nowhere(): Unit = {
    wire := False
    functions := False
    ps := False
  }
}

/** What is known of a frame before its end: `sent` for one that may go out. */
case class TxDecision(p: ShellParam) extends Bundle {
  val verdict = TxVerdict()
  val port = p.portType()
  val function = p.functionType()
  val functionValid = Bool()
  val to = TxDestinations() // of a frame that may go out
  val tag = TxTag() // likewise
  val unfilled = Bool()
  val paced = Bool() // of a paced queue
  val queue = p.box.nonEmpty generate p.queueType()
  val pcp = p.egress generate UInt(3 bits) // priority of the frame as it goes out, 0 without a tag
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
