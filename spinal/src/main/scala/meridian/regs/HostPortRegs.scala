// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.egress.EgressClass
import meridian.page.{CounterHighs, CounterReader, PagePlace, RegPage, RegView}
import meridian.settings.{PortClasses, PortFlags}
import spinal.core._
import spinal.lib._

object HostPortRegs {
  val place = PagePlace("HOST_PORT", 0x111000, RegView.pf, "What the receive filter does with a port")
}

/** Settings a port has in the receive filter (host clock).
  *
  * Latency: 1 cycle a register access.
  */
class HostPortRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val linkUp, rxEnable, txEnable = in Bits (p.ports bits) // already in the host clock
    val ports = out Vec (PortFlags(p), p.ports)
    val txLost = p.twoQueues generate (in Vec (Bits(EgressClass.count bits), p.ports)) // a pulse a frame
  }
  val page = new RegPage(HostPortRegs.place)
  page.attach(io.bus)

  page.array(
    0x00,
    "default_function",
    p.ports,
    0x10,
    "Who gets unicast that no table entry and no promiscuous function takes"
  ) { (i, r) =>
    io.ports(i).defaultFunction := page.rw(r, 0, "function", UInt(8 bits), "the function")
    io.ports(i).defaultValid := page.rw(r, 31, "valid", Bool(), "0: such frames are dropped and counted")
  }
  page.array(0x04, "state", p.ports, 0x10, "State of the port as the filters see it") { (i, r) =>
    io.ports(i).linkUp := io.linkUp(i)
    io.ports(i).rxEnable := io.rxEnable(i)
    io.ports(i).txEnable := io.txEnable(i)
    page.show(r, 0, "link_up", io.linkUp(i), "the port has a link")
    page.show(r, 1, "rx_enable", io.rxEnable(i), "frames are handed to the host")
    page.show(r, 2, "tx_enable", io.txEnable(i), "frames of the host are sent")
  }
  page.array(0x08, "switching", p.ports, 0x10, "Edge virtual bridging: what stays inside the card") { (i, r) =>
    io.ports(i).veb := page.rw(
      r,
      0,
      "veb",
      Bool(),
      "frames between functions of the port, and the PS, go inside the card; 0: all frames of host and PS go to the wire"
    )
  }

  /** Only with the queues of the option. */
  val egress = p.twoQueues generate new Area {
    page.array(0x0c, "high_priorities", p.ports, 0x10, "Which of its two transmit queues a frame of the host takes") {
      (i, r) =>
        val doc =
          "a bit for each priority (PCP): frames with it take the upper queue, which goes first. That of a frame " +
            "without 802.1Q tag is 0"
        io.ports(i).high := page.rw(r, 0, "pcp", Bits(PortClasses.priorities bits), doc, reset = EgressClass.resetMap)
    }
    val highs = new CounterHighs(CounterReader.of(io.bus.cmd.payload))
    for ((queue, c) <- EgressClass.names.zipWithIndex) {
      val counts = Vec.fill(p.ports)(Reg(UInt(64 bits)) init 0)
      val (name, doc) = (s"tx_${queue}_full", s"Frames of the host that found no room in the $queue queue of the port")
      val lows = scala.collection.mutable.ArrayBuffer[spinal.lib.bus.regif.RegInst]()
      page.array(0x40 + 0x40 * c, s"${name}_low", p.ports, 0x10, s"$doc; low word, to be read first") { (i, r) =>
        counts(i) := counts(i) + U(io.txLost(i)(c))
        page.show(r, 0, "count", counts(i)(31 downto 0).asBits, "bits 31 to 0")
        lows += r
      }
      page.array(
        0x44 + 0x40 * c,
        s"${name}_high",
        p.ports,
        0x10,
        s"$doc; high word as of the same reader's read of the low word just before"
      )((i, r) => page.show(r, 0, "value", highs.of(lows(i), counts(i)), "bits 63 to 32"))
    }
  }

  /** Only with a pool, whose page has them. */
  val classes = p.pool generate (in Vec (PortClasses(), p.ports))
  if (p.pool) for ((port, own) <- io.ports.zip(classes)) port.classes := own
}
