// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import meridian.frame.FrameStream
import spinal.core._
import spinal.lib._

/** What the receive side of a port tells of its buffer, and what it is told, in the receive clock of the MAC. Fills are in
  * PauseRegs.fillUnit. Master is the buffer.
  */
case class PauseFill() extends Bundle with IMasterSlave {
  val all = UInt(PauseRegs.fillBits bits) // of lossless frames; see PauseAdmission
  val classes = Vec(UInt(PauseRegs.fillBits bits), Pause.classes)
  val lossy = UInt(PauseRegs.fillBits bits) // see PauseAdmission
  val pfc = Bits(Pause.classes bits)
  override def asMaster(): Unit = {
    out(all, classes)
    in(lossy, pfc)
  }
}

/** Sends PAUSE and PFC by the fill of the receive buffer of a port: [[PausePolicy]] in the receive clock of the MAC, then
  * [[PauseWatchdog]] and [[PauseSender]] in the transmit clock.
  *
  * A class that has told the other end to stop for longer than io.watch allows, as when the host takes no frames any more,
  * lets it go on: one card that hangs does not stop a network. What finds no room is then lost.
  *
  * Latency, from a fill to the first beat on offer: 2 cycles of macRx, 5 of macTx and the phase of the clocks. Throughput:
  * one beat a cycle. Either clock may be reset alone. The other end goes on at the latest when the time that it was told
  * last is over.
  */
class PauseTx(
    p: ShellParam,
    val macRxCd: ClockDomain,
    val macTxCd: ClockDomain,
    unitCycles: Int = PauseWatchdog.unitCycles
) extends Component {
  val io = new Bundle {

    /** Register clock; the address and the thresholds are quasi-static. */
    val config = in(PauseTxConfig())
    val buffer = in(PauseBufferConfig())
    val watch = in(PauseWatchConfig())

    /** MacRx clock. */
    val fill = slave(PauseFill())

    /** MacTx clock; see PauseSender. */
    val link = in Bool ()
    val skip = in UInt (32 bits)
    val frames = master(FrameStream(8, HardType(new NoData)))
    val sent = master(Flow(PauseSent()))

    /** MacTx clock, by class: the other end is told to stop it; and it was so for longer than it may be. */
    val stopped, expired = out Bits (Pause.classes bits)
  }
  private def pfcOf(config: PauseTxConfig) = BufferCC(config.pfc, B(0, Pause.classes bits))
  private def pauseOf(config: PauseTxConfig) = BufferCC(config.pause, False)

  val rx = macRxCd on new Area {
    val buffer = PauseBufferConfig.crossed(io.buffer)
    val pfc = pfcOf(io.config)
    val policy = new PausePolicy(PauseRegs.fillBits)
    policy.io.all := io.fill.all
    policy.io.fill := io.fill.classes
    policy.io.thresholds := buffer
    policy.io.on := RegNext(pauseOf(io.config) || pfc.orR, False)
    io.fill.lossy := buffer.lossy
    io.fill.pfc := RegNext(pfc, B(0, Pause.classes bits))
  }
  val tx = macTxCd on new Area {
    val watchdog = new PauseWatchdog(unitCycles)
    watchdog.io.config.limit := BufferCC(io.watch.limit, U(0, 16 bits))
    watchdog.io.config.drop := 0
    watchdog.io.blocked := BufferCC(rx.policy.io.xoff, B(0, Pause.classes bits))
    watchdog.io.skip := io.skip
    val sender = new PauseSender
    sender.io.config := PauseTxConfig.crossed(io.config)
    sender.io.xoff := watchdog.io.held
    sender.io.link := io.link
    sender.io.skip := io.skip
    io.frames << sender.io.frames
    io.sent << sender.io.sent
    io.stopped := sender.io.stopped
    io.expired := watchdog.io.storm
  }
}
