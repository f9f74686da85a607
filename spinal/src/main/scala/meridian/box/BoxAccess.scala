// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.bus._
import spinal.core._
import spinal.lib._

/** Hands accesses of BAR2 and of the PS, by turns, to the page or to the registers of a user's module (host clock).
  *
  * Latency: 2 cycles each way. One access at a time.
  */
class BoxAccess(p: ShellParam) extends Component {
  private val count = p.boxPlaces.size
  val io = new Bundle {
    val host, ps = slave(RegPort(BoxRegs.addressBits))
    val page = Vec(master(RegPort(BoxRegs.addressBits)), count) // in the order of p.boxPlaces
    val window = Vec(master(RegPort(BoxRegs.addressBits)), count)
  }
  val arbiter = new RegArbiter(BoxRegs.addressBits)
  arbiter.io.masters(0) << io.host
  arbiter.io.masters(1) << io.ps
  arbiter.io.masters(1).cmd.fromHost.allowOverride() := False
  val splitter = new RegSplitter(BoxRegs.addressBits, 2 * count)(command =>
    p.boxPlaces.map(BoxRegs.isPage(command.address, _)) ++ p.boxPlaces.map(BoxRegs.isWindow(command.address, _))
  )
  splitter.io.bus << arbiter.io.bus
  for (i <- 0 until count) {
    io.page(i) << splitter.io.target(i)
    io.window(i) << splitter.io.target(count + i)
  }
}
