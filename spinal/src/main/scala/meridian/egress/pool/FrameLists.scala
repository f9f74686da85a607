// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import spinal.core._
import spinal.lib._

/** The lists of a port: the first and the last cell of each, and whether there is one.
  *
  * A frame is the head of its list until its last cell has been read. Frames are linked by their last cells.
  *
  * Latency: a frame appended shows in `some` and `head` in the next cycle; so does the next head after `done`. Throughput:
  * one append and one done a cycle, of any lists.
  */
class FrameLists(e: PoolParam) extends Component {
  val io = new Bundle {
    val append = slave(Flow(PoolFrame(e)))
    val linkCell = out(e.cellType()) // the last cell of the list, and whether it gets a link to append.first
    val link = out Bool ()

    val list = in(e.listType()) // a list that is not empty
    val head = out(e.cellType())
    val done = in Bool () // its head has left
    val last = in(e.cellType()) // the head's last cell
    val next = in(e.cellType()) // and what that is linked to

    val some = out Bits (e.lists bits)
    val someOf = out Bits (e.classes bits) // a list of the class has a frame
  }
  val some = Reg(Bits(e.lists bits)) init 0
  val tails, appended, linked = Mem(e.cellType(), e.lists)
  val isLinked = Reg(Bits(e.lists bits))

  val empties = io.done && tails.readAsync(io.list) === io.last
  val fills = !some(io.append.list) || empties && io.list === io.append.list
  io.linkCell := tails.readAsync(io.append.list)
  io.link := io.append.valid && !fills

  when(empties)(some(io.list) := False)
  when(io.done)(isLinked(io.list) := True)
  when(io.append.valid) {
    some(io.append.list) := True
    when(fills)(isLinked(io.append.list) := False)
  }
  tails.write(io.append.list, io.append.last, io.append.valid)
  appended.write(io.append.list, io.append.first, io.append.valid && fills)
  linked.write(io.list, io.next, io.done)
  io.head := Mux(isLinked(io.list), linked.readAsync(io.list), appended.readAsync(io.list))
  io.some := some

  // From what some becomes, beside it: whoever chooses a class has no way through LUTs before.
  val someOf = Reg(Bits(e.classes bits)) init 0
  for (c <- 0 until e.classes) {
    val here = io.list.takeHigh(log2Up(e.classes)).asUInt === c
    val lists = some(c * e.groups, e.groups bits)
    val others = (lists & ~UIntToOh(io.list.resize(log2Up(e.groups)), e.groups)).orR
    val comes = io.append.valid && io.append.list.takeHigh(log2Up(e.classes)).asUInt === c
    someOf(c) := comes || Mux(here && empties, others, lists.orR)
  }
  io.someOf := someOf
}
