// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import spinal.core._
import spinal.lib._

/** Who may have another cell.
  *
  * Paced frames have the reserve of their port and nothing else. Each class of a port has a minimum for other frames. Beyond
  * it they share the rest: a class may have of it alpha times what is free there, so that there is always something left
  * for a class that has nothing (a dynamic threshold).
  *
  * Latency: what is taken or taken back counts 2 cycles later; more and begins follow by 3 cycles at most, and `slack`
  * covers that.
  */
class CellCounts(e: PoolParam) extends Component {
  val io = new Bundle {
    val take = slave(Flow(CellOwner(e))) // a cell
    val undo = slave(Flow(CellOwner(e))) // all that were taken for a frame, before take
    val undone = in(e.countType()) // how many
    val give = slave(Flow(CellOwner(e))) // a cell
    val alpha = in Vec (UInt(3 bits), e.classes) // 2^(alpha - 3) times what is free
    val more = out Vec (Bits(e.classes bits), e.ports) // frames of the class may have another cell
    val begins = out Bits (e.ports bits) // a paced frame of any length has room
    val used = out Vec (Vec(e.countType(), e.classes), e.ports) // cells of frames that are not paced
    val thresholds = out Vec (e.thresholdType(), e.classes) // what a class may have beyond its minimum
  }
  val take = RegNext(io.take) init io.take.getZero
  val undo = RegNext(io.undo) init io.undo.getZero
  val undone = RegNext(io.undone)
  val returned = Delay(io.give, 3, init = io.give.getZero)

  private def change(count: UInt, is: CellOwner => Bool): UInt = {
    val adds = take.valid && is(take.payload)
    val takes = returned.valid && is(returned.payload)
    val back = Mux(undo.valid && is(undo.payload), undone, U(0))
    val next = count + adds.asUInt - takes.asUInt - back
    count := next
    next
  }

  val paced = for (i <- 0 until e.ports) yield {
    val count = Reg(e.countType()) init 0
    change(count, owner => owner.paced && owner.port === i)
    io.begins(i) := RegNext(count <= e.reserve - e.frameCells - e.slack) init False
    count
  }

  val classes = for (i <- 0 until e.ports) yield for (c <- 0 until e.classes) yield new Area {
    val count = Reg(e.countType()) init 0
    val over = Reg(e.countType()) init 0 // beyond the minimum
    val next = change(count, owner => !owner.paced && owner.port === i && owner.trafficClass === c)
    over := Mux(next > e.minimum, next - e.minimum, U(0))
    io.used(i)(c) := count
  }

  /** Cells beyond the minima, by what has changed: of one class by take or undo, of another by give. */
  val shared = new Area {
    val used = RegNext(classes.flatten.map(_.over.resize(log2Up(e.cells + 1) bits)).reduceBalancedTree(_ + _)) init 0
    val free = Mux(used < e.shared, U(e.shared, used.getWidth bits) - used, U(0))
    val thresholds =
      for (alpha <- io.alpha)
        yield RegNext(((free << 7) >> (U(10) - alpha.resize(4 bits))).resize(e.thresholdType().getWidth)) init 0
    io.thresholds := Vec(thresholds)
  }
  for (i <- 0 until e.ports; c <- 0 until e.classes) {
    val state = classes(i)(c)
    io.more(i)(c) := RegNext(state.count < e.minimum || state.over < shared.thresholds(c)) init False
  }
}
