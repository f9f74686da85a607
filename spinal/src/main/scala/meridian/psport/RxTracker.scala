// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ptp.PtpTime
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** A received frame whose payload is on its way to memory. */
case class RxPending() extends Bundle {
  val index = UInt(16 bits)
  val length = UInt(16 bits)
  val timestamp = PtpTime()
  val timestampValid, inside = Bool()

  /** Write responses to wait for. */
  val bursts = UInt(9 bits)

  /** Nothing is written, as the descriptor's address is not valid. */
  val badDescriptor = Bool()
}

/** What became of a received frame. */
case class RxDone() extends Bundle {
  val length = UInt(16 bits)
  val error = Bool()
}

/** Turns a frame into a completion when memory has acknowledged all of its payload.
  *
  * Responses come in the order of the bursts, as all have one id. Latency: 2 cycles from the last response to the
  * completion. Throughput: one response a cycle, one cycle between frames. A response waits only for the entry of its
  * frame and for room at the output, which the caller must grant by limiting the frames in flight.
  */
class RxTracker(axiConfig: Axi4Config, depth: Int) extends Component {
  val io = new Bundle {
    val pending = slave(Stream(RxPending()))
    val b = slave(Stream(Axi4B(axiConfig)))
    val completion = master(Stream(Completion()))
    val done = master(Flow(RxDone()))
  }
  val head = io.pending.queue(depth, latency = 1)
  val seen = Reg(UInt(9 bits)) init 0
  val error = RegInit(False)
  val complete = seen === head.bursts
  io.b.ready := head.valid && !complete
  when(io.b.fire) {
    seen := seen + 1
    error setWhen PsAxi.isError(io.b.resp)
  }

  val bad = error || head.badDescriptor
  val cause = Mux(head.badDescriptor, FrameError.badDescriptor(), Mux(error, FrameError.bus(), FrameError.none()))
  val flags = B(0, 16 bits)
  flags(CompletionFlags.timestamp) := head.timestampValid
  flags(CompletionFlags.inside) := head.inside
  flags(CompletionFlags.error) := bad
  flags(CompletionFlags.cause, 2 bits) := cause.asBits

  val completion = head.haltWhen(!complete).swapPayload(Completion())
  completion.index := head.index
  completion.low := B(0, 16 bits) ## (bad ? U(0, 16 bits) | head.length) ## head.timestamp.nanoseconds
  completion.high := flags ## head.timestamp.seconds
  io.completion << completion
  io.done.valid := RegNext(completion.fire) init False
  io.done.length := RegNext(head.length)
  io.done.error := RegNext(bad)
  when(completion.fire) {
    seen := 0
    error := False
  }
}
