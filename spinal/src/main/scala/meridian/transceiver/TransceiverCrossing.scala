// SPDX-License-Identifier: Apache-2.0
package meridian.transceiver

import spinal.core._
import spinal.lib._

/** Carries what a port's transceiver is told from the ps clock to the clocks in which its pins listen.
  *
  * A pattern is taken over when two samples of it were the same, so that no mixture of two patterns is chosen. A
  * receiver without a clock shows as `rxClock` low after 256 ps cycles; its errors are not seen then.
  *
  * Latency: 4 cycles of the other clock. A pulse in the ps clock that comes within 4 cycles of the other clock after the
  * one before may be lost.
  */
class TransceiverCrossing(psCd: ClockDomain, rxCd: ClockDomain, txCd: ClockDomain) extends Component {
  val io = new Bundle {
    val port = slave(TransceiverPort())
    val pins = master(TransceiverPins())
    val txRestart = in Bool () // a register of the ps clock
    val loop = master(MacLoopControl())
  }

  private def pattern(choice: Bits): Bits = {
    val sample = BufferCC(choice, B(0, 4 bits))
    val before = RegNext(sample) init 0
    val taken = Reg(Bits(4 bits)) init 0
    when(sample === before)(taken := sample)
    taken
  }

  private def pulse(toggle: Bool): Bool = {
    val arrived = BufferCC(toggle, False)
    RegNext(arrived ^ RegNext(arrived, False), False)
  }

  val ps = new ClockingArea(psCd) {
    val forceToggle, countToggle = RegInit(False)
    when(io.port.forceError)(forceToggle := !forceToggle)
    when(io.port.resetCount)(countToggle := !countToggle)
    val macLoop = RegNext(io.port.macLoop) init False
    val txPrbs = RegNext(io.port.txPrbs) init 0
    val rxPrbs = RegNext(io.port.rxPrbs) init 0
  }
  val rx = new ClockingArea(rxCd) {
    val prbs = pattern(ps.rxPrbs)
    val resetCount = pulse(ps.countToggle)

    /** An error is stretched, so that a slower clock sees it. */
    val stretch = Reg(UInt(4 bits)) init 0
    when(io.pins.rxprbserr)(stretch := 15) elsewhen (stretch =/= 0)(stretch := stretch - 1)
    val error = RegNext(stretch =/= 0) init False
    val beat = Reg(UInt(5 bits)) init 0
    beat := beat + 1
    val alive = RegNext(beat.msb) init False
  }
  val tx = new ClockingArea(txCd) {
    val prbs = pattern(ps.txPrbs)
    val forceError = pulse(ps.forceToggle)
  }
  val watch = new ClockingArea(psCd) {
    val error = BufferCC(rx.error, False)
    val alive = BufferCC(rx.alive, False)
    val since = Reg(UInt(8 bits)) init 255
    when(alive =/= RegNext(alive, False))(since := 0) elsewhen (!since.andR)(since := since + 1)
    val runs = RegNext(!since.andR) init False
  }
  io.port.prbsError := watch.error
  io.port.rxClock := watch.runs
  io.port.drp <> io.pins.drp
  io.loop.on := ps.macLoop
  io.port.macLoops := io.loop.loops
  io.port.macLost := io.loop.lost
  io.pins.loopback_in := io.port.loopback
  io.pins.eyescanreset := io.port.eyescanReset
  io.pins.tx_restart := io.txRestart
  io.pins.rxprbssel := rx.prbs
  io.pins.rxprbscntreset := rx.resetCount
  io.pins.txprbssel := tx.prbs
  io.pins.txprbsforceerr := tx.forceError
}
