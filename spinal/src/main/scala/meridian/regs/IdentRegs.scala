// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.page.{PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._

object Identification {
  val place = PagePlace("IDENT", 0x100000, RegView.both, "Identification of the card and of its register map")
  val magic = BigInt("4D52444E", 16) // "MRDN"
  val major = 1
  val minor = 22
  val version = BigInt(major) << 16 | minor

  /** Bits of the capabilities register. */
  val capabilities = Seq(
    "ptp_clock" -> "a PTP hardware clock, set by the PS",
    "ps_port" -> "a port of the PS on every Ethernet port",
    "mac_table" -> "exact match on address and VLAN",
    "groups" -> "multicast groups with function lists",
    "credit" -> "frames for full queues are dropped before the DMA engine",
    "vf_page" -> "a page of its own in BAR2 of a VF",
    "completion16" -> "completion entries of 16 bytes for a queue that asks for them",
    "microsoft_hash" -> "RSS in Microsoft's order, for a function that asks for it",
    "vlan_strip" -> "802.1Q tags taken out of the frames that a function receives",
    "pacing" -> "transmit rates of functions, for queues that ask for it",
    "veb" -> "switching between functions, and with the PS, inside the card",
    "link_state" -> "what a function is told of its link, and the rate of a port",
    "vlan_insert" -> "functions in a VLAN that they do not see",
    "transmit_offload" -> "tags and checksums for frames of a queue that may ask for them",
    "ps_limit" -> "limits of the frames that the PS gets from the wire",
    "stamp_latency" -> "timestamps that refer to the connector, by the latencies of a port",
    "control_frames" -> "frames that control the link are for functions that may send them",
    "hash_key" -> "the hash of the MAC table has a key that the host draws",
    "hash_fields" -> "RSS in Microsoft's order may be symmetric, or leave fields out"
  )

  /** Beside them, of a build that has it: bits of their own. */
  val selfTest = (
    19,
    "self_test",
    "a packet generator and checker at the host streams and at each port, and access to the transceivers"
  )
  val userBox = (20, "user_box", "a module of the user's at the wire of each port")
  val hostBox = (21, "host_box", "a module of the user's at the host, between filters and QDMA streams")
  val boxIrq = (27, "box_irq", "interrupts of user's modules, to the host and to the PS")
  val egress = (24, "egress", "two transmit queues a port for frames of the host")
  val pool = (28, "egress_pool", "transmit queues of all ports in one memory, with eight classes a port")
  val pieces = (29, "pieces", "frames of the host in up to four pieces of memory, in one descriptor of 32 or 64 bytes")
  val segments = (30, "segments", "large frames of TCP and UDP are cut into segments, if their descriptors ask for it")
  val push = (31, "push", "small frames that the host writes into BAR4 are sent without a read of its memory")
  val flowControlSent = (26, "flow_control_sent", "PAUSE and PFC are sent by the fill of a port's receive buffer")
  val flowControl = (25, "flow_control", "transmit queues stop for PAUSE and PFC that a port receives")
}

/** What the card is and how it was built (ps clock).
  *
  * Latency: 1 cycle a register access.
  */
class IdentRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val build_date, build_hash = in Bits (32 bits)
    val unmapped, hostRefused, partialWrite = in Bool () // a pulse an access
  }
  val page = new RegPage(Identification.place)
  page.attach(io.bus)
  page.word(0x00, "magic", B(Identification.magic, 32 bits), "the letters MRDN")
  val version = page.reg(0x04, "version", "Version of the register map; another major is another map")
  page.show(version, 0, "minor", B(Identification.minor, 16 bits), "grows with additions")
  page.show(version, 16, "major", B(Identification.major, 16 bits), "grows with changes")
  page.word(0x08, "build_date", io.build_date, "from the bitstream: seconds since 1970, UTC")
  page.word(0x0c, "build_hash", io.build_hash, "from the bitstream: first 32 bits of the git commit")
  val capabilities = page.reg(0x10, "capabilities", "What this build has")
  for (((name, doc), i) <- Identification.capabilities.zipWithIndex) page.show(capabilities, i, name, True, doc)
  for (
    (is, (bit, name, doc)) <- Seq(
      p.selfTest -> Identification.selfTest,
      p.box.nonEmpty -> Identification.userBox,
      p.hostBox.nonEmpty -> Identification.hostBox,
      p.twoQueues -> Identification.egress,
      p.egress -> Identification.flowControl,
      p.sendsPause -> Identification.flowControlSent,
      p.hasBoxes -> Identification.boxIrq,
      p.pool -> Identification.pool,
      p.ownDma -> Identification.pieces,
      p.segmentation -> Identification.segments,
      p.push -> Identification.push
    )
    if is
  ) page.show(capabilities, bit, name, True, doc)
  val geometry = page.reg(0x14, "geometry", "Sizes of the build")
  page.show(geometry, 0, "ports", U(p.ports, 8 bits), "Ethernet ports")
  page.show(geometry, 8, "host_bytes", U(p.hostBytes, 8 bits), "bytes in a beat of the host streams")
  page.show(geometry, 16, "functions", U(p.functions, 16 bits), "PCIe functions, PFs and VFs")
  val queues = page.reg(0x18, "queues", "Sizes of the build")
  page.show(queues, 0, "queues", U(p.queues, 16 bits), "QDMA queues of all functions")
  page.show(queues, 16, "groups", U(p.groups, 16 bits), "multicast groups")
  val filter = page.reg(0x1c, "tables", "Sizes of the build")
  page.show(filter, 0, "mac_entries", U(p.macEntries, 16 bits), "entries the MAC table holds for certain")
  page.show(filter, 16, "ps_addresses", U(p.psAddresses, 8 bits), "addresses in the PS filter of a port")
  page.word(0x20, "max_frame", B(p.maxFrame, 32 bits), "largest frame in bytes without FCS")
  page.rw(page.reg(0x24, "scratch", "For tests of the path to the registers"), 0, "value", Bits(32 bits), "no effect")
  val clocks = page.reg(0x28, "clocks", "Clocks of the build")
  page.show(clocks, 0, "host_mhz", U(p.hostMhz, 16 bits), "MHz of the host streams; timers of the DMA engine count it")
  for (
    (at, name, event, doc) <- Seq(
      (0x30, "unmapped", io.unmapped, "accesses of this bank where no register is"),
      (0x34, "host_refused", io.hostRefused, "writes by BAR2 to registers that only the PS may write"),
      (0x38, "partial_write", io.partialWrite, "writes by the PS that were not of a whole word")
    )
  ) {
    val count = Reg(UInt(32 bits)) init 0
    count := count + U(event)
    page.word(at, name, count.asBits, doc)
  }
}
