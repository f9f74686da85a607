// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import meridian.ShellParam
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
