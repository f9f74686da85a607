// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** What is looked up: an address as it stands on the wire (first byte in 7 downto 0), on a port, with the VLAN of the
  * frame. A frame without a tag, or with VLAN 0, has vid 0.
  */
case class MacQuery(p: ShellParam) extends Bundle {
  val port = p.portType()
  val address = Bits(48 bits)
  val vid = UInt(12 bits)
}

/** An entry's value: a function, or a multicast group. */
case class MacValue(p: ShellParam) extends Bundle {
  val isGroup = Bool()
  val index = UInt(8 bits)
}

case class MacResult(p: ShellParam) extends Bundle {
  val hit = Bool()
  val value = MacValue(p)
}

/** One lookup a cycle; the answer comes MacTable.latency cycles later, always. An entry for the very VLAN wins over an
  * entry for any VLAN.
  */
case class MacLookup(p: ShellParam) extends Bundle with IMasterSlave {
  val query = Flow(MacQuery(p))
  val result = Flow(MacResult(p))
  override def asMaster(): Unit = { master(query); slave(result) }
}

object MacOperation extends SpinalEnum {
  val add, remove, find = newElement()
}

/** A change of the table. anyVlan: the entry holds for every VLAN, tagged or not, and query.vid is not looked at. */
case class MacCommand(p: ShellParam) extends Bundle {
  val operation = MacOperation()
  val query = MacQuery(p)
  val anyVlan = Bool()
  val value = MacValue(p)
}

object MacStatus extends SpinalEnum {
  val done, full, notFound, exists = newElement() // exists: add of a key that is there; its value is replaced
}

/** Answer to a command, once the change holds for every lookup issued after it. */
case class MacAnswer(p: ShellParam) extends Bundle {
  val status = MacStatus()
  val value = MacValue(p)
}

/** A key for the table's hash, in words; `start` comes with the last of them. */
case class MacHashKey() extends Bundle with IMasterSlave {
  val word = Flow(KeyWord())
  val start = Bool()
  val refused = Bool() // a pulse, in the cycle after a word: the table is not empty, or at work
  val drawing = Bool() // the rows are being drawn
  val drawn = Bool() // they have been since the card was configured
  override def asMaster(): Unit = { master(word); out(start); in(refused, drawing, drawn) }
}
