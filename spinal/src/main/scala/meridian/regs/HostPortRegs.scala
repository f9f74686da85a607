// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.regs.bus._
import meridian.ShellParam
import meridian.filter.PortFlags
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
}
