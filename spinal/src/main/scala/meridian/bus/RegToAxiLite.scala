// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** Register accesses of the shell as an AXI4-Lite master, towards a slave that is not trusted to answer.
  *
  * An access that is not answered after `timeout` cycles ends as refused, with 0xDEADBEEF. The slave then counts as hung,
  * and further accesses are refused at once, until `clear`: an answer that comes late cannot pass for that of another
  * access. An error response is a refused access.
  *
  * Latency: 1 cycle before the command, 1 after the answer. One access at a time.
  */
class RegToAxiLite(addressWidth: Int, timeout: Int = 256) extends Component {
  require(isPow2(timeout))
  val io = new Bundle {
    val bus = slave(RegPort(addressWidth))
    val axi = master(AxiLite4(AxiLite4Config(addressWidth, 32)))
    val clear = in Bool () // the slave is in reset
    val hung = out Bool ()
  }
  val command = Reg(RegCommand(addressWidth))
  val busy, address, data, hung = RegInit(False)
  val timer = Reg(UInt(log2Up(timeout) bits))
  timer := timer + 1

  io.bus.cmd.ready := !busy
  when(io.bus.cmd.fire) {
    command := io.bus.cmd.payload
    busy := True
    address := !io.clear && !hung
    data := !io.clear && !hung && io.bus.cmd.write
    timer := 0
  }
  io.axi.aw.valid := address && command.write
  io.axi.aw.addr := command.address
  io.axi.aw.setUnprivileged
  io.axi.w.valid := data
  io.axi.w.data := command.data
  io.axi.w.strb := B"1111"
  io.axi.ar.valid := address && !command.write
  io.axi.ar.addr := command.address
  io.axi.ar.setUnprivileged
  when(io.axi.aw.fire || io.axi.ar.fire)(address := False)
  when(io.axi.w.fire)(data := False)

  val asked = busy && !address && !data && !hung && !io.clear
  io.axi.b.ready := asked && command.write
  io.axi.r.ready := asked && !command.write
  val answered = io.axi.b.fire || io.axi.r.fire
  val error = Mux(command.write, io.axi.b.resp, io.axi.r.resp).msb
  val fails = busy && !answered && (hung || io.clear || timer.andR)
  io.bus.rsp.valid := RegNext(answered || fails) init False
  io.bus.rsp.data := RegNext(Mux(fails, B"xDEADBEEF", io.axi.r.data))
  io.bus.rsp.refused := RegNext(fails || error)
  io.bus.rsp.unmapped := False
  when(answered || fails) {
    busy := False
    address := False
    data := False
  }
  when(fails && timer.andR)(hung := True)
  when(io.clear)(hung := False)
  io.hung := hung
}
