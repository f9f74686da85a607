// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import spinal.core._
import spinal.lib._

/** Hands each access to the one target whose address it has; an access that nobody takes is answered here.
  *
  * Latency: 1 cycle before the target, 1 after it. One access at a time; a target that is not ready delays only the
  * access it is for.
  *
  * @param targets number of targets
  * @param select  for a command, a Bool a target; at most one may hold
  * @param absent  what a read gives where nothing lives
  */
class RegSplitter(addressWidth: Int, targets: Int)(
    select: RegCommand => Seq[Bool],
    absent: RegCommand => Bits = _ => B(0, 32 bits)
) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(addressWidth))
    val target = Vec(master(RegPort(addressWidth)), targets)
  }

  val command = Reg(RegCommand(addressWidth))
  val chosen = Reg(Bits(targets bits))
  val nobody = RegInit(False)
  val issue = RegInit(False)
  val busy = RegInit(False)

  io.bus.cmd.ready := !busy
  nobody := False
  when(io.bus.cmd.fire) {
    val hits = Vec(select(io.bus.cmd.payload)).asBits
    command := io.bus.cmd.payload
    chosen := hits
    nobody := !hits.orR
    issue := hits.orR
    busy := True
  }
  for ((target, i) <- io.target.zipWithIndex) {
    target.cmd.valid := issue && chosen(i)
    target.cmd.payload := command
    when(target.cmd.fire) { issue := False }
  }

  val answer = Reg(Flow(RegAnswer()))
  answer.valid.init(False)
  answer.valid := nobody || io.target.map(_.rsp.valid).orR
  val merged = io.target.map(t => t.rsp.payload.asBits.andMask(t.rsp.valid)).reduceBalancedTree(_ | _)
  answer.payload.assignFromBits(merged)
  when(nobody) {
    answer.data := absent(command)
    answer.refused := False
    answer.unmapped := True
  }
  when(answer.valid) { busy := False }
  io.bus.rsp << answer
}
