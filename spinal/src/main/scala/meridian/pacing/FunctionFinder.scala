// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import spinal.core._
import spinal.lib._

/** Finds functions that wish something, in turn: behind the one taken last, the next whose bit is set.
  *
  * Looks at 16 functions a step of two cycles. `found` says that index was seen to wish, and falls when it does no more;
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
  val from = Reg(Bits(width bits)) init B((BigInt(1) << width) - 1, width bits) // not yet looked at in the group
  val place = Reg(UInt(indexBits bits))
  val fresh = RegInit(False) // window shows the group
  val found = RegInit(False)
  val window = RegNext(if (groups.size > 1) groups(group) else groups.head)
  val left = window & from

  fresh := True
  when(found) {
    found := !io.take && window(place)
    when(io.take)(for (i <- 0 until width) from(i) := place < i)
  } elsewhen (fresh) {
    place := OHToUInt(OHMasking.first(left))
    found := left.orR
    when(!left.orR) {
      from.setAll()
      if (groups.size > 1) group := group + 1
      fresh := False
    }
  }
  io.found := found
  io.index := (if (groups.size > 1) group @@ place else place)
}
