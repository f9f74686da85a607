// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.frame.{FrameStream, FrameWord}
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
  * consumed beside other frames.
  *
  * A frame that is not paced never waits: if one of its beats may have no cell, it is taken back and consumed, and `lost`
  * pulses with its last beat. One that comes in the very cycle in which a cut frame is taken back is lost, too. A paced
  * frame waits at its first beat until its port's reserve has room for the largest frame. Frames for a port that is not up
  * are lost. A frame that ends with drop is taken back and not told.
  *
  * With `direct`, a frame goes on as it comes in instead, beat by beat; its last has drop if it is not to be sent.
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

    /** A frame of the port that begins now, and of which class, may go on as it comes in. */
    val direct = in Vec (Bits(e.classes bits), e.ports)
    val directs = out Bits (e.ports bits) // the port's frame does, and is not whole yet
    val through = Vec(master(Flow(Fragment(FrameWord(e.hostBytes, HardType(PoolMeta(e)))))), e.ports)

    val some = in Bool () // FreeCells
    val cell = in(e.cellType())
    val take, keep, undo = out Bool ()

    val more = in Vec (Bits(e.classes bits), e.ports) // CellCounts
    val begins = in Bits (e.ports bits)
    val taker = out(CellOwner(e)) // with take
    val undoer = out(CellOwner(e)) // with undo
    val undone = out(e.countType()) // cells
    val undoneBeats = out(e.lengthType())

    val write = master(Flow(CellWrite(e)))
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
    val direct = RegInit(False)
  }

  // A beat that has not waited has just come from the one stream.
  val fresh = Vec(inputs.map(input => input.valid && RegNext(!input.valid || input.ready, True)))
  val starts = Vec((0 until e.ports).map(i => wanted(i) && firsts(i) && (!open.valid || open.port =/= i)))
  val newcomers = Vec(starts.zip(fresh).map { case (start, f) => start && f })
  val cut = open.valid && newcomers.orR

  /** Whose beat is looked at: of the open frame, else one that has just come, else one that waits. */
  val begin =
    OHToUInt(OHMasking.first(Mux(newcomers.orR, newcomers.asBits, starts.asBits))).resize(e.portType().getWidth)
  val port = Mux(open.valid && !cut, open.port, begin)
  val beat = PoolParam.of(inputs.map(_.payload), port)
  val first = !open.valid
  val meta = PoolMeta(e)
  meta := beat.meta
  when(!first)(meta := open.meta)
  val offered = PoolParam.of(wanted, port) && !cut
  val up = PoolParam.of(io.up.asBools, port)
  val direct = Mux(first, PoolParam.of(io.direct, port)(meta.trafficClass), open.direct)

  val boundary = first || open.word === 0
  val waits = meta.paced && (first && up && !direct && !PoolParam.of(
    io.begins.asBools,
    port
  ) || (up || !first) && !direct && boundary && !io.some)
  val allowed = Mux(meta.paced, io.some, io.some && PoolParam.of(io.more, port)(meta.trafficClass))
  val fits = Mux(direct, up, (!first || up) && (!boundary || allowed))
  val taken = offered && !waits
  val dropped = beat.last && beat.meta.drop
  val stored = taken && fits && !dropped && !direct
  val gone = taken && !fits

  for ((input, i) <- inputs.zipWithIndex)
    input.ready := swallow(i) || port === i && taken || cut && newcomers(i) && !input.meta.paced

  io.take := stored && boundary
  io.keep := stored && beat.last
  io.undo := open.valid && !open.direct && (cut || gone || taken && dropped)
  io.undone := open.cells
  io.undoneBeats := open.beats
  io.taker.port := port
  io.taker.trafficClass := meta.trafficClass
  io.taker.paced := meta.paced
  io.undoer.port := open.port
  io.undoer.trafficClass := open.meta.trafficClass
  io.undoer.paced := open.meta.paced

  val word = Mux(first, U(0), open.word)
  val cell = Mux(boundary, io.cell, open.cell)
  io.write.valid := stored
  io.write.address := cell @@ word
  io.write.data := beat.data
  io.info.valid := stored && (beat.last || word.andR)
  io.info.lastWord := word
  io.info.mty := beat.mty
  io.info.last := beat.last
  io.info.paced := meta.paced
  io.infoCell := cell
  io.link.valid := io.take && !first
  io.link.payload := io.cell
  io.linkCell := open.cell

  when(taken) {
    open.valid := !beat.last && fits
    when(first) {
      open.port := port
      open.meta := meta
      open.direct := direct
      open.first := io.cell
      open.cells := 0
    }
  }
  when(stored) {
    open.word := word + 1
    open.cell := cell
    open.beats := Mux(first, U(0), open.beats) + 1
    when(io.take)(open.cells := Mux(first, U(0), open.cells) + 1)
  }
  when(cut)(open.valid := False)

  for ((s, i) <- swallow.zipWithIndex) {
    val consumed = inputs(i).fire
    when(gone && port === i || cut && newcomers(i) && !inputs(i).meta.paced)(s := !inputs(i).last)
    when(cut && open.port === i)(s := True)
    when(s && consumed && inputs(i).last)(s := False)
    val isGone = s || gone && port === i || cut && newcomers(i)
    io.lost(i) := consumed && inputs(i).last && !inputs(i).meta.drop && isGone
  }
  io.lostClass := Vec(inputs.zip(firsts).map { case (input, f) =>
    Mux(f, input.meta.trafficClass, RegNextWhen(input.meta.trafficClass, input.fire && f))
  })

  for ((through, i) <- io.through.zipWithIndex) {
    val input = inputs(i)
    val opened = RegInit(False)
    val passes = port === i && taken && direct || swallow(i) && opened && input.fire
    when(passes)(opened := !input.last)
    io.directs(i) := opened
    through.valid := passes
    through.payload := input.payload
    when(swallow(i) || gone)(through.meta.drop := True)
    when(port === i && taken)(through.meta.paced := meta.paced)
  }

  val done = new Area {
    val frame = PoolFrame(e)
    frame.port := port
    frame.list := meta.trafficClass @@ meta.group
    frame.first := Mux(first, io.cell, open.first)
    frame.last := cell
    io.frame.valid := RegNext(io.keep) init False
    io.frame.payload := RegNext(frame)
  }
}
