// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.counters.EventCounterCC
import meridian.frame.CrossingFifo
import meridian.ptp.PtpTime
import meridian.transceiver.MacLoopControl
import spinal.core._
import spinal.lib._

/** A beat on its way from the transmit to the receive side of a port. */
case class LoopBeat() extends Bundle {
  val data = Bits(64 bits)
  val keep = Bits(8 bits)
  val first, last = Bool()
  val bad = Bool() // with last: the frame is not whole
}

/** A loopback at the MAC's host side: what a port would hand to its MAC comes back as if the MAC had received it. Only in
  * a shell with the option `selfTest`.
  *
  * It begins and ends between frames, on each side by itself: first the receive side leaves the MAC, then the transmit
  * side does, and in the end they come back in the other order, once the last frame has come round. So no frame is cut,
  * none of the loop goes to the MAC, and of the frames that the MAC receives meanwhile none is seen. `loops` tells in the
  * ps clock that both sides have left the MAC. Without a receive clock the loop does not begin.
  *
  * Frames of host, PS and test go round alike. The loop takes frames as the line would: 24 bytes behind each pass in which
  * it is not ready. It never holds the transmit side up for longer. A frame that finds no room in the crossing, as the
  * receive clock is in reset or slower by 0.2 %, is lost whole, or comes with tuser if it had begun; both are counted.
  *
  * A frame has its receive stamp, and its transmit stamp if it asks for one, from the times that the MAC would stamp
  * with, in the cycle of its first beat. These times are corrected by latencies between MAC and connector, which a
  * frame here does not have.
  *
  * Latency: 4 cycles of macRx and the phase of the clocks, from beat to beat; none for frames of the MAC. Throughput: one
  * beat a cycle. From `on` to `loops`: 8 cycles of the three clocks and what is left of the frames under way; back 16 more.
  */
class MacLoop(psCd: ClockDomain, macTxCd: ClockDomain, macRxCd: ClockDomain) extends Component {
  val io = new Bundle {
    val control = slave(MacLoopControl())
    val tx = slave(MacTxPins()) // macTx
    val macTx = master(MacTxPins())
    val txTime = in(PtpTime())

    val macRx = slave(MacRxPins()) // macRx
    val rx = master(MacRxPins())
    val rxTime = in(PtpTime())
  }
  val depth = 32
  val fifo = new CrossingFifo(LoopBeat(), depth, macTxCd, macRxCd)
  val txOn, rxOn = Bool()

  val tx = new ClockingArea(macTxCd) {
    val wanted = BufferCC(io.control.on, False)
    val rxLeft = BufferCC(rxOn, False)
    val on, inFrame = RegInit(False)
    val fire = io.tx.tvalid && io.tx.tready
    when(fire)(inFrame := !io.tx.tlast)
    when(fire && io.tx.tlast || !inFrame && !io.tx.tvalid)(on := wanted && (on || rxLeft))
    txOn := on

    // FCS, gap and preamble of a frame take the line 24 bytes: 2 cycles or 3, the rest counts for the next frame.
    val pause = Reg(UInt(2 bits)) init 0
    val rest = Reg(UInt(3 bits)) init 0
    val bytes = rest.resize(4) + CountOne(io.tx.tkeep).resize(4)
    when(pause =/= 0)(pause := pause - 1)
    when(on && fire && io.tx.tlast) {
      pause := bytes.msb ? U(3) | U(2)
      rest := bytes.resized
    }

    io.macTx.tvalid := io.tx.tvalid && !on
    io.macTx.tdata := io.tx.tdata
    io.macTx.tkeep := io.tx.tkeep
    io.macTx.tlast := io.tx.tlast
    io.macTx.tuser := io.tx.tuser
    io.macTx.ptpOp := io.tx.ptpOp
    io.macTx.ptpTag := io.tx.ptpTag
    io.tx.tready := on ? (pause === 0) | io.macTx.tready

    /** This frame goes into the crossing; one that was cut has no end there yet. */
    val takes, owes = RegInit(False)
    val beat = on && fire
    val push = fifo.io.push
    val goes = beat && (inFrame ? takes | !owes)
    push.valid := goes || owes
    push.data := io.tx.tdata
    push.keep := io.tx.tkeep
    push.first := !inFrame
    push.last := io.tx.tlast
    push.bad := io.tx.tuser
    when(owes) {
      push.keep.setAll()
      push.first := False
      push.last := True
      push.bad := True
    }
    val stored = goes && push.ready
    val lost = RegNext(beat && !inFrame && !stored || goes && inFrame && !push.ready) init False
    when(beat)(takes := stored)
    when(goes && inFrame && !push.ready)(owes := True)
    when(owes && push.ready || !fifo.io.up)(owes := False)

    // A stamp of the MAC for a frame of before goes first.
    val stamp = Reg(PtpTime())
    val tag = Reg(Bits(16 bits))
    val stamped = RegInit(False)
    val stampGoes = stamped && !io.macTx.tstampValid
    when(stampGoes)(stamped := False)
    when(beat && !inFrame && io.tx.ptpOp =/= 0) {
      stamp := io.txTime
      tag := io.tx.ptpTag
      stamped := True
    }
    io.tx.tstampValid := io.macTx.tstampValid || stamped
    io.tx.tstampTag := stampGoes ? tag | io.macTx.tstampTag
    io.tx.tstamp := stampGoes ? stamp | io.macTx.tstamp
  }

  val rx = new ClockingArea(macRxCd) {
    val wanted = BufferCC(io.control.on, False)
    val txLeft = BufferCC(txOn, False)
    val on = RegInit(False)
    rxOn := on

    /** A frame of the MAC is under way behind this cycle. */
    val macInFrame = RegInit(False)
    val macOpen = io.macRx.tvalid ? !io.macRx.tlast | macInFrame
    macInFrame := macOpen

    // The last frame has been read when nothing came for a while after the transmit side had gone back.
    val pop = fifo.io.pop
    val calm = Reg(UInt(4 bits)) init 0
    when(wanted || txLeft || pop.valid)(calm := 0) elsewhen (!calm.andR)(calm := calm + 1)
    val leaves = calm.andR
    when(!macOpen)(on := on ? !leaves | wanted)

    // A reset of the transmit side takes the end of a frame with it.
    val inFrame = RegInit(False)
    val ends = inFrame && (pop.valid && pop.first || leaves)
    pop.ready := on && !ends
    io.rx := io.macRx
    when(on) {
      io.rx.tvalid := pop.valid || ends
      io.rx.tdata := pop.data
      io.rx.tkeep := pop.keep | B(8 bits, default -> ends)
      io.rx.tlast := pop.last || ends
      io.rx.tuser := pop.bad || ends
      io.rx.tstampValid := pop.valid && pop.first && !ends
      io.rx.tstamp := io.rxTime
      when(pop.fire)(inFrame := !pop.last)
      when(ends)(inFrame := False)
    }
  }

  val ps = new ClockingArea(psCd) {
    io.control.loops := RegNext(BufferCC(txOn, False) && BufferCC(rxOn, False)) init False
  }
  val losses = new EventCounterCC(macTxCd, psCd, width = 32)
  losses.io.sourceEvent := tx.lost
  io.control.lost := losses.io.destinationCount
}
