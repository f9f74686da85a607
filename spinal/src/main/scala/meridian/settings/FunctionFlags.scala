// SPDX-License-Identifier: Apache-2.0
package meridian.settings

import meridian.ShellParam
import meridian.meta.{PoolPlace, TxTag}
import spinal.core._
import spinal.lib._

/** Per-function switches, a bit a function, from the registers (host clock). */
case class FunctionFlags(p: ShellParam) extends Bundle {
  val enable = Bits(p.functions bits) // has queues (QCONF count not 0) and is not in reset
  val broadcast = Bits(p.functions bits)
  val allMulticast = Bits(p.functions bits)
  val promiscuous = Bits(p.functions bits) // takes unicast nobody else is known for
  val trusted = Bits(p.functions bits) // no anti-spoof check
  val control = Bits(p.functions bits) // may send frames that control the link
  val strip = Bits(p.functions bits) // its received frames lose their 802.1Q tag
  val insert = Bits(p.functions bits) // it is in a VLAN that it does not see
  val port = Vec(p.portType(), p.functions) // the port each function is bound to
}

/** The class of each priority (PCP) in a pool. */
case class PortClasses() extends Bundle {
  val of = Vec(UInt(log2Up(PoolPlace.classes) bits), PortClasses.priorities)
}

object PortClasses {

  /** Values of a PCP, the priority in an 802.1Q tag; a frame without tag has 0. */
  val priorities = 8
}

/** Per-port switches of the host side, from the registers (host clock). */
case class PortFlags(p: ShellParam) extends Bundle {
  val rxEnable = Bool()
  val txEnable = Bool()
  val linkUp = Bool()
  val veb = Bool() // frames go between functions of the port, and the PS, inside the card
  val defaultValid = Bool() // unknown unicast goes to defaultFunction
  val defaultFunction = p.functionType()
  val high = p.twoQueues generate Bits(PortClasses.priorities bits) // which priorities (PCP) go to the upper queue
  val classes = p.pool generate PortClasses() // of a pool
}

/** A write to the tag that the frames of a function get. */
case class TxTagWrite(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val tag = TxTag()
}

/** A write to the queue range of a function: queues base until base + count; 0 switches the function off. reset: the
  * function has been reset, and the queues taken away lose their free buffers.
  */
case class QueueRange(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val base = p.queueType()
  val count = UInt(p.queueBits + 1 bits)
  val reset = Bool()
}

/** A write to entry index of a function's RSS indirection table: a queue relative to the function's base. */
case class IndirectionWrite(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val index = UInt(7 bits)
  val queue = p.queueType()
}

/** A write to word (0 the least significant) of a function's 320-bit hash key, or of word Rss.orderWord behind it. */
case class HashKeyWrite(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val word = UInt(4 bits)
  val data = Bits(32 bits)
}

/** A write to the switches of a queue. */
case class QueueSwitchWrite(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val paced = Bool() // its descriptors are granted by the pacer
  val transmitOffload = Bool() // its descriptors may ask for tags and checksums
  val transmitSegments = p.segmentation generate Bool() // and for segments
  val completion16 = Bool() // its completion entries have 16 bytes
}

/** A write to the function list of a multicast group; functions beyond the first 32 in further words. */
case class GroupWrite(p: ShellParam) extends Bundle {
  val group = UInt(log2Up(p.groups) bits)
  val word = UInt(3 bits)
  val data = Bits(32 bits)
}
