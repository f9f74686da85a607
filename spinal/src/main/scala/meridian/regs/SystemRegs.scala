// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.page.{PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType

object SystemRegs {
  val place = PagePlace("SYSTEM", 0x0, RegView.pf, "System configuration as the OpenNIC shell has it")

  /** Shell reset and status bits of the blocks a driver of OpenNIC knows: QDMA, MAC and packet adapter of two ports. */
  def blocks(ports: Int): Int = 0x1 | 0x30 | (if (ports > 1) 0x300 else 0)
}

/** System configuration block of OpenNIC (host clock). Its drivers write a reset bit and wait for the status bit to
  * come back, without a time-out. Nothing in this shell needs that reset: the status bit falls and comes back after 16
  * to 32 cycles.
  *
  * Latency: 1 cycle a register access.
  */
class SystemRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val build_date = in Bits (32 bits)
  }
  val page = new RegPage(SystemRegs.place, absent = BigInt("DEADBEEF", 16))
  page.attach(io.bus)

  page.word(0x00, "build_timestamp", io.build_date, "build date of the bitstream, as in the identification")

  val tick = CounterFreeRun(16).willOverflow
  def resetPair(at: Int, name: String, implemented: BigInt, doc: String): Unit = {
    val width = implemented.bitLength
    val reset = page.reg(at, s"${name}_reset", s"$doc: reset")
    val request = page.rw(reset, 0, "request", Bits(width bits), "1: status falls and comes back")
    val hit = RegNext(reset.hitDoWrite, False)
    val all = B(implemented, width bits)
    val done, due = Reg(Bits(width bits)) init all
    // A reset in the cycle of a tick holds back its own blocks only.
    val falls = request.andMask(hit)
    done := Mux(tick, due, done) & ~falls
    due := Mux(tick, all, due) & ~falls
    page.show(
      page.reg(at + 4, s"${name}_status", s"$doc: reset done"),
      0,
      "done",
      done,
      "a bit a block",
      AccessType.RO,
      implemented
    )
  }
  resetPair(0x04, "system", 1, "Whole system")
  resetPair(
    0x0c,
    "shell",
    SystemRegs.blocks(p.ports),
    "Blocks of the shell: 0 QDMA, 4 MAC of port 0, 5 its packet adapter, 8 and 9 the same of port 1"
  )
  resetPair(0x14, "user", 1, "User blocks")
}
