// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import spinal.core._
import spinal.lib._

/** Finds functions that make a request, in turn. The groups of 16 functions follow one after the other, and within a
  * group the next function behind the one that was taken there last. The position is kept while there are no requests,
  * so functions that always request together are served equally.
  *
  * A step looks at one group and takes two cycles. `found` means that the function `index` was seen to make a request,
  * and falls when it no longer does. `take` goes on to the next. Neither loses a request: one that stays is found
  * within two rounds.
  */
class FunctionFinder(functionBits: Int) extends Component {
  val io = new Bundle {
    val wish = in Bits ((1 << functionBits) bits)
    val found = out Bool ()
    val index = out UInt (functionBits bits)
    val take = in Bool ()
  }
  val width = 16 min (1 << functionBits)
  val indexBits = log2Up(width)
  val groups = io.wish.subdivideIn(width bits)

  val group = if (groups.size > 1) Reg(UInt(log2Up(groups.size) bits)) init 0 else U(0, 0 bits)
  val next = if (groups.size > 1) group + 1 else group
  private def of[T <: Data](all: Vec[T], at: UInt): T = if (groups.size > 1) all(at) else all.head
  private def behind(place: UInt) = B((0 until width).map(i => place < i))

  val taken = Vec(Reg(UInt(indexBits bits)) init 0, groups.size) // last, of each group
  val place = Reg(UInt(indexBits bits))
  val later = Reg(Bits(width bits)) init 0 // places behind the one taken last in the group
  val onlyLater = RegInit(False) // the others have had their turn
  val fresh = RegInit(False) // window shows the group
  val found = RegInit(False)
  val window = RegNext(of(groups, group))
  val first = window & later
  val left = first.orR ? first | window.andMask(!onlyLater)

  fresh := True
  when(found) {
    found := !io.take && window(place)
    when(io.take) {
      if (groups.size > 1) taken(group) := place else taken.head := place
      later := behind(place)
      onlyLater := True
    }
  } elsewhen (fresh) {
    place := OHToUInt(OHMasking.first(left))
    found := left.orR
    when(!left.orR) {
      if (groups.size > 1) group := next
      later := behind(of(taken, next))
      onlyLater := False
      fresh := False
    }
  }
  io.found := found
  io.index := (if (groups.size > 1) group @@ place else place)
}
