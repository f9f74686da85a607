// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import meridian.qdma.TmStatusPins
import spinal.core._
import spinal.lib._

object QueueCredit {

  /** Cycles from a question to its answer. */
  val latency = BufferCount.latency + CreditCounters.latency - 2
}

/** Free receive buffers of each queue, so that no frame is handed to QDMA that would have to wait for one.
  *
  * status: every message of the IP for a C2H stream queue; it adds avl buffers, or with qinv or without qen leaves
  * none. Messages may come every cycle. clear leaves a queue without buffers (function reset); it waits for a cycle
  * without a message, so hold the IP's messages off (tm_dsc_sts ready low) while clear is valid: then it takes one
  * cycle.
  *
  * take: a question a cycle, answered QueueCredit.latency cycles later, always. Granted only if the queue has all the
  * buffers the length needs, and these are then taken. Messages, clears and questions are as if carried out in the
  * order of their cycles; of the same cycle, buffers are taken away before the question and added after it.
  *
  * bufferSize: sizes may be written every cycle; a size holds for questions BufferCount.settle cycles later and on.
  * Without a size a frame needs one buffer.
  *
  * enforce low: every question of that cycle is granted and takes nothing, while messages still add. So set it before
  * queues are started; queues that were used without it must be invalidated or cleared first.
  *
  * ready queues cycles after reset; until then messages are lost, clear waits and nothing is granted unless enforce is
  * low. Questions on queues the shell has not are not granted either.
  */
class QueueCredit(p: ShellParam) extends Component {
  val io = new Bundle {
    val enforce = in Bool ()
    val status = slave(Flow(TmStatusPins()))
    val bufferSize = slave(Flow(BufferSizeWrite(p)))
    val clear = slave(Stream(p.queueType()))
    val take = slave(CreditLookup(p))
    val ready = out Bool ()
    val needed = p.selfTest generate (out UInt (BufferCount.neededBits bits)) // with granted: the buffers taken
  }

  val queueBits = log2Up(p.queues)
  val countBits = 16
  // The counters are read so that they are known together with the buffers needed.
  val lead = BufferCount.latency - CreditBank.latency

  val counters = new CreditCounters(queueBits, countBits, BufferCount.neededBits)
  io.ready := counters.io.ready

  val message = io.status.valid && io.status.c2h && !io.status.mm
  io.clear.ready := counters.io.ready && !message
  val post = Flow(CreditPost(queueBits, countBits))
  val postQueue = message ? io.status.qid | io.clear.payload
  post.valid := (message || io.clear.valid) && p.below(postQueue, p.queues)
  post.queue := postQueue.resized
  post.amount := io.status.avl
  post.drain := !message || io.status.qinv || !io.status.qen
  counters.io.post << delayed(post)

  val query = io.take.query.payload
  val take = Flow(CreditTake(queueBits))
  take.valid := io.take.query.valid
  take.queue := query.queue.resized
  take.known := p.below(query.queue, p.queues)
  take.enforce := io.enforce
  counters.io.take << delayed(take)

  val buffers = new BufferCount(p)
  buffers.io.size << io.bufferSize
  buffers.io.query := query
  counters.io.needed := buffers.io.needed
  io.take.granted << counters.io.granted
  if (p.selfTest) io.needed := RegNext(buffers.io.needed)

  def delayed[T <: Data](flow: Flow[T]): Flow[T] = (0 until lead).foldLeft(flow)((f, _) => f.stage())
}
