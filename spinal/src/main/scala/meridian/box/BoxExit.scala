// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.filter.BeatData
import meridian.frame.{FrameStream, PacketWord}
import meridian.meta.C2hMeta
import meridian.queue._
import spinal.core._
import spinal.lib._

object BoxExit {

  /** Cycles from a frame's first beat to its first at c2h. */
  def latency(ownerLatency: Int, creditLatency: Int): Int = ownerLatency + creditLatency + 1
}

/** Sends frames of a box at the host to the queues that it named, or discards them. A frame goes on if the queue belongs to
  * the function that the box named, that function is switched on, and the queue has the receive buffers that the frame
  * needs. These are taken here, for the length that the frame really has: so each frame that goes on has its buffers, and
  * no buffer is taken for one that does not.
  *
  * Latency: ownerLatency + creditLatency + 1 cycles from the first beat. Throughput: one beat and one frame a cycle, no
  * bubble. Back-pressure: `frames` stalls when c2h does and 32 beats wait. A frame that is discarded passes at full speed.
  *
  * `flush` asks when each frame whose first beat was taken before has left; `flushed` answers with a pulse.
  */
class BoxExit(p: ShellParam, ownerLatency: Int, creditLatency: Int, waitingBeats: Int = 32) extends Component {
  require(
    BoxExit.latency(ownerLatency, creditLatency) + 4 <= waitingBeats,
    s"the lookups take $ownerLatency and $creditLatency cycles: too long for $waitingBeats waiting beats"
  )
  val io = new Bundle {
    val frames = slave(Stream(Fragment(PacketWord(p.hostBytes, BoxTarget(p)))))
    val enable = in Bits (p.functions bits)
    val owner = master(QueueLookup(p))
    val credit = master(CreditLookup(p))
    val c2h = master(FrameStream(p.hostBytes, C2hMeta(p)))
    val denied, noBuffer = out Bool () // a pulse a frame
    val flush = in Bool ()
    val flushed, idle = out Bool ()
  }
  case class Whole() extends Bundle {
    val target = BoxTarget(p)
    val length = p.lengthType()
  }
  case class Decision() extends Bundle {
    val deliver = Bool()
    val frame = Whole()
  }

  val first = RegNextWhen(io.frames.last, io.frames.fire) init True
  val begins = io.frames.fire && first
  val asked = Whole()
  asked.target := io.frames.meta
  asked.length := io.frames.length

  io.owner.query.valid := begins
  io.owner.query.payload := io.frames.meta.queue
  val owned = new Area {
    val valid = Delay(begins, ownerLatency, init = False)
    val frame = Delay(asked, ownerLatency)
    val owner = io.owner.result
    val on = p.below(owner.function, p.functions) && io.enable(owner.function.resize(log2Up(p.functions)))
    val may = owner.payload.valid && owner.function === frame.target.function && on
  }
  // Buffers are only asked for what may go.
  val asks = new Area {
    val valid = RegNext(owned.valid) init False
    val may = RegNext(owned.may)
    val frame = RegNext(owned.frame)
    io.credit.query.valid := valid && may
    io.credit.query.payload.queue := frame.target.queue
    io.credit.query.length := frame.length
  }
  val decided = new Area {
    val valid = Delay(asks.valid, creditLatency, init = False)
    val may = Delay(asks.may, creditLatency)
    val frame = Delay(asks.frame, creditLatency)
    val deliver = may && io.credit.granted.payload
    io.denied := RegNext(valid && !may) init False
    io.noBuffer := RegNext(valid && may && !deliver) init False
  }

  // A frame whose decision is on its way has at least one beat here, so there is always a place for the decision.
  val waiting = StreamFifo(Fragment(BeatData(p)), waitingBeats, latency = 1)
  val decisions = StreamFifo(Decision(), waitingBeats, latency = 0)
  waiting.io.push.arbitrationFrom(io.frames)
  waiting.io.push.last := io.frames.last
  waiting.io.push.data := io.frames.data
  waiting.io.push.mty := io.frames.mty
  decisions.io.push.valid := decided.valid
  decisions.io.push.deliver := decided.deliver
  decisions.io.push.payload.frame := decided.frame
  assert(!decided.valid || decisions.io.push.ready, "a decision is lost", FAILURE)

  val beat = waiting.io.pop
  val decision = decisions.io.pop
  beat.ready := decision.valid && (io.c2h.ready || !decision.deliver)
  decision.ready := beat.fire && beat.last
  io.c2h.valid := beat.valid && decision.valid && decision.deliver
  io.c2h.last := beat.last
  io.c2h.data := beat.data
  io.c2h.mty := beat.mty
  BoxTarget.toC2h(decision.payload.frame.target, decision.payload.frame.length, io.c2h.meta)

  val flushing = new FlushPoint(log2Up(waitingBeats) + 1)
  flushing.io.begin := begins
  flushing.io.end := beat.fire && beat.last
  flushing.io.flush := io.flush
  io.flushed := flushing.io.flushed
  io.idle := flushing.io.idle
}
