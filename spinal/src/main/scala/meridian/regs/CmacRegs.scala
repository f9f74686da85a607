// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.page.{PagePlace, RegPage, RegView}
import meridian.regs.counters._
import spinal.core._
import spinal.lib._

object CmacRegs {
  val place = PagePlace(
    "CMAC",
    0x8000,
    RegView.pf,
    "MAC of a port as the OpenNIC shell has it; ports 0 and 1",
    2,
    0x4000
  )

  /** What OpenNIC's driver looks for to know that a MAC is there. */
  val coreVersion = 0x301
}

/** The registers of OpenNIC's 100G MAC that its driver uses, for a port of this shell (ps clock): version, enables,
  * link, statistics. The enables gate only what goes to and comes from the host.
  *
  * Latency: 5 cycles a register access, more for a statistic (see CounterWindow).
  */
class CmacRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(14))
    val linkUp, hostRxEnable, hostTxEnable = in Bool ()
    val enable = out(PortRegs.EnableWrite())
    val tick = out Bool ()
    val question = master(Stream(PortQuestion()))
    val answer = slave(Flow(UInt(64 bits)))
  }
  val page = new RegPage(CmacRegs.place, addressWidth = 14, absent = BigInt("DEADBEEF", 16))
  val window = new CounterWindow(
    page,
    io.bus,
    0x2b8,
    0x4a0,
    PortCounters.cmacOffsets,
    delta = true,
    io.question,
    io.answer
  )

  import spinal.lib.bus.regif.AccessType.RW
  val tx = page.reg(0x0c, "conf_tx_1", "Transmit")
  page.show(tx, 0, "enable", io.hostTxEnable, "frames of the host are sent", RW)
  io.enable.tx.valid := tx.hitDoWrite
  io.enable.tx.payload := page.bus.wdat(0)
  val rx = page.reg(0x14, "conf_rx_1", "Receive")
  page.show(rx, 0, "enable", io.hostRxEnable, "frames are handed to the host", RW)
  io.enable.rx.valid := rx.hitDoWrite
  io.enable.rx.payload := page.bus.wdat(0)
  page.word(0x24, "core_version", B(CmacRegs.coreVersion, 32 bits), "what OpenNIC's driver looks for")
  for ((at, name) <- Seq(0x200 -> "stat_tx_status", 0x204 -> "stat_rx_status")) {
    val r = page.reg(at, name, "3 while the port has a link, else 0")
    page.show(r, 0, "status", io.linkUp, "")
    page.show(r, 1, "aligned", io.linkUp, "")
  }
  val tick = page.reg(0x2b0, "tick", "Statistics show what has come between the last two ticks")
  page.show(tick, 0, "tick", False, "1: tick", spinal.lib.bus.regif.AccessType.W1P)
  io.tick := RegNext(tick.hitDoWrite && page.bus.wdat(0), False)
}
