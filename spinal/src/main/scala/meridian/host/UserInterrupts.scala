// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.qdma.UserInterruptPins
import spinal.core._
import spinal.lib._

/** A message of MSI-X that the shell asks the QDMA IP for. */
case class HostInterrupt() extends Bundle {
  val function = UInt(8 bits)
  val vector = UInt(11 bits)
}

/** Hands requests for messages to the QDMA IP, one at a time, by turns (PG302, "User Interrupts"). A source that takes its
  * request back before it fires asks for nothing.
  *
  * Latency: 1 cycle from a request to the pins. Throughput: a request as soon as the IP has ended the one before, after a
  * cycle without one. An IP that does not answer holds up other requests, and nothing else.
  */
class UserInterrupts(sources: Int) extends Component {
  val io = new Bundle {
    val request = Vec(slave(Stream(HostInterrupt())), sources)
    val failed = out Bits (sources bits) // a pulse a message that the IP could not send
    val pins = master(UserInterruptPins())
    val idle = out Bool ()
  }
  val arbiter = StreamArbiterFactory().roundRobin.noLock.build(HostInterrupt(), sources)
  for ((to, from) <- arbiter.io.inputs.zip(io.request)) to << from
  val busy = RegInit(False)
  val message = Reg(HostInterrupt())
  val source = Reg(UInt(log2Up(sources) max 1 bits)) init 0
  val answered = busy && (io.pins.out_ack || io.pins.out_fail)
  arbiter.io.output.ready := !busy
  when(arbiter.io.output.fire) {
    busy := True
    message := arbiter.io.output.payload
    source := arbiter.io.chosen.resized
  }
  when(answered)(busy := False)
  io.pins.in_vld := busy
  io.pins.in_vec := message.vector
  io.pins.in_fnc := message.function
  io.failed := RegNext(Vec((0 until sources).map(i => answered && io.pins.out_fail && source === i)).asBits) init 0
  io.idle := !busy && !io.request.map(_.valid).orR
}
