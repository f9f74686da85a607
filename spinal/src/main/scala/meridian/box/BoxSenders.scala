// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.TxMeta
import meridian.queue.QueueLookup
import spinal.core._
import spinal.lib._

/** What is known of a frame of the host before a box at the host. */
case class BoxSent(p: ShellParam) extends Bundle {
  val frame = TxMeta(p)
  val function = p.functionType()
  val owned = Bool() // its queue belongs to that function
  val paced = Bool() // and is a paced one
}

/** Finds out whose the frames of the host are.
  *
  * Latency: `latency` cycles, which is that of both questions, from the first beat to the first. Throughput:
  * one beat a cycle, no bubble. Back-pressure stalls `frames` behind eight beats.
  */
class BoxSenders(p: ShellParam, latency: Int) extends Component {
  val depth = 8
  require(latency + 3 <= depth, s"latency is $latency: $depth beats do not cover it")
  val io = new Bundle {
    val frames = slave(FrameStream(p.hostBytes, TxMeta(p)))
    val owner = master(QueueLookup(p))
    val paced = in Bool () // so is the queue of the first beat taken `latency` cycles ago
    val sent = master(FrameStream(p.hostBytes, BoxSent(p)))
  }
  case class Sender() extends Bundle {
    val function = p.functionType()
    val owned, paced = Bool()
  }
  val first = RegNextWhen(io.frames.last, io.frames.fire) init True
  val begins = io.frames.fire && first
  io.owner.query.valid := begins
  io.owner.query.payload := io.frames.meta.queue

  // A frame whose sender is not known has at least one beat here, so there is a place for the answer.
  val beats = StreamFifo(io.frames.payloadType, depth, latency = 1)
  val senders = StreamFifo(Sender(), depth, latency = 0)
  beats.io.push << io.frames
  senders.io.push.valid := Delay(begins, latency, init = False)
  senders.io.push.function := io.owner.result.function
  senders.io.push.owned := io.owner.result.payload.valid
  senders.io.push.paced := io.paced
  assert(!senders.io.push.valid || senders.io.push.ready, "a sender is lost", FAILURE)

  val beat = beats.io.pop
  val sender = senders.io.pop
  io.sent.arbitrationFrom(beat.haltWhen(!sender.valid))
  sender.ready := io.sent.fire && io.sent.last
  io.sent.last := beat.last
  io.sent.data := beat.data
  io.sent.mty := beat.mty
  io.sent.meta.frame := beat.meta
  io.sent.meta.function := sender.function
  io.sent.meta.owned := sender.owned
  io.sent.meta.paced := sender.paced
}
