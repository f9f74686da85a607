// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import spinal.core._
import spinal.lib._

/** Counts down the times for which classes are stopped.
  *
  * A class that is told a time of q quanta is blocked for as long as the line takes for 512 q bits, rounded up to a cycle.
  * A new time takes the place of the one before; 0 ends it. The timers of classes are independent.
  *
  * Latency: io.blocked follows io.times, and io.clear, one cycle later, from registers. Throughput: a frame a cycle.
  * About 8 times 20 to 24 registers.
  *
  * @param clock    of the component
  * @param lineRate Gb/s
  */
class PauseTimer(clock: HertzNumber, lineRate: Int) extends Component {
  val (cycles, quanta) = Pause.cyclesPerQuanta(clock, lineRate)
  require(
    cycles > 0 && cycles <= 4096 && quanta <= 4096,
    s"clock is $clock: $quanta quanta of $lineRate Gb/s last $cycles cycles: choose a clock with a simpler ratio"
  )
  val io = new Bundle {
    val times = slave(Flow(PauseTimes()))

    /** The class is not blocked, and what it is told is lost: there is no link, or it does not obey. */
    val clear = in Bits (Pause.classes bits)

    /** Cycles that this clock edge stands for: 1, except in a simulation that skips idle time. */
    val skip = in UInt (32 bits)
    val blocked = out Bits (Pause.classes bits)
  }

  /** A cycle is `quanta` of these, a quantum `cycles`. */
  val bits = log2Up(BigInt(0xffff) * cycles + 1)
  val step = io.skip * quanta
  val timers = for (i <- 0 until Pause.classes) yield new Area {
    val left = Reg(UInt(bits bits)) init 0
    val blocked = RegInit(False)
    val next = UInt(bits bits)
    val over = left.resize(step.getWidth max bits) <= step
    next := Mux(over, U(0), left - step.resize(bits))
    when(io.times.valid && io.times.enable(i))(next := (io.times.quanta(i) * cycles).resize(bits))
    when(io.clear(i))(next := 0)
    left := next
    blocked := next =/= 0
    io.blocked(i) := blocked
  }
}
