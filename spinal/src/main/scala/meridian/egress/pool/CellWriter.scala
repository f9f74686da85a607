// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.frame.FrameStream
import spinal.core._
import spinal.lib._

/** A beat in its place in the memory. */
case class CellWrite(e: PoolParam) extends Bundle {
  val address = UInt(log2Up(e.cells * e.words) bits)
  val data = Bits(8 * e.hostBytes bits)
}

/** Brings the frames of all ports into cells, or drops them whole at the tail.
  *
  * The ports' streams come from one, so frames follow each other. The exception is a frame that was cut: the first beat of
  * a frame for another port comes before its end, which is made up later. The cut frame is taken back then, and its rest is
  * consumed beside other frames. The frame that comes gets the first of its cells, in the same cycle.
  *
  * A frame that is not paced never waits: if one of its beats may have no cell, it is taken back and consumed, and `lost`
  * pulses with its last beat. A paced frame waits at its first beat until its port's reserve has room for the largest frame.
  * Frames for a port that is not up are lost. A frame that ends with drop is taken back and not told.
  *
  * Latency: a beat is written in the cycle in which it is taken; the frame is handed over one cycle after its last.
  * Throughput: one beat a cycle.
  */
class CellWriter(e: PoolParam) extends Component {
  val io = new Bundle {
    val input = Vec(slave(FrameStream(e.hostBytes, HardType(PoolMeta(e)))), e.ports)
    val lost = out Bits (e.ports bits) // with the last beat of input
    val lostClass = out Vec (e.classType(), e.ports) // of the frame of input
    val up = in Bits (e.ports bits)

    val some = in Bool () // FreeCells
    val cell = in(e.cellType())
    val take, keep, undo = out Bool ()

    val more = in Vec (Bits(e.classes bits), e.ports) // CellCounts
    val begins = in Bits (e.ports bits)
    val groups = in Vec (Bits(e.lists bits), e.ports) // GroupShares
    val taker = out(CellOwner(e)) // with take
    val undoer = out(CellOwner(e)) // with undo
    val undone = out(e.countType()) // cells
    val undoneBeats = out(e.lengthType())

    val write = master(Flow(CellWrite(e)))
    val single = out Bool () // with write: the beat is a frame
    val infoCell = out(e.cellType())
    val info = master(Flow(CellInfo(e)))
    val linkCell = out(e.cellType()) // a cell of a frame and the next of it
    val link = master(Flow(e.cellType()))
    val frame = master(Flow(PoolFrame(e)))
  }
  val inputs = io.input
  val firsts = Vec(inputs.map(input => RegNextWhen(input.last, input.fire) init True))
  val swallow = Vec(RegInit(False), e.ports) // the rest of the port's frame is consumed
  val wanted = Vec(inputs.zip(swallow).map { case (input, s) => input.valid && !s })

  /** The frame that is being stored: of one port at a time. */
  val open = new Area {
    val valid = RegInit(False)
    val port = Reg(e.portType()) init 0
    val meta = Reg(PoolMeta(e))
    val first, cell = Reg(e.cellType())
    val cells = Reg(e.countType()) init 0
    val beats = Reg(e.lengthType()) init 0
    val word = Reg(UInt(log2Up(e.words) bits)) init 0
  }

  // A beat that has not waited has just come from the one stream.
  val fresh = Vec(inputs.map(input => input.valid && RegNext(!input.valid || input.ready, True)))
  val starts = Vec((0 until e.ports).map(i => wanted(i) && firsts(i) && (!open.valid || open.port =/= i)))
  val newcomers = Vec(starts.zip(fresh).map { case (start, f) => start && f })
  val cut = open.valid && newcomers.orR

  /** Whose beat is looked at: of the open frame, else one that has just come, else one that waits. */
  val begin =
    OHToUInt(OHMasking.first(Mux(newcomers.orR, newcomers.asBits, starts.asBits))).resize(e.portType().getWidth)
  val first = !open.valid || cut
  val port = Mux(first, begin, open.port)
  val beat = PoolParam.of(inputs.map(_.payload), port)
  val meta = PoolMeta(e)
  meta := beat.meta
  when(!first)(meta := open.meta)
  val offered = PoolParam.of(wanted, port)
  val up = PoolParam.of(io.up.asBools, port)

  val boundary = first || open.word === 0
  val some = io.some || cut
  val noReserve = first && !PoolParam.of(io.begins.asBools, port)
  val waits = meta.paced && (up || !first) && (noReserve || boundary && !some)
  val shares = PoolParam.of(io.more, port)(meta.trafficClass) && PoolParam.of(io.groups, port)(meta.list)
  val fits = (!first || up) && (!boundary || some && (meta.paced || shares))
  val taken = offered && !waits
  val dropped = beat.last && beat.meta.drop
  val stored = taken && fits && !dropped
  val gone = taken && !fits

  for ((input, i) <- inputs.zipWithIndex) input.ready := swallow(i) || port === i && taken

  io.take := stored && boundary
  io.keep := stored && beat.last
  io.undo := open.valid && (cut || gone || taken && dropped)
  io.undone := open.cells
  io.undoneBeats := open.beats
  io.taker.port := port
  io.taker.trafficClass := meta.trafficClass
  io.taker.paced := meta.paced
  io.undoer.port := open.port
  io.undoer.trafficClass := open.meta.trafficClass
  io.undoer.paced := open.meta.paced

  val word = Mux(first, U(0), open.word)
  val cell = Mux(cut, open.first, Mux(boundary, io.cell, open.cell))
  val cells = Mux(first, U(0), open.cells) + io.take.asUInt
  io.write.valid := stored
  io.write.address := cell @@ word
  io.write.data := beat.data
  io.single := first && beat.last
  io.info.valid := stored && (beat.last || word.andR)
  io.info.lastWord := word
  io.info.mty := beat.mty
  io.info.last := beat.last
  io.info.paced := meta.paced
  io.infoCell := cell
  io.link.valid := io.take && !first
  io.link.payload := io.cell
  io.linkCell := open.cell

  when(cut)(open.valid := False)
  when(taken) {
    open.valid := !beat.last && fits
    when(first) {
      open.port := port
      open.meta := meta
      open.first := cell
      open.cells := 0
    }
  }
  when(stored) {
    open.word := word + 1
    open.cell := cell
    open.beats := Mux(first, U(0), open.beats) + 1
    open.cells := cells
  }

  for ((s, i) <- swallow.zipWithIndex) {
    val consumed = inputs(i).fire
    val goes = gone && port === i
    when(goes)(s := !inputs(i).last)
    when(cut && open.port === i)(s := True)
    when(s && consumed && inputs(i).last)(s := False)
    io.lost(i) := consumed && inputs(i).last && !inputs(i).meta.drop && (s || goes)
  }
  io.lostClass := Vec(inputs.zip(firsts).map { case (input, f) =>
    Mux(f, input.meta.trafficClass, RegNextWhen(input.meta.trafficClass, input.fire && f))
  })

  val done = new Area {
    val frame = PoolFrame(e)
    frame.port := port
    frame.list := meta.list
    frame.first := Mux(first, cell, open.first)
    frame.last := cell
    frame.cells := cells
    frame.paced := meta.paced
    io.frame.valid := RegNext(io.keep) init False
    io.frame.payload := RegNext(frame)
  }
}
