// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import meridian.frame.{CrossingFifo, RxBeat}
import spinal.core._
import spinal.lib._

/** Obeys PAUSE and PFC on a port: [[PauseReader]] beside MacRx, the way into the transmit clock, [[PauseTimer]] and
  * [[PauseWatchdog]].
  *
  * Latency, from the last beat of a frame at io.beat to io.held: 2 cycles of macRx, then 4 of macTx and the phase of the
  * clocks. MacRx, before it, adds a cycle; [[meridian.mac.PortTx]], behind it, adds one for the choice of the queue before
  * [[FrameGate]]. So no frame begins there more than 9 cycles (576 bit times) after the last beat at the pins. As far as we
  * know, IEEE 802.3 31B.3.7 allows a port 60 quanta (30720 bit times) at 10 Gb/s and 80 quanta (40960) at 25 Gb/s for this,
  * and 802.1Q 36.1.3.3 allows PFC 614.4 ns, which is 6144 and 15360 bit times, for MAC and PCS, too; unverified.
  *
  * A change between PAUSE and PFC ends what was told before, and every storm.
  *
  * Throughput: all frames that a MAC can receive. Either clock may stop or be reset alone: a frame is then obeyed whole,
  * or not.
  */
class PauseRx(
    p: ShellParam,
    val macRxCd: ClockDomain,
    val macTxCd: ClockDomain,
    unitCycles: Int = PauseWatchdog.unitCycles
) extends Component {
  val io = new Bundle {

    /** Register clock; the address is quasi-static. */
    val config = in(PauseRxConfig())
    val watch = in(PauseWatchConfig())

    /** Any clock: the port has a link. */
    val link = in Bool ()

    /** MacRx clock; see PauseReader. */
    val beat = slave(Flow(RxBeat()))
    val bad = in Bool ()
    val take = out Bool ()
    val seen = master(Flow(PauseSeen()))

    /** MacTx clock; see PauseTimer and PauseWatchdog. */
    val skip = in UInt (32 bits)
    val held, storm, discard, began = out Bits (Pause.classes bits)

    /** MacTx clock: the class is paused, in a storm or not. */
    val paused = out Bits (Pause.classes bits)

    /** MacTx clock: io.link. */
    val linked = out Bool ()
  }
  // Good frames are 8 cycles apart, and the other side takes one a cycle.
  val crossing = new CrossingFifo(PauseTimes(), 4, macRxCd, macTxCd)

  val rx = macRxCd on new Area {
    val reader = new PauseReader
    reader.io.config := PauseRxConfig.crossed(io.config)
    reader.io.beat << io.beat
    reader.io.bad := io.bad
    io.take := reader.io.take
    io.seen << reader.io.seen
    crossing.io.push.valid := reader.io.times.valid
    crossing.io.push.payload := reader.io.times.payload
  }
  val tx = macTxCd on new Area {
    val timer = new PauseTimer(p.macFrequency, p.lineRate)
    timer.io.times << crossing.io.pop.toFlow
    val link = BufferCC(io.link, False)
    io.linked := link
    val pause = BufferCC(io.config.pause, False)
    val obeying = BufferCC(io.config.pfc, B(0, Pause.classes bits)) | B(Pause.classes bits, default -> pause)
    // A class that PFC has brought into a storm would let its frames pass a PAUSE.
    val sameKind = pause === RegNext(pause, False)
    timer.io.clear := ~obeying.andMask(link && sameKind)
    timer.io.skip := io.skip
    io.paused := timer.io.blocked

    val watchdog = new PauseWatchdog(unitCycles)
    watchdog.io.config.limit := BufferCC(io.watch.limit, U(0, 16 bits))
    watchdog.io.config.drop := BufferCC(io.watch.drop, B(0, Pause.classes bits))
    watchdog.io.blocked := timer.io.blocked
    watchdog.io.skip := io.skip
    io.held := watchdog.io.held
    io.storm := watchdog.io.storm
    io.discard := watchdog.io.discard
    io.began := watchdog.io.began
  }
}
