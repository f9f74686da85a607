// SPDX-License-Identifier: Apache-2.0
package meridian.dma.push

import meridian.dma.DmaParam
import meridian.dma.descriptor.{PushStart, RingDone}
import meridian.qdma.H2cPins
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Puts frames from slots between those that were read from the host's memory, before the next of these. So a queue's
  * frames stay in their order: a pushed one is taken only if no other of its queue is under way.
  *
  * One frame at a time: a beat a cycle, the first 3 cycles behind its start at the earliest. A frame whose queue is
  * changed or stopped before it begins is dropped, and its descriptor with it; the slot is free again.
  */
class PushSender(p: DmaParam) extends Component {
  val io = new Bundle {
    val start = slave(Stream(PushStart(p)))
    val changed = slave(Flow(DmaParam.queueType())) // all of the queue's past is to be dropped
    val source = master(PushSource(p))
    val read = slave(Stream(H2cPins(32))) // frames that were read
    val h2c = master(Stream(H2cPins(32)))
    val done = master(Stream(RingDone()))
    val queue = out(DmaParam.queueType()) // of the frame that is being sent
    val quiet = out Bool ()
  }

  val frame = Reg(PushStart(p))
  val row = Reg(UInt(3 bits))
  val length = RegNext(io.source.length) // from the second cycle of a frame on
  val isEmpty = RegInit(True)
  val isDead = Reg(Bool())
  val isChanged = io.changed.valid && io.changed.payload === frame.queue
  when(isChanged)(isDead := True)

  io.start.ready := isEmpty
  io.source.slot.valid := !isEmpty
  io.source.slot.payload := frame.slot
  io.source.row := row
  io.queue := frame.queue
  io.quiet := isEmpty && !io.start.valid
  io.done.valid := False
  io.done.payload.queue := frame.queue
  io.done.epoch := frame.epoch
  io.done.failed := False
  io.done.onDescriptor := False
  io.done.malformed := False

  val pushed = H2cPins(32)
  val isLast = row === (length - 1)(7 downto 5)
  val empty = (U(0, 5 bits) - length(4 downto 0)).resize(5 bits)
  pushed.tdata := io.source.data
  pushed.tcrc := 0
  pushed.tuser_qid := frame.queue
  pushed.tuser_port_id := 0
  pushed.tuser_err := False
  pushed.tuser_mdata := io.source.metadata
  pushed.tuser_mty := isLast ? empty.resize(6 bits) | U(0, 6 bits)
  pushed.tuser_zero_byte := False
  pushed.tlast := isLast
  // What another queue has left in the slot behind the frame is not shown.
  for (word <- 1 until 4) when(isLast && empty >= 8 * (4 - word))(pushed.tdata(64 * word, 64 bits) := 0)

  val inRead = RegInit(False) // a frame that was read has begun and not ended
  val inPushed = RegInit(False)
  val made = Stream(H2cPins(32))
  made.valid := False
  made.payload := pushed
  val leaves = made.m2sPipe()
  io.h2c.valid := inPushed ? leaves.valid | io.read.valid
  io.h2c.payload := inPushed ? leaves.payload | io.read.payload
  leaves.ready := io.h2c.ready && inPushed
  io.read.ready := io.h2c.ready && !inPushed
  when(io.read.fire)(inRead := !io.read.tlast)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val turn, send, leave, tell = new State

    idle.whenIsActive {
      frame := io.start.payload
      row := 0
      isDead := False
      when(io.start.valid) {
        isEmpty := False
        goto(turn)
      }
    }
    turn.whenIsActive {
      // No frame that was read is offered or under way behind this cycle.
      val isBetween = io.read.fire ? io.read.tlast | !(inRead || io.read.valid)
      when(isDead || isChanged) {
        isEmpty := True
        goto(idle)
      } elsewhen (isBetween) {
        inPushed := True
        goto(send)
      }
    }
    send.whenIsActive {
      made.valid := True
      when(made.ready) {
        row := row + 1
        when(isLast)(goto(leave))
      }
    }
    leave.whenIsActive {
      when(leaves.fire) {
        inPushed := False
        goto(tell)
      }
    }
    tell.whenIsActive {
      io.done.valid := True
      when(io.done.ready) {
        isEmpty := True
        goto(idle)
      }
    }
  }
}
