// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.promise.Promise
import meridian.frame._
import spinal.core._
import spinal.lib._

/** The way of a port from the pool to the line. */
case class PoolPort(e: PoolParam) extends Bundle with IMasterSlave {
  val push = Flow(Fragment(FrameWord(e.hostBytes, HardType(new NoData))))
  val room = Bool() // for a cell beside what is on its way
  val near = Bool() // so little waits for the line that the next frame is to be chosen
  val up = Bool() // frames get to the line; else they are lost

  override def asMaster(): Unit = {
    master(push)
    in(room, near, up)
  }
}

/** Brings the frames of a port from the pool to the clock of the line, a cell at a time: a frame goes on before it is read
  * whole.
  *
  * A cell is offered when it is whole, or ends its frame. A cell lasts on the line until the next of its port is there, as
  * PoolParam.ofShell checks, so pop.valid stays high inside a frame while pop.ready is.
  *
  * Either side may be reset alone. If the line is, what is here is lost, and the rest of a frame that was begun is swallowed.
  * If the host is, whole cells are still offered, and a frame that then has no end gets a last beat with meta, the mark of a
  * frame that is not whole.
  *
  * Latency, last beat of a cell taken to first beat offered: 5 cycles of the line and the phase of the clocks. Throughput:
  * one beat a cycle on both sides.
  */
class CellFifo(e: PoolParam, val hostCd: ClockDomain, val macTxCd: ClockDomain) extends Component {
  val io = new Bundle {
    val port = slave(PoolPort(e)) // host clock
    val pop = master(FrameStream(e.hostBytes, HardType(Bool())))
    val idle = out Bool () // clock of the line
  }
  case class Word() extends Bundle {
    val data = Bits(8 * e.hostBytes bits)
    val mty = e.mtyType()
    val last = Bool()
  }
  val words = 8 * e.words
  val pointerBits = log2Up(words) + 1
  val memory = Mem(Word(), words)
  val pair = new ResetPair(hostCd, macTxCd)
  val pushClearCd = ResetPair.clearedBy(hostCd, pair.io.pushClear)
  val popClearCd = ResetPair.clearedBy(macTxCd, pair.io.popClear)
  val readGray = Bits(pointerBits bits)
  val input = io.port.push

  val swallow = new ClockingArea(hostCd) {
    val open, gone = RegInit(False)
    when(input.valid)(open := !input.last)
    when((input.valid || open) && !pair.io.pushUp)(gone := True)
    when(input.valid && input.last)(gone := False)
  }
  val push = new ClockingArea(pushClearCd) {
    val write = Reg(UInt(pointerBits bits)) init 0
    // Whole cells are counted, not their words: one bit of a Gray code changes in steps of one only.
    val whole = Reg(UInt(pointerBits bits)) init 0
    val place = Reg(UInt(log2Up(e.words) bits)) init 0 // in the cell
    val take = input.valid && pair.io.pushUp && !swallow.gone
    val word = Word()
    word.data := input.data
    word.mty := input.mty
    word.last := input.last
    memory.write(write.resized, word, take)
    val next = write + 1
    when(take) {
      write := next
      place := Mux(input.last, U(0), place + 1)
      when(input.last || place.andR)(whole := whole + 1)
    }
    val wholeGray = RegNext(toGray(whole)) init 0
    val read = RegNext(GrayDecode(BufferCC(readGray, B(0, pointerBits bits)))) init 0
    val used = write - read
    // The rest of the cell before may be on its way.
    io.port.room := RegNext(used <= words - 2 * e.words - 4) init False
    io.port.near := RegNext(used < e.ahead) init False
    when(!pair.io.pushUp) {
      io.port.room := True
      io.port.near := True
    }
    io.port.up := pair.io.pushUp && !swallow.gone
    Promise(!take || used =/= words, "a cell has no room on its way to the line")
  }

  val pop = new ClockingArea(popClearCd) {
    val read = Reg(UInt(pointerBits bits)) init 0
    val written = GrayDecode(BufferCC(push.wholeGray, B(0, pointerBits bits)))
    val beat = Stream(Word())
    val next = read + beat.fire.asUInt
    read := next
    val place = Reg(UInt(log2Up(e.words) bits)) init 0 // in the cell
    val ends = beat.last || place.andR
    when(beat.fire)(place := Mux(ends, U(0), place + 1))
    val cells = Reg(UInt(pointerBits bits)) init 0
    val nextCells = cells + (beat.fire && ends).asUInt
    cells := nextCells
    val some = RegNext(nextCells =/= written) init False
    beat.valid := some
    beat.payload := memory.readSync(next.resized, clockCrossing = true)
    readGray := RegNext(toGray(read)) init 0
  }

  // Outside of the clear: a beat on offer is not taken back when the host restarts.
  val output = macTxCd on new Area {
    val beat = FrameStream(e.hostBytes, HardType(Bool()))
    val open = RegNextWhen(!beat.last, beat.fire) init False
    val some = pop.some && pair.io.popUp
    // The host was reset, and has not come back yet.
    val cut = open && !some && !pair.pop.otherArmed.pull()
    beat.valid := some || cut
    beat.data := pop.beat.data
    beat.mty := pop.beat.mty.andMask(!cut)
    beat.last := pop.beat.last || cut
    beat.meta := cut
    pop.beat.ready := beat.ready && pair.io.popUp
    pair.io.popHold := some || open
    val registered = beat.m2sPipe()
    io.pop << registered
    io.idle := !some && !open && !registered.valid
  }
}
