// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.page.{PagePlace, RegPage, RegView}
import meridian.ptp.{PhcRegisters, PhcSignals}
import spinal.core._
import spinal.lib._

object PtpRegs {
  val place = PagePlace("PTP", 0x101000, RegView.both, "The PTP clock. Written by the PS only")
}

/** The page of the PTP clock (ps clock). Writes from BAR2 are refused: the host must not be able to move the clock.
  *
  * Latency: 1 cycle a register access.
  */
class PtpRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val phc = master(PhcSignals())
    val locked = in Bits (2 * p.ports bits) // receive clock of port 0, transmit clock of port 0, and so on; any clock
    val interrupt = out Bool ()
    val hostRefused = out Bool ()
  }
  val page = new RegPage(PtpRegs.place)
  val denied = io.bus.cmd.fromHost && io.bus.cmd.write
  page.attach(io.bus, allow = !denied)
  io.hostRefused := RegNext(io.bus.cmd.fire && denied, False)
  val clock = new PhcRegisters(page.busif, 0, p.psFrequency, BufferCC(io.locked, B(0, 2 * p.ports bits)))
  io.phc.control <> clock.control
  io.phc.pps := clock.pps
  io.phc.perout := clock.perout
  io.phc.extTs := clock.extTs
  clock.time := io.phc.time
  clock.ppsSecond := io.phc.second
  clock.peroutRunning := io.phc.peroutRunning
  clock.extTsEvent << io.phc.extTsEvent
  clock.extTsLost := io.phc.extTsLost
  io.interrupt := clock.interrupt
}
