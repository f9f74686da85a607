// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import meridian.frame.FrameWord
import meridian.meta.TxMeta
import meridian.qdma.{DescriptorCreditPins, TmStatusPins}
import meridian.queue.QueueLookup
import meridian.settings.QueueSwitchWrite
import spinal.core._
import spinal.lib._

/** Holds each function to its transmit rates by granting the descriptors that its queues may fetch. So frames over a
  * rate wait in the host's rings, and never in the stream that all functions share. No frame is dropped.
  *
  * Only queues that are switched to paced take part. The DMA engine must fetch their descriptors on credit alone.
  *
  * status: every message of the DMA engine about descriptors. switches: every write to the switches of a queue. They
  * must not come in the same cycle, so hold the messages off. frames: the frames that TxFilter takes, which this block
  * only watches; within Pacing.filterBeats beats such a frame has reached the buffer of its port, or is gone.
  */
class Pacer(val p: ShellParam) extends Component {
  val io = new Bundle {
    val status = slave(Flow(TmStatusPins()))
    val switches = slave(Flow(QueueSwitchWrite(p)))
    val rate = slave(Flow(RateWrite(p)))
    val frames = slave(Flow(Fragment(FrameWord(p.hostBytes, TxMeta(p)))))
    val paced = out Bool () // so is the queue of the beat of frames TxLookup.pacedLatency cycles ago
    val buffered = in Vec (p.txBeatsType(), p.ports) // beats of paced frames in the buffer of a port
    val sends = in Bits (p.ports bits) // the port takes frames; if not, they are dropped before its buffer
    val owner = master(QueueLookup(p))
    val ports = in Vec (p.portType(), p.functions) // of each function
    val credit = master(Stream(DescriptorCreditPins()))
    val idle = out Bool ()
  }
  val queueBits = log2Up(p.queues)
  val functionBits = log2Up(p.functions)

  val queues = new PacedQueues(queueBits, functionBits, segmentation = p.segmentation)
  val arrivals = new PacedArrivals(p, functionBits)
  val engine = new PacerEngine(p, queueBits, functionBits)

  val message = io.status.payload
  queues.io.news.valid := io.status.valid && !message.c2h && !message.mm && p.below(message.qid, p.queues)
  queues.io.news.queue := message.qid.resized
  queues.io.news.amount := message.avl
  queues.io.news.drain := message.qinv || !message.qen
  queues.io.switch.valid := io.switches.valid
  queues.io.switch.queue := io.switches.queue.resized
  queues.io.switch.paced := io.switches.paced
  queues.io.switch.segments := (if (p.segmentation) io.switches.transmitSegments else False)

  arrivals.io.frames << io.frames
  queues.io.arrival := arrivals.io.queue.resized
  arrivals.io.payer := queues.io.payer
  when(!RegNext(p.below(arrivals.io.queue, p.queues)))(arrivals.io.payer.valid := False)

  io.paced := arrivals.io.payer.valid
  engine.io.buffered := io.buffered
  engine.io.sends := io.sends
  engine.io.rate << io.rate
  engine.io.ports := io.ports
  engine.io.active << queues.io.active
  engine.io.back >> queues.io.back
  engine.io.look >> queues.io.look
  engine.io.pending := queues.io.pending
  if (p.segmentation) engine.io.segments := queues.io.segments
  engine.io.commit >> queues.io.commit
  engine.io.taken := queues.io.taken
  engine.io.rest := queues.io.rest
  engine.io.assign >> queues.io.assign
  engine.io.drained << queues.io.drained
  engine.io.owner <> io.owner
  arrivals.io.question := engine.io.question
  engine.io.arrived := arrivals.io.arrived
  engine.io.news << arrivals.io.news
  engine.io.ready := queues.io.ready && arrivals.io.ready

  io.credit.arbitrationFrom(engine.io.grant)
  io.credit.qid := engine.io.grant.payload.queue.resized
  io.credit.crdt := engine.io.grant.payload.amount
  io.credit.c2h := False
  io.credit.fence := False
  io.idle := engine.io.idle
}
