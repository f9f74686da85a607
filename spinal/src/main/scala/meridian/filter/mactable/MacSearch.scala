// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core._
import spinal.lib._

/** What a search finds. */
case class MacFound(shape: MacTableShape) extends Bundle {
  val hit = Bool()
  val value = Bits(shape.valueBits bits)
}

/** A search port of the table with two copies of its own: for the key in its scope, and for its address in any.
  *
  * A key a cycle; what it finds comes three cycles later: hash, read, compare. It comes from registers through the choice
  * of the way. While an entry moves it may be found in two ways; both then hold the same value.
  */
class MacSearch(shape: MacTableShape) extends Component {
  val io = new Bundle {
    val enable = in Bool ()
    val key = in Bits (shape.keyBits bits) // not one for any scope
    val row = slave(Flow(MacHashRow(shape)))
    val write = slave(Flow(MacSlotWrite(shape)))
    val exact, any = out(MacFound(shape))
  }

  val hash = new MacHash(shape)
  hash.io.key := io.key
  hash.io.row := io.row
  val enable = Delay(io.enable, 2)
  val key = Delay(io.key, 2)

  def find(index: Vec[UInt], key: Bits, found: MacFound): MacWays = {
    val ways = new MacWays(shape)
    ways.io.index := index
    ways.io.write := io.write
    val hits = RegNext(Vec(ways.io.slot.map(_.key === key)).asBits.andMask(enable))
    val values = ways.io.slot.map(slot => RegNext(slot.value))
    found.hit := hits.orR
    found.value := values.zipWithIndex.map { case (value, way) => value.andMask(hits(way)) }.reduceBalancedTree(_ | _)
    ways
  }
  val exact = find(hash.io.index, key, io.exact)
  val any = find(hash.io.anyIndex, MacSearch.anyScope(shape, key), io.any)
}

object MacSearch {

  /** The key of the same address for any scope. */
  def anyScope(shape: MacTableShape, key: Bits): Bits =
    True ## B(0, shape.scopeBits - 1 bits) ## key.take(shape.addressBits)
}
