// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest}
import meridian.qdma.UserInterruptPins
import spinal.core._
import spinal.lib._

/** Interrupts that the shell asks for, at the ports of the QDMA IP (PG302, "User Interrupts").
  *
  * A request is acknowledged when `request` takes it. It fails if there is no such function, if the function may not access
  * memory, or if the host was not told of such a vector. One whose vector is masked is acknowledged, and becomes a pending bit.
  *
  * Latency: 1 cycle from `request` to the answer. A request every 3 cycles.
  */
class UserInterruptPort(p: DmaParam) extends Component {
  val io = new Bundle {
    val pins = slave(UserInterruptPins())
    val busMaster = in Bits (p.functions bits)
    val request = master(Stream(InterruptRequest()))
  }
  private val answers = RegNext(io.pins.out_ack || io.pins.out_fail) init False // the shell takes it back in this cycle
  private val asks = io.pins.in_vld && !io.pins.out_ack && !io.pins.out_fail && !answers
  private val isMaster = p.hasFunction(io.pins.in_fnc) && io.busMaster(io.pins.in_fnc.resize(log2Up(p.functions) bits))
  private val can = isMaster && p.exists(io.pins.in_fnc) && io.pins.in_vec < p.toldVectors
  io.request.valid := asks && can
  io.request.function := io.pins.in_fnc.resized
  io.request.vector := io.pins.in_vec.resized
  io.request.aggregate := False
  io.pins.out_ack := RegNext(io.request.fire) init False
  io.pins.out_fail := RegNext(asks && !can) init False
}
