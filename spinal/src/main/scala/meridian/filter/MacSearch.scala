// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import spinal.core._
import spinal.lib._

/** A search port of the table with a copy of its own.
  *
  * A key a cycle; hit and value three cycles later: hash, read, compare. They come from registers through the choice of
  * the way. While an entry moves it may be found in two ways; both then hold the same value.
  */
class MacSearch(shape: MacTableShape) extends Component {
  val io = new Bundle {
    val enable = in Bool ()
    val key = in Bits (shape.keyBits bits)
    val write = slave(Flow(MacSlotWrite(shape)))
    val hit = out Bool ()
    val value = out Bits (shape.valueBits bits)
  }

  val ways = new MacWays(shape)
  ways.io.key := io.key
  ways.io.write := io.write

  val key = Delay(io.key, 2)
  val enable = Delay(io.enable, 2)
  val hits = RegNext(Vec(ways.io.slot.map(_.key === key)).asBits.andMask(enable))
  val values = ways.io.slot.map(slot => RegNext(slot.value))
  io.hit := hits.orR
  io.value := values.zipWithIndex.map { case (value, way) => value.andMask(hits(way)) }.reduceBalancedTree(_ | _)
}
