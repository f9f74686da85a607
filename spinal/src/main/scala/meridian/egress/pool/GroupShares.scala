// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import spinal.core._
import spinal.lib._

/** Cells of a frame of a list, which come in or leave. */
case class ListCells(e: PoolParam) extends Bundle {
  val list = e.listType()
  val cells = e.countType()
}

/** Which groups of functions may have another frame in their class, of a port.
  *
  * A group may have as many cells as its class has left of what it may have. So one that floods leaves half to the others,
  * and n of them leave the part of one more. It is asked for each cell, so a frame whose cells go beyond it is dropped whole. Paced
  * frames do not count.
  *
  * The cells of a list are the difference of those that came and those that left, each kept in a memory by who writes it.
  * The lists are looked at in turn; one that gets a frame is looked at in the next cycle.
  *
  * Latency: 4 cycles from put to may; at most 2 * lists from got, or from a change of the class, if puts leave half of the
  * cycles. After reset no frame may begin for twice as many cycles as there are lists.
  */
class GroupShares(e: PoolParam) extends Component {
  val io = new Bundle {
    val put = slave(Flow(ListCells(e))) // of a whole frame that is not paced
    val got = slave(Flow(ListCells(e))) // its last cell is read
    val used = in Vec (e.countType(), e.classes) // CellCounts
    val thresholds = in Vec (e.thresholdType(), e.classes)
    val may = out Bits (e.lists bits)
  }
  val came, left = Mem(e.countType(), e.lists)

  /** Both memories are cleared, then each list is looked at. */
  val begin = new Area {
    val count = Reg(UInt(log2Up(e.lists) + 2 bits)) init 0
    val list = count.resize(log2Up(e.lists))
    val known = count.msb
    val clears = !count.takeHigh(2).orR
    when(!known)(count := count + 1)
  }
  private def add(memory: Mem[UInt], flow: Flow[ListCells]): Unit = {
    val next = memory.readAsync(flow.list) + flow.cells
    memory.write(
      Mux(begin.clears, begin.list, flow.list),
      next.andMask(!begin.clears),
      flow.valid || begin.clears
    )
  }
  add(came, io.put)
  add(left, io.got)

  val look = new Area {
    val turn = Reg(e.listType()) init 0
    val put = RegNext(io.put.valid) init False
    val list = Mux(put, RegNext(io.put.list), turn)
    when(!put)(turn := turn + 1)
    val trafficClass = list.takeHigh(log2Up(e.classes)).asUInt
  }
  val sums = new Area {
    val list = RegNext(look.list)
    val cells = RegNext(came.readAsync(look.list) - left.readAsync(look.list))
    val used = RegNext(io.used(look.trafficClass))
    val most = RegNext(io.thresholds(look.trafficClass) +^ e.minimum)
  }
  val room = new Area {
    val list = RegNext(sums.list)
    val cells = RegNext(sums.cells)
    val cellsLeft = RegNext(Mux(sums.most > sums.used, sums.most - sums.used, U(0)))
    val may = cells <= cellsLeft
  }
  val may = Reg(Bits(e.lists bits)) init 0
  may(room.list) := room.may
  io.may := may.andMask(begin.known)
}
