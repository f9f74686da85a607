// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.egress.EgressClass
import meridian.frame._
import meridian.meta.{MacTxRecord, PsTxMeta}
import spinal.core._
import spinal.lib._

/** Chooses between frames of PS and host, pads them, and requests timestamps, in the transmit clock of the MAC.
  *
  * The PS goes first whenever a frame begins, so a frame of the PS waits for at most one frame of the host; likewise one
  * of `high`, if no frame of the PS is there, for one of `host`. Frames of flow control, which are few, go before all. Frames shorter than the smallest of Ethernet are padded
  * with zeros. Inside a frame tvalid stays high as long as the input's valid does. tuser marks what hostCut does.
  *
  * Latency: 2 cycles from input to pins. Throughput: one beat a cycle. tready low stops the inputs two beats later.
  */
class MacTx(p: ShellParam) extends Component {
  val io = new Bundle {
    val host = slave(FrameStream(p.macBytes, HardType(new NoData)))
    val high = p.twoQueues generate slave(FrameStream(p.macBytes, HardType(new NoData))) // goes before host
    val hostIsTest = p.selfTest generate in(Bool()) // beside host: the beat is of the port's test
    val hostCut = p.pool generate in(Bool()) // beside host, with last: the frame is not whole
    val ps = slave(FrameStream(p.macBytes, HardType(PsTxMeta())))
    val control = p.sendsPause generate slave(FrameStream(p.macBytes, HardType(new NoData))) // goes before all
    val pins = master(MacTxPins())
    val record = master(Flow(MacTxRecord(p))) // a cycle behind a frame's last beat; length counts what was filled up
    val closed = p.egress generate (in Bits (EgressClass.count bits)) // by class: its frames may not begin
  }

  case class Beat() extends Bundle {
    val data = Bits(64 bits)
    val count = UInt(4 bits)
    val keep = Bits(8 bits)
    val fromPs = Bool()
    val ptpOp = Bits(2 bits)
    val ptpTag = Bits(16 bits)
    val ofTest = p.selfTest generate Bool()
    val cut = p.pool generate Bool()
    val control = p.sendsPause generate Bool()
  }

  /** Bytes counted and those beyond the end cleared, behind a register, so that the choice is one multiplexer. */
  def prepare[M <: Data](
      input: Stream[Fragment[FrameWord[M]]],
      ptp: Option[PsTxMeta] = None,
      mark: => Bool = False,
      control: Boolean = false
  ): Stream[Fragment[Beat]] = {
    val beat = input.translateInto(Stream(Fragment(Beat()))) { (to, from) =>
      to.count := U(8, 4 bits) - from.mty
      for (i <- 0 until 8) {
        to.keep(i) := to.count > i
        to.data(8 * i, 8 bits) := Mux(to.keep(i), from.data(8 * i, 8 bits), B(0, 8 bits))
      }
      to.last := from.last
      to.fromPs := Bool(ptp.isDefined)
      if (p.selfTest) to.ofTest := mark else if (p.pool) to.cut := mark
      if (p.sendsPause) to.control := Bool(control)
      val asks = ptp.map(_.timestamp).getOrElse(False)
      to.ptpOp := Mux(asks, B(2, 2 bits), B(0, 2 bits))
      to.ptpTag := Mux(asks, ptp.map(_.tag).getOrElse(B(0, 16 bits)), B(0, 16 bits))
    }
    beat.s2mPipe().m2sPipe()
  }
  val psFirst = new PsFirst(Beat(), p.sendsPause)
  if (p.twoQueues) {
    val highFirst = new PsFirst(Beat()).setName("highFirst")
    highFirst.io.ps << gated(prepare(io.high), io.closed(1))
    highFirst.io.host << gated(prepare(io.host, mark = io.hostIsTest), io.closed(0))
    psFirst.io.host << highFirst.io.chosen
  } else psFirst.io.host << hostFrames
  psFirst.io.ps << prepare(io.ps, Some(io.ps.meta))
  if (p.sendsPause) psFirst.io.control << prepare(io.control, control = true)
  val chosen = psFirst.io.chosen
  val merged = Stream(Fragment(Beat()))

  val shortestBeats = p.minFrame / 8 // whole beats; the one after them holds the rest
  val shortestRest = p.minFrame % 8
  require(shortestRest != 0, "the last beat of the shortest frame is taken to be a partial one")

  val place = new Area {
    val beat = Reg(UInt(log2Up(shortestBeats + 2) bits)) init 0 // stops behind the last that padding cares for
    val below = RegInit(True) // before beat shortestBeats
    val at = RegInit(False)
    val first = RegInit(True)
    when(merged.fire) {
      first := merged.last
      when(beat =/= shortestBeats + 1)(beat := beat + 1)
      at := beat === shortestBeats - 1
      below clearWhen (beat === shortestBeats - 1)
      when(merged.last) {
        beat := 0
        at := False
        below := True
      }
    }
  }

  val filling = RegInit(False) // the frame has ended, the smallest length is not reached
  merged.valid := filling || chosen.valid
  merged.payload := chosen.payload
  when(place.below)(merged.last := False)
  when(filling) {
    merged.data := 0
    merged.last := place.at
    merged.fromPs := psFirst.io.fromPs
    if (p.selfTest) merged.ofTest := False // frames of a test are never filled up
  }
  when(!place.first) {
    merged.ptpOp := 0
    merged.ptpTag := 0
  }
  when(filling || (chosen.last && place.below)) {
    merged.count := 8
    merged.keep.setAll()
  }
  when(place.at && (filling || (chosen.last && chosen.count < shortestRest))) {
    merged.count := shortestRest
    merged.keep := (1 << shortestRest) - 1
  }

  chosen.ready := merged.ready && !filling
  when(merged.fire) {
    when(!filling && chosen.last && place.below)(filling := True)
    when(filling && place.at)(filling := False)
  }

  val output = merged.m2sPipe()
  output.ready := io.pins.tready
  io.pins.tvalid := output.valid
  io.pins.tdata := output.data
  io.pins.tkeep := output.keep
  io.pins.tlast := output.last
  io.pins.tuser := False
  io.pins.ptpOp := output.ptpOp
  io.pins.ptpTag := output.ptpTag

  val told = new Area {
    val before = Reg(UInt(13 bits)) init 0
    val multicast, broadcast, vlan = Reg(Bool())
    val tpid = output.data(39 downto 32) ## output.data(47 downto 40)
    when(output.fire) {
      before := before + 1
      when(output.last)(before := 0)
      when(before === 0) {
        multicast := output.data(0)
        broadcast := output.data(47 downto 0).andR
      }
      when(before === 1)(vlan := tpid === 0x8100 || tpid === 0x88a8)
    }
    io.record.valid := RegNext(output.fire && output.last) init False
    io.record.length := RegNext((before << 3) + output.count)
    io.record.fromPs := RegNext(output.fromPs)
    if (p.selfTest) io.record.ofTest := RegNext(output.ofTest)
    if (p.sendsPause) io.record.control := RegNext(output.control)
    io.record.multicast := multicast && !broadcast
    io.record.broadcast := broadcast
    io.record.vlan := vlan
  }

  /** Directly before the choice: a frame that waits behind one of the PS has not begun. */
  private def gated(frames: Stream[Fragment[Beat]], closed: Bool): Stream[Fragment[Beat]] = {
    val gate = new pause.FrameGate(Beat())
    gate.io.input << frames
    gate.io.closed := closed
    gate.io.output
  }

  private def hostFrames =
    if (p.pool) gated(prepare(io.host, mark = io.hostCut), io.closed(0)) else prepare(io.host, mark = io.hostIsTest)

  if (p.pool) {
    val cut = RegNextWhen(chosen.cut, chosen.fire && chosen.last) init False // the frame that is filled up
    when(filling)(merged.cut := cut)
    when(output.last && output.cut)(io.pins.tuser := True)
  }
}
