// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import spinal.core._
import spinal.lib._

/** How long a class may be blocked, and what becomes of it then; may be set at any time. */
case class PauseWatchConfig() extends Bundle {

  /** In units of PauseWatchdog.unitCycles; 0: for ever. */
  val limit = UInt(16 bits)

  /** The frames of the class are dropped then, and let go otherwise. */
  val drop = Bits(Pause.classes bits)
}

object PauseWatchdog {

  /** In macTx, 2^20 bits on the line: 42 us at 25 Gb/s, 105 us at 10 Gb/s. */
  val unitCycles = 1 << 14
}

/** Ends the blocking of classes that were stopped for too long, as by a link partner that hangs and asks for pause for
  * ever: a storm, which would otherwise spread through the network.
  *
  * A class that is blocked without a break for `limit` units is in a storm within one more unit and 3 cycles. Its frames
  * are then sent, or the queue is told to drop them, until the pause has ended for at least one cycle.
  *
  * Latency: no cycle from io.blocked to io.held, one cycle to io.began. A unit is PauseWatchdog.unitCycles.
  *
  * @param unitCycles a power of two
  */
class PauseWatchdog(unitCycles: Int = PauseWatchdog.unitCycles) extends Component {
  require(isPow2(unitCycles) && unitCycles >= 2, s"unitCycles is $unitCycles: choose a power of two from 2 on")
  val io = new Bundle {
    val config = in(PauseWatchConfig())
    val blocked = in Bits (Pause.classes bits)

    /** Cycles that this clock edge stands for: 1, except in a simulation that skips idle time. */
    val skip = in UInt (32 bits)

    /** Frames of the class may not begin. */
    val held = out Bits (Pause.classes bits)

    /** The class is in a storm; and its frames are to be dropped. */
    val storm = out Bits (Pause.classes bits)
    val discard = out Bits (Pause.classes bits)

    /** A pulse: a storm began. */
    val began = out Bits (Pause.classes bits)
  }
  val phase = Reg(UInt(log2Up(unitCycles) bits)) init 0
  val sum = phase.resize(33 bits) + io.skip
  phase := sum.resized
  val units = sum >> log2Up(unitCycles) // units that end with this cycle: at most one in hardware

  for (i <- 0 until Pause.classes) {
    val count = Reg(UInt(17 bits)) init 0
    val storm = RegInit(False)
    val next = count +^ units
    val over = io.config.limit =/= 0 && count > io.config.limit
    when(io.blocked(i)) {
      count := Mux(next > (1 << 17) - 1, U((1 << 17) - 1), next.resize(17))
      storm setWhen (over && RegNext(
        over,
        False
      )) // for two cycles, as the bits of a new limit may cross in different ones
    } otherwise {
      count := 0
      storm := False
    }
    when(io.config.limit === 0)(storm := False)
    io.began(i) := storm && !RegNext(storm, False)
    io.storm(i) := storm
    io.held(i) := io.blocked(i) && !storm
    io.discard(i) := storm && io.config.drop(i)
  }
}
