// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.PsRxMeta
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Receive ring: decides on each frame, writes it to the buffer of the next descriptor, then the completion.
  *
  * A frame is dropped whole, and counted, if the ring does not run, if software has posted no descriptor, or if it is
  * longer than the next buffer; the descriptor is then kept for the next frame. So is a frame from inside the card unless
  * more than half of the ring is posted: the other half is for the wire, whatever the host sends. With limits, the last
  * quarter is for PTP: other frames of the wire find no descriptor there. The frame waits only while descriptors that
  * are posted are still being fetched and while 8 frames are on their way to memory.
  *
  * Latency: 5 cycles from the first beat to AW. Throughput: one beat a cycle, 4 cycles between frames, as long as 8
  * frames cover the latency of two memory writes.
  */
class RxEngine(p: ShellParam, axiConfig: Axi4Config) extends Component {
  val maxInFlight = 8
  val io = new Bundle {
    val config = in(RingConfig())
    val frames = slave(FrameStream(8, PsRxMeta(p)))
    val descriptor = slave(Stream(Descriptor()))
    val index = in UInt (16 bits)
    val empty, halfPosted, quarterPosted = in Bool ()
    val axi = master(Axi4WriteOnly(axiConfig))
    val completion = master(Stream(Completion()))
    val done = master(Flow(RxDone()))
    val dropDisabled, dropNoDescriptor, dropBufferSmall, dropInside = out Bool () // pulses

    /** No frame is accepted and not completed. */
    val idle = out Bool ()

    /** The engine is in no frame at all, not even one that it drops. */
    val atRest = out Bool ()
  }
  object State extends SpinalEnum {
    val decide, start, write, drop = newElement()
  }
  val state = RegInit(State.decide())
  val inFlight = Reg(UInt(log2Up(maxInFlight + 1) bits)) init 0
  val accept = False

  val dropDisabled, dropNoDescriptor, dropBufferSmall, dropInside = False
  when(state === State.decide && io.frames.valid) {
    when(!io.config.open) {
      dropDisabled := True
    } elsewhen (io.frames.meta.inside && !io.halfPosted) {
      dropInside := True
    } elsewhen (io.frames.meta.bulk && !io.quarterPosted) {
      dropNoDescriptor := True
    } elsewhen (io.descriptor.valid) {
      when(io.frames.meta.length > io.descriptor.length) {
        dropBufferSmall := True
      } elsewhen (inFlight =/= maxInFlight) {
        accept := True
      }
    } elsewhen (io.empty) {
      dropNoDescriptor := True
    }
  }
  when(accept)(state := State.start)
  when(dropDisabled || dropNoDescriptor || dropBufferSmall || dropInside)(state := State.drop)
  io.descriptor.ready := accept
  io.dropDisabled := RegNext(dropDisabled) init False
  io.dropNoDescriptor := RegNext(dropNoDescriptor) init False
  io.dropBufferSmall := RegNext(dropBufferSmall) init False
  io.dropInside := RegNext(dropInside) init False

  val job = new Area {
    val descriptor = RegNextWhen(io.descriptor.payload, accept)
    val index = RegNextWhen(io.index, accept)
    val meta = RegNextWhen(io.frames.meta, accept)
  }

  val writer = new RxWriter(axiConfig)
  val tracker = new RxTracker(axiConfig, maxInFlight)
  val starting = state === State.start
  val canStart = writer.io.command.ready && tracker.io.pending.ready
  writer.io.command.valid := starting && canStart && job.descriptor.addressValid
  writer.io.command.address := job.descriptor.address
  writer.io.command.length := job.meta.length
  tracker.io.pending.valid := starting && canStart
  tracker.io.pending.index := job.index
  tracker.io.pending.length := job.meta.length
  tracker.io.pending.timestamp := job.meta.timestamp
  tracker.io.pending.timestampValid := job.meta.timestampValid
  tracker.io.pending.inside := job.meta.inside
  tracker.io.pending.badDescriptor := !job.descriptor.addressValid
  tracker.io.pending.bursts := RxWrite.bursts(job.descriptor.address, job.meta.length)
  when(!job.descriptor.addressValid)(tracker.io.pending.bursts := 0)
  when(starting && canStart)(state := Mux(job.descriptor.addressValid, State.write(), State.drop()))

  writer.io.data.valid := io.frames.valid && state === State.write
  writer.io.data.fragment := io.frames.data
  writer.io.data.last := io.frames.last
  io.frames.ready := (state === State.write && writer.io.data.ready) || state === State.drop
  when(io.frames.fire && io.frames.last)(state := State.decide)

  io.axi.aw << writer.io.aw
  io.axi.w << writer.io.w
  tracker.io.b << io.axi.b
  io.done << tracker.io.done

  // As deep as frames can be in flight, so that the tracker never holds up a write response.
  io.completion << tracker.io.completion.queue(maxInFlight, latency = 1)
  inFlight := inFlight + U(accept) - U(io.completion.fire)
  io.idle := inFlight === 0
  io.atRest := state === State.decide
}
