// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import spinal.core._
import spinal.lib._

/** What the host is to be told of a ring. */
case class Owed() extends Bundle {
  val status = Bool() // a status entry
  val interrupt = Bool() // behind the entry
}

/** Which rings owe the host a notice that could not leave at once. What a ring owes is merged, so that it takes no more
  * room however long the host takes nothing, and rings have their turns in the order in which they began to owe.
  *
  * One operation a cycle, on the queue that was there in the cycle before, too; what it owes is there then. After reset each queue is cleared once, before any other operation.
  */
class Notices(queues: Int) extends Component {
  private def place() = UInt(log2Up(queues) bits)
  val io = new Bundle {
    val queue = in(place()) // of the operation
    val clear = in Bool ()
    val add = slave(Flow(Owed()))
    val forget = in Bool () // the queue owes nothing any more
    val take = in Bool () // of a queue whose turn came: it is told now
    val owed = out(Owed()) // by the queue
    val next = master(Stream(place())) // whose turn it is; `take` follows before it owes anew
  }

  case class Row() extends Bundle {
    val owed = Owed()
    val listed = Bool() // has a place in the list of turns
  }
  val rows = Mem(Row(), queues)
  val turns = StreamFifo(place(), queues)
  io.next << turns.io.pop
  val row = Reg(Row())
  io.owed := row.owed

  val next = Row()
  next.listed := row.listed && !io.take
  next.owed.status := False
  next.owed.interrupt := False
  when(io.add.valid) {
    next.listed := True
    next.owed.status := row.owed.status || io.add.status
    next.owed.interrupt := row.owed.interrupt || io.add.interrupt
  }
  turns.io.push.valid := io.add.valid && !row.listed
  turns.io.push.payload := io.queue
  val written = io.clear ? Row().getZero | next
  val operates = io.add.valid || io.forget || io.take
  val writes = io.clear || operates
  assert(!operates || io.queue === RegNext(io.queue), "an operation on a queue that was not there before", FAILURE)
  rows.write(io.queue, written, writes)
  row := writes ? written | rows.readAsync(io.queue)
}
