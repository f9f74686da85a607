// SPDX-License-Identifier: Apache-2.0
package meridian

import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Two clocks without any relation, for a proof: in each step of the solver's one clock either of them ticks, or both.
  * Either may stop for any time. Each has a reset of its own, at any time and for any time.
  */
class TwoClocks extends Area {
  class Side extends Area {
    val tick, reset = anyseq(Bool())
    val cd = ClockDomain.current.copy(reset = reset, clockEnable = tick, config = TwoClocks.config)

    /** It has had its first tick, which is one of a reset: so the flags start low, as registers of an FPGA do. */
    val started = RegNext(True) init False
    assume(started || tick && reset)
    val works = started && tick
  }
  val push, pop = new Side
  assume(push.tick || pop.tick)
}

object TwoClocks {
  val config = ClockDomainConfig(resetKind = SYNC, resetActiveLevel = HIGH)

  /** Lets each bit of what the synchronisers in a component sample be late by a step, whatever the others do. */
  def skew(component: Component): Unit = {
    component.children.foreach(skew)
    component match {
      case synchroniser: BufferCC[_] =>
        synchroniser.rework {
          val input = synchroniser.io.dataIn.asInstanceOf[Data].asBits
          val before = synchroniser.clockDomain.get.copy(reset = null, clockEnable = null)(RegNext(input))
          val late = anyseq(Bits(widthOf(input) bits))
          val first = synchroniser.buffers.head.asInstanceOf[Data]
          first.removeAssignments(init = false)
          first.assignFromBits((before & late) | (input & ~late))
        }
      case _ =>
    }
  }
}
