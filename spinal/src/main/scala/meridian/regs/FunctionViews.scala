// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.meta.TxTag
import meridian.pacing.Pacing
import meridian.page.{PagePlace, RegPage, RegView}
import meridian.regs.counters._
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType
import spinal.lib.bus.regif.AccessType._

object FunctionViews {
  val queueDoc = "Queues and RSS of a function"
  val openNic = PagePlace(
    "OPENNIC_FUNCTION",
    0x1000,
    RegView.pf,
    s"$queueDoc, as the OpenNIC shell has it; functions 0 to 3",
    4
  )
  val function = PagePlace("FUNCTION", 0x200000, RegView.pf, "A function: switches, queues, RSS, counters", 256)
  val vf = PagePlace("VF", 0, RegView.vf, "What a VF sees of itself in its own BAR2; read only")

  val port = PagePlace(
    "HOST_PORT_COUNTERS",
    0x113000,
    RegView.pf,
    "Counters of a port's frames that belong to no function",
    4
  )

  /** Word j of the hash key after reset, as the OpenNIC shell has it. */
  val defaultKey: Seq[Long] = Seq(
    0xd6e31417L, 0x376cc87eL, 0x011ba7a6L, 0xdc1b91bbL, 0x7872e224L, 0xbfd0404bL, 0x260374b8L, 0xd9270f6fL, 0x18dc4386L,
    0x7c9c37deL
  )

  val flagNames = Seq(
    "broadcast" -> "takes broadcast frames",
    "all_multicast" -> "takes every multicast frame",
    "promiscuous" -> "takes unicast frames that nobody else is known for",
    "trusted" -> "may send with any source address and VLAN",
    "control_frames" -> "may send frames that control the link: EtherType 0x8808, and to 01-80-C2-00-00-00 to 0F. A PF always may"
  )

  /** The place of control_frames. */
  val controlFlag = 4
  val flagBits = flagNames.size

  /** Flags of function f after reset, in the order of flagNames: a PF takes and may send all, as under OpenNIC. */
  def defaultFlags(f: Int): Int = if (f < 4) 31 else 1

  /** Values of link_state. */
  val linkUp = 1
  val linkDown = 2

  /** Port of function f after reset. */
  def defaultPort(f: Int, ports: Int): Int = if (f < 4 && f < ports) f else 0
}

/** All that is known of one function, fetched before a view is accessed. */
case class FunctionState(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val base = UInt(16 bits)
  val count = UInt(16 bits)
  val flags = Bits(FunctionViews.flagBits bits)
  val port = p.portType()
  val strip = Bool()
  val linkState = Bits(2 bits)
  val gigabits = UInt(8 bits) // of a port
  val tag = TxTag()
  val enabled, inReset, linkUp = Bool()
  val indirection = UInt(16 bits) // at the index of the access
  val key = Bits(32 bits)
  val rate = UInt(Pacing.rateBits bits) // the most or the least, by the address of the access
  val counter = Bits(32 bits)
}

/** Queue range, indirection table and hash key at the places where OpenNIC has them. */
class QueueBlock(page: RegPage, state: FunctionState) extends Area {
  val qconf = page.reg(
    0x000,
    "qconf",
    "Queue range; count 0 switches the function off. A range beyond the card's queues is refused"
  )
  page.show(qconf, 0, "count", state.count, "number of queues", RW)
  page.show(qconf, 16, "base", state.base, "first queue", RW)
  val indirection = page.memory(
    0x400,
    "indirection",
    128 * 4,
    "RSS indirection: entry k is the queue, counted from base, for hash[6:0] = k"
  )
  indirection.bus.rdat := state.indirection.asBits.resized
  val key = page.memory(0x600, "hash_key", 10 * 4, "RSS hash key, 320 bits, least significant word first")
  key.bus.rdat := state.key
}

/** Counters at the same place in every page that has them. */
class CounterBlock(page: RegPage, state: FunctionState) extends Area {
  val window = page.counters(FunctionCounters.base, FunctionCounters.size, FunctionCounters.names)
  window.bus.rdat := state.counter
}

/** The page of a function in BAR2 of a PF. */
class FunctionView(state: FunctionState) extends Area {
  val page = new RegPage(FunctionViews.function)
  val queues = new QueueBlock(page, state)
  val flags = page.reg(
    0x004,
    "flags",
    "What the function takes and may do. After reset: a PF all of it, a VF broadcast only"
  )
  for (((name, doc), i) <- FunctionViews.flagNames.zipWithIndex) page.show(flags, i, name, state.flags(i), doc, RW)
  val port = page.reg(0x008, "port", "Binding of the function")
  page.show(port, 0, "port", state.port, "Ethernet port; a port that is not there is refused", RW)
  val vlan = page.reg(0x018, "vlan", "802.1Q tags of the function's frames")
  page.show(vlan, 0, "tci", state.tag.tci, "priority and VLAN of the tag that insert is about", RW)
  page.show(
    vlan,
    16,
    "insert",
    state.tag.insert,
    "a frame that the function sends gets this tag, and is judged by it; one that brings a tag is dropped as spoof",
    RW
  )
  page.show(
    vlan,
    17,
    "strip",
    state.strip,
    "a received frame loses its tag; only completion entries of 16 bytes tell what it was, and with insert nothing does",
    RW
  )
  val status = page.reg(0x00c, "status", "State of the function")
  page.show(status, 0, "enabled", state.enabled, "has queues and is not in reset")
  page.show(status, 1, "in_reset", state.inReset, "a function level reset is under way")
  page.show(status, 2, "link_up", state.linkUp, "the function has a link: its port's, if link_state says no other")
  val rates =
    for (
      (address, name, doc) <- Seq(
        (0x010, "tx_max_rate", "Transmit rate that the paced queues of the function together do not exceed"),
        (0x014, "tx_min_rate", "Transmit rate up to which the paced queues of the function go before those of others")
      )
    ) yield {
      val rate = page.reg(address, name, doc)
      val unit = "bytes in 2^20 cycles of 4 ns, which is Mb/s * 65536 / 125; 0: none"
      page.show(rate, 0, "rate", state.rate, unit, RW)
      rate
    }
  val link = page.reg(0x01c, "link", "What the function is told of its link")
  page.show(
    link,
    0,
    "link_state",
    state.linkState,
    "0: the port's. 1: up. 2: down, and the function is disabled. Another is refused",
    RW
  )
  val hashOrder = page.reg(0x628, "hash_order", "What is hashed, in which order of bits, and how the table is read")
  page.show(
    hashOrder,
    0,
    "microsoft",
    state.key.lsb,
    "0: as OpenNIC does. 1: as Microsoft's RSS does, over the addresses of IPv4 and IPv6 and the ports of TCP and UDP; byte i of its key is byte i % 4 of word i / 4, the lowest byte of a word first",
    RW
  )
  page.show(
    hashOrder,
    1,
    "symmetric",
    state.key(2 downto 1),
    "of Microsoft's order; 0: addresses and ports as they are. 1: in place of source and destination, twice the XOR of both. 2 and 3: the OR and the XOR of both",
    RW
  )
  page.show(
    hashOrder,
    16,
    "left_out",
    state.key(31 downto 16),
    "of Microsoft's order: what is not hashed, 4 bits each of TCP over IPv4, UDP over IPv4, TCP over IPv6, UDP over IPv6; of these, the lowest first: source and destination address, source and destination port",
    RW
  )
  val counters = new CounterBlock(page, state)
}

/** The OpenNIC block of a PF. */
class OpenNicFunctionView(state: FunctionState) extends Area {
  val page = new RegPage(FunctionViews.openNic, absent = BigInt("DEADBEEF", 16))
  val queues = new QueueBlock(page, state)
}

/** The page of a VF in its own BAR2. */
class VfView(state: FunctionState) extends Area {
  val page = new RegPage(FunctionViews.vf)
  page.word(0x000, "magic", B(Identification.magic, 32 bits), "the letters MRDN")
  page.word(
    0x004,
    "version",
    B(Identification.version, 32 bits),
    "version of the register map: major 31:16, minor 15:0"
  )
  val self = page.reg(0x008, "function", "Who the VF is")
  page.show(self, 0, "function", state.function, "number of the function")
  page.show(self, 16, "port", state.port, "Ethernet port it is bound to")
  val status = page.reg(0x00c, "status", "State of the VF")
  page.show(status, 0, "enabled", state.enabled, "has queues")
  page.show(status, 2, "link_up", state.linkUp, "the VF has a link")
  page.show(status, 8, "gigabits", state.gigabits, "Gb/s of the port when its link is up")
  val flags = page.reg(0x010, "flags", "What the VF takes and may do; the PF decides")
  for (((name, doc), i) <- FunctionViews.flagNames.zipWithIndex) page.show(flags, i, name, state.flags(i), doc)
  val queues = page.reg(0x014, "queues", "Its queues")
  page.show(queues, 0, "count", state.count, "number of queues")
  val counters = new CounterBlock(page, state)
}

/** The page of a port's frames without a function. */
class PortCounterView(state: FunctionState) extends Area {
  val page = new RegPage(FunctionViews.port)
  val counters = new CounterBlock(page, state)
}
