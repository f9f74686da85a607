// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import meridian.dma.pcie._
import meridian.host.H2cPins
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Reads what descriptors point at, and makes a frame of each, in the order of the descriptors.
  *
  * A frame of a queue that has been changed or stopped since is dropped before it begins. A read that fails stops the queue
  * before the next frame is looked at; a frame that has begun by then, a long one, ends with err. A frame of no bytes is a
  * beat with zero_byte. A beat a cycle, and 4 cycles between frames. Nothing is read for a queue that has been changed or
  * stopped, up to 2 cycles ago.
  */
class H2cReader(waiting: Int) extends Component {
  val io = new Bundle {
    val descriptor = slave(Stream(H2cDescriptor()))
    val read = master(Stream(ReadCommand()))
    val beat = slave(Stream(Fragment(ReadBeat())))
    val queue = out(DmaParam.queueType())
    val epoch = in(RingEpoch()) // of this queue now
    val nextQueue = out(DmaParam.queueType())
    val nextEpoch = in(RingEpoch())
    val done = master(Stream(RingDone()))
    val h2c = master(Stream(H2cPins(32)))
    val idle = out Bool () // no descriptor waits for its frame
  }

  // The first cycle of a descriptor is for the comparison, which is a cycle behind. Both take it at once, or none.
  io.nextQueue := io.descriptor.payload.queue
  val isNextLive = RegNext(io.nextEpoch === io.descriptor.epoch)
  val isCompared = RegNext(io.descriptor.isStall) init False
  val living = io.descriptor.haltWhen(!isCompared).throwWhen(!isNextLive)
  val (asked, kept) = StreamFork2(living, synchronous = true)
  val reads = asked.throwWhen(asked.failed || asked.length === 0)
  io.read.arbitrationFrom(reads)
  io.read.function := reads.function
  io.read.address := reads.address
  io.read.bytes := reads.length
  val frames = kept.queue(waiting)
  io.idle := !frames.valid && !io.descriptor.valid

  io.queue := frames.payload.queue
  val isLive = RegNext(io.epoch === frames.epoch)
  val failed = Reg(Bool())
  val hasData = RegNext(!frames.failed && frames.length =/= 0) // of a frame that is there for the second cycle
  val made = Stream(H2cPins(32))
  made.valid := False
  made.tdata := io.beat.data.andMask(!io.beat.failed) // else they are of another read, perhaps another function's
  made.tcrc := 0
  made.tuser_qid := frames.payload.queue
  made.tuser_port_id := 0
  made.tuser_err := io.beat.failed
  made.tuser_mdata := frames.metadata
  made.tuser_mty := io.beat.empty.resized
  made.tuser_zero_byte := !hasData
  made.tlast := io.beat.last
  when(!hasData) {
    made.tdata := 0
    made.tuser_err := False
    made.tuser_mty := 0
    made.tlast := True
  }
  io.h2c << made.m2sPipe()
  io.beat.ready := False
  frames.ready := False
  io.done.valid := False
  io.done.payload.queue := frames.payload.queue
  io.done.epoch := frames.epoch
  io.done.failed := failed
  io.done.onDescriptor := frames.failed

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val begin, pass, drop, tell = new State

    // The comparison is a cycle behind.
    idle.whenIsActive(when(frames.valid)(goto(begin)))
    begin.whenIsActive {
      failed := frames.failed
      when(!isLive) {
        when(hasData)(goto(drop)) otherwise {
          frames.ready := True
          goto(idle)
        }
      } elsewhen (frames.failed) {
        goto(tell)
      } elsewhen (!hasData) {
        goto(pass)
      } elsewhen (io.beat.valid) {
        when(io.beat.failed) {
          io.beat.ready := True
          failed := True
          goto(tell)
        } otherwise goto(pass)
      }
    }
    pass.whenIsActive {
      made.valid := !hasData || io.beat.valid
      io.beat.ready := made.ready && hasData
      when(made.fire && made.tlast) {
        failed := hasData && io.beat.failed
        goto(tell)
      }
    }
    drop.whenIsActive {
      io.beat.ready := True
      when(io.beat.valid && io.beat.last) {
        frames.ready := True
        goto(idle)
      }
    }
    tell.whenIsActive {
      io.done.valid := True
      when(io.done.ready) {
        frames.ready := True
        goto(idle)
      }
    }
  }
}
