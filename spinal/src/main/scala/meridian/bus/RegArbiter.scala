// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import spinal.core._
import spinal.lib._

/** Two masters, one bus: whole accesses by turns when both ask.
  *
  * Latency: 1 cycle before the command, none after the answer. A master waits for at most one access of the other.
  */
class RegArbiter(addressWidth: Int) extends Component {
  val io = new Bundle {
    val masters = Vec(slave(RegPort(addressWidth)), 2)
    val bus = master(RegPort(addressWidth))
  }
  val busy = RegInit(False)
  val issue = RegInit(False)
  val owner = RegInit(U(0, 1 bits))
  val command = Reg(RegCommand(addressWidth))

  val asks = io.masters.map(_.cmd.valid)
  val next = Mux(asks(0) && asks(1), ~owner, U(asks(1)))
  for ((m, i) <- io.masters.zipWithIndex) {
    m.cmd.ready := !busy && next === i
    m.rsp.valid := io.bus.rsp.valid && owner === i
    m.rsp.payload := io.bus.rsp.payload
    when(m.cmd.fire) {
      command := m.cmd.payload
      owner := i
      busy := True
      issue := True
    }
  }
  io.bus.cmd.valid := issue
  io.bus.cmd.payload := command
  when(io.bus.cmd.fire) { issue := False }
  when(io.bus.rsp.valid) { busy := False }
}
