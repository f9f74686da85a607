// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import spinal.core._
import spinal.lib._

/** Finds functions that wish something, in turn: of a group of 16 the next behind the one taken there last, and of the
  * groups one after the other. The turn is kept while nobody wishes, so that functions which always begin to wish
  * together are served alike.
  *
  * Looks at a group in a step of two cycles. `found` says that index was seen to wish, and falls when it does no more;
  * `take` goes on to the next. Nothing is lost by either: a bit that stays is found within two rounds.
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
