// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.promise.Promise
import spinal.core._
import spinal.lib._

/** The cells that are free, in the order in which they became so.
  *
  * What is taken for a frame can be taken back in one cycle, as the list keeps it until the frame is whole. So cells of one
  * frame at a time may be open.
  *
  * Latency: a cell that is given is on offer 2 cycles later, and the next after take or undo in the next cycle. Throughput:
  * one cell a cycle in and out. After reset the cells come on offer one a cycle.
  */
class FreeCells(cells: Int) extends Component {
  require(isPow2(cells) && cells >= 4, s"cells is $cells: choose a power of two from 4 on")
  val bits = log2Up(cells)
  val io = new Bundle {
    val some = out Bool () // cell is on offer
    val cell = out UInt (bits bits)
    val take = in Bool ()

    /** Cells that were taken are in use, that of this cycle included; or all since then are free again, and what is taken
      * in this very cycle is the first of them.
      */
    val keep, undo = in Bool ()
    val give = slave(Flow(UInt(bits bits))) // a cell in use
    val free = out UInt (bits + 1 bits) // neither in use nor taken
  }
  val memory = Mem(UInt(bits bits), cells)
  val write, read, kept = Reg(UInt(bits + 1 bits)) init 0
  val filling = RegInit(True)
  val next = Mux(io.undo, kept, read) + io.take.asUInt
  read := next
  when(io.keep)(kept := next)

  val adds = filling || io.give.valid
  memory.write(write.resized, Mux(filling, write.resize(bits bits), io.give.payload), adds)
  write := write + adds.asUInt
  when(write === cells - 1)(filling := False)

  val seen = RegNext(write) init 0
  io.some := seen =/= read
  io.cell := memory.readSync(next.resized)
  io.free := write - read

  Promise(!io.take || io.some || io.undo, "a cell is taken that is not on offer")
  Promise(!io.undo || !io.take || read =/= kept, "the first of no cells is taken")
  Promise(!io.undo || !io.keep || io.take, "cells are kept and taken back at once")
  Promise(!io.give.valid || !filling, "a cell is given that nobody had")
}
