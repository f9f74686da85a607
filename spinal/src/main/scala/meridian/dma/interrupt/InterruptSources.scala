// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest}
import spinal.core._
import spinal.lib._

/** Interrupts of several sources, the first source's first: those of vectors at one port, those for interrupt rings at
  * another, so that neither waits for the other but within a source. Of each source 4 may wait; one leaves 3 cycles
  * after it comes, one every other cycle.
  *
  * One of a function that may not access memory is dropped. One for an interrupt ring is not, as the ring may be
  * another function's: the bit of that one counts where the ring is written.
  *
  * `drain` drops what waits of a function, and ends when nothing of it is left: 2 cycles at least, and as long as the
  * ports do not take what came before. An interrupt for a ring that is of no queue is not dropped, as it is the ring's
  * function that counts, not the one it names; the drain ends when those that came before have left, so that they find
  * the ring invalid if it was the function's.
  */
class InterruptSources(p: DmaParam, sources: Int) extends Component {
  val io = new Bundle {
    val requests = Vec(slave(Stream(RingInterrupt())), sources)
    val busMaster = in Bits (p.functions bits)
    val drain = slave(Stream(DmaParam.functionType()))
    val vector = master(Stream(InterruptRequest()))
    val ring = master(Stream(RingInterrupt()))
  }

  private def isDrained(function: UInt): Bool = io.drain.valid && function === io.drain.payload.resized
  // What may have come before the drain: it has left after as many others, or when nothing waits.
  val before = Vec.fill(sources)(Reg(UInt(3 bits)) init 0)
  val waiting = io.requests.zip(before).map { case (request, left) =>
    val queue = StreamFifo(RingInterrupt(), 4)
    queue.io.push << request
    when(!io.drain.valid)(left := queue.io.occupancy.resize(3 bits) + 1) elsewhen (queue.io.occupancy === 0) {
      left := 0
    } elsewhen (queue.io.pop.fire && left =/= 0)(left := left - 1)
    val function = queue.io.pop.request.function
    val isRing = queue.io.pop.request.aggregate
    val isMaster = p.hasFunction(function) && io.busMaster(function.resize(log2Up(p.functions) bits))
    val drops = isRing ? (isDrained(function) && queue.io.pop.ofQueue) | (isDrained(function) || !isMaster)
    StreamDemux(queue.io.pop.map(TupleBundle(_, drops)), isRing.asUInt, 2)
  }
  // One that is dropped is taken like others, and goes no further.
  private def next(ports: Seq[Stream[TupleBundle2[RingInterrupt, Bool]]]): Stream[RingInterrupt] = {
    val taken = StreamArbiterFactory().lowerFirst.noLock.on(ports)
    val kept = Stream(RingInterrupt())
    kept.valid := taken.valid && !taken._2
    kept.payload := taken._1
    taken.ready := kept.ready
    kept.halfPipe()
  }
  io.vector << next(waiting.toSeq.map(_(0))).map(_.request)
  io.ring << next(waiting.toSeq.map(_(1)))
  val isPassed = !before.map(_ =/= 0).orR
  // One of no queue that has passed and still waits at the port.
  val mayWait = RegInit(True)
  mayWait := !io.drain.valid || !isPassed || (mayWait && io.ring.isStall)
  io.drain.ready := isPassed && !(io.vector.valid && isDrained(io.vector.function)) &&
    !(io.ring.valid && (io.ring.ofQueue ? isDrained(io.ring.request.function) | mayWait))
}
