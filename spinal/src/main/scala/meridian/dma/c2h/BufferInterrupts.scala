// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.{DmaParam, InterruptRequest}
import meridian.dma.descriptor.{Notices, RingContext}
import spinal.core._
import spinal.lib._

/** Interrupts that rings of buffers owe the host, until the port of interrupts takes them, so that no ring waits for
  * it. Those of a ring become one.
  *
  * One operation a cycle, on one queue. When a ring's turn comes, it is taken, and so its interrupt is asked for, from
  * the next cycle on. One that waits can be forgotten.
  */
class BufferInterrupts(p: DmaParam) extends Component {
  private def place() = UInt(log2Up(p.queues) bits)
  val io = new Bundle {
    val queue = in(place()) // of the operation
    val context = in(RingContext()) // of the queue
    val clear, add, forget, take = in Bool ()
    val turn = master(Stream(place())) // whose turn it is
    val interrupt = master(Stream(InterruptRequest()))
  }

  val notices = new Notices(p.queues)
  notices.io.queue := io.queue
  notices.io.clear := io.clear
  notices.io.add.valid := io.add
  notices.io.add.status := False
  notices.io.add.interrupt := True
  notices.io.forget := io.forget
  notices.io.take := io.take

  val waits = RegInit(False)
  val queue = Reg(place())
  val request = Reg(InterruptRequest())
  io.turn << notices.io.next.haltWhen(waits)
  io.interrupt.valid := waits
  io.interrupt.payload := request
  when(io.interrupt.ready || (io.forget && io.queue === queue))(waits := False)
  when(io.take) {
    waits := notices.io.owed.interrupt
    queue := io.queue
    request.function := io.context.function.resized
    request.vector := io.context.vector
    request.aggregate := io.context.aggregate
  }
}
