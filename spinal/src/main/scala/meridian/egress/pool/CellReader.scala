// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

/** What the reader did with the last cell of a frame. */
case class FrameEnd(e: PoolParam) extends Bundle {
  val last, next = e.cellType() // that cell, and what it is linked to
  val bytes = e.lengthType() // of the frame
  val cells = e.countType()
  val paced = Bool()
}

/** Reads the frames that were chosen, a cell of each port in turn, and gives the cells back.
  *
  * A cell is read if its port has room for it, so the beats never wait.
  *
  * Latency: from start to the first beat 4 cycles; ends comes 2 cycles after start for a frame of one cell. Throughput: one
  * beat a cycle for all ports, and a cell of n beats takes n cycles. A port alone has a cell in `words` cycles, and one of
  * fewer beats in 3.
  */
class CellReader(e: PoolParam) extends Component {
  val io = new Bundle {
    val start = Vec(slave(Flow(e.cellType())), e.ports) // first cell of a frame; after ends of the one before
    val ends = Vec(master(Flow(FrameEnd(e))), e.ports)
    val room = in Bits (e.ports bits) // for a cell beside what is on its way
    val beats = Vec(master(Flow(Fragment(FrameWord(e.hostBytes, HardType(Bool()))))), e.ports) // meta: paced
    val busy = out Bits (e.ports bits) // a frame of the port is read, or on its way to beats
    val give = master(Flow(e.cellType()))
    val giver = out(CellOwner(e))
    val classes = in Vec (e.classType(), e.ports) // of the frame that is read

    val ask = master(Flow(e.cellType())) // what is stored of a cell comes in the next cycle, and stays
    val info = in(CellInfo(e))
    val link = in(e.cellType()) // with all that is written until then
    val read = master(Flow(UInt(log2Up(e.cells * e.words) bits)))
    val data = in Bits (8 * e.hostBytes bits) // two cycles later
  }
  val ports = for (i <- 0 until e.ports) yield new Area {
    val waits = RegInit(False) // cell is to be read
    val cell = Reg(e.cellType())
    val bytes = Reg(e.lengthType()) // read before it
    val cells = Reg(e.countType())
    when(io.start(i).valid) {
      waits := True
      cell := io.start(i).payload
      bytes := 0
      cells := 0
    }
  }

  val now = new Area {
    val valid, known = RegInit(False) // a cell is being read; it has been looked at
    val port = Reg(e.portType()) init 0
    val cell = Reg(e.cellType())
    val trafficClass = Reg(e.classType())
    val word = Reg(UInt(log2Up(e.words) bits)) init 0
    val ends = valid && word === io.info.lastWord
    val free = !valid || ends
  }

  /** The ports in turn. */
  val turn = new Area {
    val waits = Vec(ports.map(_.waits)).asBits & io.room
    val order = Reg(Bits(e.ports bits)) init 1
    val chosen = OHMasking.roundRobin(waits, order)
    val goes = now.free && waits.orR
    val port = OHToUInt(chosen).resize(e.portType().getWidth)
    when(goes)(order := (if (e.ports == 1) chosen else chosen.rotateLeft(1)))
    for ((p, i) <- ports.zipWithIndex) when(goes && chosen(i))(p.waits := False)
  }
  io.ask.valid := turn.goes
  io.ask.payload := MuxOH(turn.chosen, ports.map(_.cell))
  when(now.free) {
    now.valid := turn.goes
    now.known := False
    now.port := turn.port
    now.cell := io.ask.payload
    now.trafficClass := MuxOH(turn.chosen, io.classes)
    now.word := 0
  } otherwise {
    now.known := True
    now.word := now.word + 1
  }
  val looks = now.valid && !now.known
  val cellBytes = ((io.info.lastWord +^ 1) << log2Up(e.hostBytes)).resize(e.lengthType().getWidth)
  for ((p, i) <- ports.zipWithIndex) {
    val here = looks && now.port === i
    val bytes = p.bytes + cellBytes
    when(here && !io.info.last) {
      p.waits := True
      p.cell := io.link
      p.bytes := bytes
      p.cells := p.cells + 1
    }
    io.ends(i).valid := RegNext(here && io.info.last) init False
    io.ends(i).last := RegNext(now.cell)
    io.ends(i).next := RegNext(io.link)
    io.ends(i).bytes := RegNext(bytes - io.info.mty)
    io.ends(i).cells := RegNext(p.cells + 1)
    io.ends(i).paced := RegNext(io.info.paced)
  }

  io.read.valid := now.valid
  io.read.payload := now.cell @@ now.word
  io.give.valid := RegNext(now.ends) init False
  io.give.payload := RegNext(now.cell)
  io.giver.port := RegNext(now.port)
  io.giver.trafficClass := RegNext(now.trafficClass)
  io.giver.paced := RegNext(io.info.paced)

  val output = new Area {
    val last = now.ends && io.info.last
    val mty = Mux(last, io.info.mty, U(0))
    for ((beat, i) <- io.beats.zipWithIndex) {
      val here = now.valid && now.port === i
      beat.valid := Delay(here, 2, init = False)
      beat.last := Delay(last, 2)
      beat.mty := Delay(mty, 2)
      beat.meta := Delay(io.info.paced, 2)
      beat.data := io.data
      val reads = RegInit(False)
      when(io.start(i).valid)(reads := True) elsewhen (here && last)(reads := False)
      io.busy(i) := reads || here || RegNext(here, False) || beat.valid
    }
  }
}
