// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.bus.{BarBus, RegToAxiLite}
import meridian.dma.{BridgePort, HostAccess}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** Accesses of BAR2 as the QDMA IP hands them on: an AXI4-Lite master, with the offset in BAR2 as the address and the
  * function in the user bits. One access at a time, 2 cycles and what the slave takes.
  *
  * A read that the slave refuses is all ones. So is each one from when the slave has not answered for `timeout` cycles
  * until reset, and writes have no effect then: a slave that hangs holds BAR0 up once. Each such access pulses
  * `unanswered`. The shell's registers answer within some 4096 cycles in any case, see RegCrossing; the host gives an
  * access up after 50 us at the earliest (PCIe, "Device Control 2 Register"), and 8192 cycles are 33 us.
  */
class BarBridge(timeout: Int = 8192) extends Component {
  val io = new Bundle {
    val port = slave(BridgePort())
    val axil = master(AxiLite4(BarBus.config))
    val awuser, aruser = out Bits (BarBus.userBits bits)
    val unanswered = out Bool () // with the end of the access
  }
  val bus = new RegToAxiLite(HostAccess.offsetBits, timeout)
  bus.io.clear := False

  val asked = RegInit(False)
  val access = io.port.access
  val command = bus.io.bus.cmd
  asked := (asked || command.fire) && !access.ready
  command.valid := access.valid && !asked
  command.write := access.write
  command.address := access.offset
  command.data := access.access.data
  command.function := access.access.function
  command.fromHost := True
  access.ready := bus.io.bus.rsp.valid
  io.unanswered := bus.io.bus.rsp.valid && bus.io.hung
  io.port.value := bus.io.bus.rsp.refused ? B(BigInt("ffffffff", 16), 32 bits) | bus.io.bus.rsp.data

  io.axil.aw.arbitrationFrom(bus.io.axi.aw)
  io.axil.aw.addr := bus.io.axi.aw.addr.resized
  io.axil.aw.prot := bus.io.axi.aw.prot
  io.axil.ar.arbitrationFrom(bus.io.axi.ar)
  io.axil.ar.addr := bus.io.axi.ar.addr.resized
  io.axil.ar.prot := bus.io.axi.ar.prot
  io.axil.w << bus.io.axi.w
  io.axil.b >> bus.io.axi.b
  io.axil.r >> bus.io.axi.r
  // The access stands still until it is done.
  val user = (access.access.function << BarBus.functionLsb).asBits.resize(BarBus.userBits)
  io.awuser := user
  io.aruser := user
}
