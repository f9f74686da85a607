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
class PauseReport(
    val macRxCd: ClockDomain,
    val macTxCd: ClockDomain,
    val psCd: ClockDomain,
    sends: Boolean = false
) extends Component {
  val io = new Bundle {

    /** MacRx clock. */
    val seen = slave(Flow(PauseSeen()))

    /** MacTx clock. */
    val paused, storm = in Bits (Pause.classes bits)
    val sent = sends generate slave(Flow(PauseSent()))
    val stopped, expired = sends generate in(Bits(Pause.classes bits))

    /** Ps clock; see PausePort. */
    val frames = out Vec (UInt(PauseRegs.amountBits bits), PauseRegs.framesOf(sends).size)
    val isPaused, isStorm = out Bits (Pause.classes bits)
    val isStopped, isExpired = sends generate out(Bits(Pause.classes bits))
  }
  private val seen = Seq(io.seen.pause, io.seen.pfc, io.seen.ignored).map(kind => (macRxCd, io.seen.valid && kind))
  private val sent =
    if (sends)
      for (pfc <- Seq(False, True); xoff <- Seq(True, False))
        yield (macTxCd, io.sent.valid && io.sent.pfc === pfc && io.sent.xoff === xoff)
    else Nil
  val kinds = seen ++ sent
  require(kinds.size == io.frames.size, s"${kinds.size} kinds of frames for ${io.frames.size} counters")
  val events = for (((clock, event), i) <- kinds.zipWithIndex) yield {
    val counter = new EventCounterCC(clock, psCd, width = PauseRegs.amountBits)
    counter.io.sourceEvent := event
    io.frames(i) := counter.io.destinationEvents.payload
    counter
  }

  /** A storm may end as soon as it began; it is shown for two cycles, which are longer than one of ps. */
  val states = macTxCd on new Area {
    val paused = RegNext(io.paused) init 0
    val storm = longer(io.storm)
    val stopped = sends generate (RegNext(io.stopped) init 0)
    val expired = sends generate longer(io.expired)
  }

  /** For two cycles at least. */
  private def longer(state: Bits): Bits = RegNext(state | (RegNext(state) init 0)) init 0
  psCd on new Area {
    io.isPaused := BufferCC(states.paused, B(0, Pause.classes bits))
    io.isStorm := BufferCC(states.storm, B(0, Pause.classes bits))
    if (sends) {
      io.isStopped := BufferCC(states.stopped, B(0, Pause.classes bits))
      io.isExpired := BufferCC(states.expired, B(0, Pause.classes bits))
    }
  }
}
