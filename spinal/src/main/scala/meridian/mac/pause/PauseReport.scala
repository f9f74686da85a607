// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.counters.EventCounterCC
import spinal.core._
import spinal.lib._

/** Carries what [[PauseRx]] tells into the clock of its registers.
  *
  * No frame is lost on the way, and no storm. Of a pause, the registers see the cycles of their own clock in which it
  * held. Latency: 7 cycles of ps for a frame, 2 of macTx and 3 of ps for a state. Throughput: all frames that a MAC can
  * receive.
  */
class PauseReport(val macRxCd: ClockDomain, val macTxCd: ClockDomain, val psCd: ClockDomain) extends Component {
  val io = new Bundle {

    /** MacRx clock. */
    val seen = slave(Flow(PauseSeen()))

    /** MacTx clock. */
    val paused, storm = in Bits (Pause.classes bits)

    /** Ps clock; see PausePort. */
    val frames = out Vec (UInt(PauseRegs.amountBits bits), PauseRegs.framesOf(sends = false).size)
    val isPaused, isStorm = out Bits (Pause.classes bits)
  }
  val kinds = Seq(io.seen.pause, io.seen.pfc, io.seen.ignored)
  require(kinds.size == io.frames.size, s"${kinds.size} kinds of frames for ${io.frames.size} counters")
  val events = for ((kind, i) <- kinds.zipWithIndex) yield {
    val counter = new EventCounterCC(macRxCd, psCd, width = PauseRegs.amountBits)
    counter.io.sourceEvent := io.seen.valid && kind
    io.frames(i) := counter.io.destinationEvents.payload
    counter
  }

  /** A storm may end as soon as it began; it is shown for two cycles, which are longer than one of ps. */
  val states = macTxCd on new Area {
    val paused = RegNext(io.paused) init 0
    val before = RegNext(io.storm) init 0
    val storm = RegNext(io.storm | before) init 0
  }
  psCd on new Area {
    io.isPaused := BufferCC(states.paused, B(0, Pause.classes bits))
    io.isStorm := BufferCC(states.storm, B(0, Pause.classes bits))
  }
}
