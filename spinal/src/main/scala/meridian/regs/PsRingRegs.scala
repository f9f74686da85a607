// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.bus._
import meridian.page.{CounterReader, PagePlace, RegPage, RegView}
import meridian.psport.{PsPortControl, PsPortRegisters}
import spinal.core._
import spinal.lib._

object PsRingRegs {
  val place = PagePlace("PS_RING", 0x10c000, RegView.both, "The PS's rings of a port. BAR2 reads them only", 4)
}

/** The page with the rings of one port (ps clock). Writes from BAR2 are refused: the host must not reach into the PS.
  *
  * Latency: 1 cycle a register access.
  */
class PsRingRegs(port: Int) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val control = master(PsPortControl())
    val hostRefused = out Bool ()
  }
  val page = new RegPage(PsRingRegs.place)
  val denied = io.bus.cmd.fromHost && io.bus.cmd.write
  page.attach(io.bus, allow = !denied)
  io.hostRefused := RegNext(io.bus.cmd.fire && denied, False)
  val rings = new PsPortRegisters(page.busif, 0, port, CounterReader.of(io.bus.cmd.payload))
  io.control <> rings.control
}
