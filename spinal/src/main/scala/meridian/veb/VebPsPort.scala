// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{RxMeta, TxCopy}
import meridian.settings.PsFilterConfig
import spinal.core._
import spinal.lib._

/** A unicast destination of the PS, to be looked up; the tag comes back with the answer. */
case class PsQuery() extends Bundle {
  val tag = UInt(8 bits)
  val address = Bits(48 bits)
  val vid = UInt(12 bits)
}

case class PsAnswer() extends Bundle {
  val tag = UInt(8 bits)
  val known = Bool() // somebody inside the card has this address
}

/** What the host side has to do with the PS of a port, in the host clock; the host side is the master. */
case class VebPsPort(p: ShellParam) extends Bundle with IMasterSlave {
  val veb = Bool()
  val copy = Flow(Fragment(TxCopy(p))) // of all ports and destinations
  val lost = Bool() // with the last beat of a copy: it was for this PS and found no room
  val filter = PsFilterConfig(p)
  val frames = FrameStream(p.hostBytes, RxMeta(p)) // of the PS
  val query = Stream(PsQuery())
  val answer = Flow(PsAnswer())
  val idle = Bool()
  override def asMaster(): Unit = {
    out(veb)
    master(copy, answer)
    slave(frames, query)
    in(lost, filter, idle)
  }
}
