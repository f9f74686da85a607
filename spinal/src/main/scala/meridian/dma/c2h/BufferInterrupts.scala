// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.Notices
import meridian.dma.interrupt.RingInterrupt
import spinal.core._
import spinal.lib._

/** Interrupts that rings of buffers owe the host, until the port of interrupts takes them, so that no ring waits for
  * it. Those of a ring become one.
  *
  * One operation a cycle, on one queue. When a ring's turn comes, it is taken, and so its interrupt is asked for, from
  * the next cycle on; the entry of an interrupt ring tells the ring as it is then. One that waits can be forgotten.
  */
class BufferInterrupts(p: DmaParam) extends Component {
  private def place() = UInt(log2Up(p.queues) bits)
  val io = new Bundle {
    val queue = in(place()) // of the operation
    val ring = in(C2hRing()) // of the queue
    val clear, add, forget, take = in Bool ()
    val turn = master(Stream(place())) // whose turn it is
    val interrupt = master(Stream(RingInterrupt()))
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
  val interrupt = Reg(RingInterrupt())
  io.turn << notices.io.next.haltWhen(waits)
  io.interrupt.valid := waits
  io.interrupt.payload := interrupt
  when(io.interrupt.ready || (io.forget && io.queue === queue))(waits := False)
  when(io.take) {
    waits := notices.io.owed.interrupt
    queue := io.queue
    interrupt.request.function := io.ring.context.function.resized
    interrupt.request.vector := io.ring.context.vector
    interrupt.request.aggregate := io.ring.context.aggregate
    interrupt.ofQueue := True
    interrupt.event.pidx := io.ring.pidx
    interrupt.event.cidx := io.ring.cidx
    interrupt.event.colour := False
    interrupt.event.state := 0
    interrupt.event.error := io.ring.context.error
    interrupt.event.c2h := True
    interrupt.event.queue := io.queue.resized
  }
}
