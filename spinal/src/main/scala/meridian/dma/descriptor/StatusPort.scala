// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.DmaParam
import meridian.qdma.TmStatusPins
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** What the shell is to hear of a queue. */
case class QueueMessage() extends Bundle {
  val queue = DmaParam.queueType()
  val added = UInt(16 bits) // descriptors
  val pidx = UInt(16 bits)
  val invalid = Bool() // the queue has no descriptors any more
  val failed = Bool() // because of an error
}

/** Messages of the queues of a direction on tm_dsc_sts. Those of a queue that wait together become one, or two if the queue was lost and
  * has descriptors again, so messages are taken however long the shell waits: 4 cycles each.
  */
class StatusPort(p: DmaParam, c2h: Boolean = false) extends Component {
  val io = new Bundle {
    val message = slave(Stream(QueueMessage()))
    val pins = master(Stream(TmStatusPins()))
  }

  case class Waiting() extends Bundle {
    val message = QueueMessage()
    val waits = Bool()
  }
  val place = log2Up(p.queues)
  val rows = Mem(Waiting(), p.queues)
  val queues = StreamFifo(UInt(place bits), p.queues)
  val filled = RegInit(U(0, place + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  val sends = Reg(Bool())
  val queue = Reg(UInt(place bits))
  val row = Reg(Waiting())
  val old = rows.readSync(queue)
  val next = Waiting()
  next.message := row.message
  next.waits := !sends
  val writes = False
  rows.write(fills ? filled.resize(place) | queue, fills ? Waiting().getZero | next, fills || writes)

  // What leaves: first that the queue is lost, then what it has again.
  val out = Reg(QueueMessage())
  val outInvalid, outAdded = RegInit(False)
  io.pins.valid := outInvalid || outAdded
  io.pins.port_id := 0
  io.pins.qen := !outInvalid
  io.pins.byp := False
  io.pins.c2h := Bool(c2h)
  io.pins.mm := False
  io.pins.error := outInvalid && out.failed
  io.pins.qid := out.queue
  io.pins.avl := outInvalid ? U(0, 16 bits) | out.added
  io.pins.qinv := outInvalid
  io.pins.irq_arm := False
  io.pins.pidx := out.pidx
  when(io.pins.ready) {
    outInvalid := False
    when(!outInvalid)(outAdded := False)
  }

  io.message.ready := False
  queues.io.pop.ready := False
  queues.io.push.valid := False
  queues.io.push.payload := queue
  val control = new StateMachine {
    val idle = new State with EntryPoint
    val read, look, act = new State

    idle.whenIsActive {
      val leaves = queues.io.pop.valid && !outInvalid && !outAdded
      sends := leaves
      queue := leaves ? queues.io.pop.payload | io.message.payload.queue.resize(place)
      queues.io.pop.ready := leaves && !fills
      when((leaves || io.message.valid) && !fills)(goto(read))
    }
    read.whenIsActive(goto(look))
    look.whenIsActive {
      row := old
      goto(act)
    }
    act.whenIsActive {
      writes := True
      goto(idle)
      when(sends) {
        next.message.added := 0
        next.message.invalid := False
        next.message.failed := False
        out := row.message
        outInvalid := row.message.invalid
        outAdded := row.message.added =/= 0
      } otherwise {
        io.message.ready := True
        queues.io.push.valid := !row.waits
        next.message.queue := io.message.payload.queue
        next.message.pidx := io.message.pidx
        when(io.message.invalid) {
          next.message.invalid := True
          next.message.failed := io.message.failed
          next.message.added := 0
        } otherwise (next.message.added := row.message.added +| io.message.added)
      }
    }
  }
}
