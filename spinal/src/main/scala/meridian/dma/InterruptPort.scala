// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import spinal.core._
import spinal.lib._

/** Interrupts of several sources on one port, the first source's first. Of each source 4 may wait; one leaves the cycle
  * after it comes, one a cycle.
  *
  * One of a function that may not access memory is dropped. One for an interrupt ring is not, as the ring may be another
  * function's: the bit of that one counts where the ring is written.
  *
  * `drain` drops what waits of a function, and ends when nothing of it is left: 2 cycles at least, and as long as the port
  * does not take what came before.
  */
class InterruptPort(p: DmaParam, sources: Int) extends Component {
  val io = new Bundle {
    val requests = Vec(slave(Stream(InterruptRequest())), sources)
    val busMaster = in Bits (p.functions bits)
    val drain = slave(Stream(DmaParam.functionType()))
    val interrupt = master(Stream(InterruptRequest()))
  }

  private def isDrained(function: UInt): Bool = io.drain.valid && function === io.drain.payload.resized
  // What may have come before the drain: it has left after as many others, or when nothing waits.
  val before = Vec.fill(sources)(Reg(UInt(3 bits)) init 0)
  val waiting = io.requests.zip(before).map { case (request, left) =>
    val queue = StreamFifoLowLatency(InterruptRequest(), 4)
    queue.io.push << request
    when(!io.drain.valid)(left := queue.io.occupancy.resize(3 bits) + 1) elsewhen (queue.io.occupancy === 0) {
      left := 0
    } elsewhen (queue.io.pop.fire && left =/= 0)(left := left - 1)
    queue.io.pop
  }
  val next = StreamArbiterFactory().lowerFirst.on(waiting)
  val isMaster = next.function < p.functions && io.busMaster(next.function.resize(log2Up(p.functions) bits))
  io.interrupt << next.throwWhen((!isMaster && !next.aggregate) || isDrained(next.function)).stage()
  io.drain.ready := !before.map(_ =/= 0).orR && !(io.interrupt.valid && isDrained(io.interrupt.function))
}
