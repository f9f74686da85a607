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
  * Latency: a beat is written in the cycle in which it is taken; the frame is handed over two cycles after its last.
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
    val taker = out(CellOwner(e)) // with take and write
    val undoer = out(CellOwner(e)) // with undo
    val undone = out(e.countType()) // cells
    val undoneBeats = out(e.lengthType())

    val write = master(Flow(CellWrite(e)))
    val first, last = out Bool () // with write: of a frame
    val mty = out(e.mtyType()) // with last
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
    val of = Reg(Bits(e.ports bits)) init 0 // a bit a port, if valid
    val port = Reg(e.portType()) init 0
    val meta = Reg(PoolMeta(e))
    val first, cell = Reg(e.cellType())
    val cells = Reg(e.countType()) init 0
    val beats = Reg(e.lengthType()) init 0
    val word = Reg(UInt(log2Up(e.words) bits)) init 0
  }

  // A beat that has not waited has just come from the one stream.
  val fresh = Vec(inputs.map(input => input.valid && RegNext(!input.valid || input.ready, True)))
  // The port of the open frame has no first beat.
  val starts = Vec(wanted.zip(firsts).map { case (w, f) => w && f })
  val newcomers = Vec(starts.zip(fresh).map { case (start, f) => start && f })
  val cut = open.valid && newcomers.orR

  // What becomes of the first beat of each port is known beside whose it is to be: so the way through LUTs is short.
  val begin = new Area {

    /** One that has just come, else one that waits. */
    val port = Mux(newcomers.orR, OHMasking.first(newcomers.asBits), OHMasking.first(starts.asBits))
    val some = io.some || open.valid // a frame that cuts another gets its first cell
    val each = for ((input, i) <- inputs.zipWithIndex) yield new Area {
      val meta = input.meta
      val waits = meta.paced && io.up(i) && !(io.begins(i) && some)
      val shares = io.more(i)(meta.trafficClass) && io.groups(i)(meta.list)
      val fits = io.up(i) && some && (meta.paced || shares)
    }
    val taken = port & ~Vec(each.map(_.waits)).asBits
    val fits = Vec(each.map(_.fits)).asBits
  }
  val next = new Area {
    val boundary = open.word === 0
    val waits = open.meta.paced && boundary && !io.some
    val shares = PoolParam.of(io.more, open.port)(open.meta.trafficClass) &&
      PoolParam.of(io.groups, open.port)(open.meta.list)
    val fits = !boundary || io.some && (open.meta.paced || shares)
    val taken = open.of & wanted.asBits.andMask(!waits)
  }

  /** Whose beat is looked at: of the open frame, or a first one. */
  val first = !open.valid || cut
  val select = Mux(first, begin.port, open.of)
  val port = OHToUInt(select).resize(e.portType().getWidth)
  val beat = MuxOH(select, inputs.map(_.payload))
  val meta = PoolMeta(e)
  meta := beat.meta
  when(!first)(meta := open.meta)

  val boundary = first || next.boundary
  val takes = Mux(first, begin.taken, next.taken)
  val goes = Mux(first, begin.taken & ~begin.fits, next.taken.andMask(!next.fits)) // they find no room
  val drops = Vec(inputs.map(input => input.last && input.meta.drop)).asBits
  val taken = takes.orR
  val fits = !goes.orR // of a beat that is taken
  val stored = Mux(first, begin.taken & begin.fits & ~drops, (next.taken & ~drops).andMask(next.fits)).orR

  for ((input, i) <- inputs.zipWithIndex) input.ready := swallow(i) || takes(i)

  io.take := stored && boundary
  io.keep := stored && beat.last
  io.undo := open.valid && (cut || (next.taken & (drops | B(e.ports bits, default -> !next.fits))).orR)
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
  io.first := first
  io.last := beat.last
  io.mty := beat.mty
  io.info.valid := stored && (beat.last || word.andR)
  io.info.lastWord := word
  io.info.mty := beat.mty
  io.info.last := beat.last
  io.info.paced := meta.paced
  io.infoCell := cell
  io.link.valid := RegNext(stored && !first && next.boundary) init False
  io.link.payload := RegNext(io.cell)
  io.linkCell := RegNext(open.cell)

  when(cut) {
    open.valid := False
    open.of := 0
  }
  when(taken) {
    open.valid := !beat.last && fits
    open.of := select.andMask(!beat.last && fits)
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
    when(goes(i))(s := !inputs(i).last)
    when(cut && open.of(i))(s := True)
    when(s && consumed && inputs(i).last)(s := False)
    io.lost(i) := inputs(i).last && !inputs(i).meta.drop && (s && inputs(i).valid || goes(i))
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
    io.frame.valid := Delay(io.keep, 2, init = False)
    io.frame.payload := Delay(frame, 2)
  }
}
