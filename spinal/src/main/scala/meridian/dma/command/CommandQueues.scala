// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import spinal.core._
import spinal.lib._

/** What a queue's context says of its commands. */
case class CommandQueue() extends Bundle {
  val enable = Bool()
  val function = DmaParam.functionType()
}

/** The context of a queue was written or invalidated. */
case class CommandChange() extends Bundle {
  val queue = DmaParam.queueType()
  val now = CommandQueue()
}

/** Lookup port for a command store: returns kind and epoch of one queue, and the epoch of a second. */
case class CommandQueuesPort() extends Bundle with IMasterSlave {
  val queue = DmaParam.queueType()
  val now = CommandQueue()
  val epoch = RingEpoch()
  val epochQueue = DmaParam.queueType()
  val epochNow = RingEpoch()

  override def asMaster(): Unit = {
    out(queue, epochQueue)
    in(now, epoch, epochNow)
  }
}

/** Knows which queues of a direction are for commands (their context has the bypass bit), and of which function each is.
  * `epoch` counts the changes of a queue. A lookup is answered in the same cycle, and a change is visible in the next.
  *
  * After reset no queue is for commands. Changes are taken once the table is cleared, one cycle for each queue.
  */
class CommandQueues(p: DmaParam) extends Component {
  val io = new Bundle {
    val change = slave(Flow(CommandChange()))
    val port = slave(CommandQueuesPort())
  }

  private val bits = log2Up(p.queues)
  private def place(queue: UInt): UInt = queue.resize(bits)
  private def exists(queue: UInt): Bool = (queue >> bits) === 0
  val filled = RegInit(U(0, bits + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  val queues = Mem(CommandQueue(), p.queues)
  val epochs = Mem(RingEpoch(), p.queues)
  val at = fills ? place(filled) | place(io.change.queue)
  val none = CommandQueue().getZero
  queues.write(at, fills ? none | io.change.now, fills || io.change.valid)
  epochs.write(at, fills ? U(0, 16 bits) | (epochs.readAsync(place(io.change.queue)) + 1), fills || io.change.valid)

  io.port.now := queues.readAsync(place(io.port.queue))
  when(!exists(io.port.queue) || fills)(io.port.now.enable := False)
  io.port.epoch := epochs.readAsync(place(io.port.queue))
  io.port.epochNow := epochs.readAsync(place(io.port.epochQueue))
}
