// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import scala.util.Random
import spinal.core._

/** The hash of each way: every index bit is the parity of about half of the key bits. The rows of all ways are drawn
  * from a fixed seed and linearly independent, so that every slot can be reached and no two ways agree. At most 36 key
  * bits in a row: two levels of LUT6.
  */
object MacHash {
  private val seed = 20241
  private val maxWeight = 36

  /** rows(way)(bit): the key bits that make up this index bit. */
  def rows(shape: MacTableShape): Seq[Seq[BigInt]] = {
    val random = new Random(seed)
    // Rows reduced to distinct leading bits: a row that reduces to 0 depends on those before.
    var reduced = Map.empty[Int, BigInt]
    def remainder(row: BigInt): BigInt =
      (shape.keyBits - 1 to 0 by -1).foldLeft(row) { (rest, bit) =>
        if (rest.testBit(bit)) reduced.get(bit).fold(rest)(rest ^ _) else rest
      }
    def draw(): BigInt = {
      val row = BigInt(shape.keyBits, random)
      val rest = remainder(row)
      if (row.bitCount > maxWeight || rest == 0) draw()
      else {
        reduced += rest.bitLength - 1 -> rest
        row
      }
    }
    Seq.fill(shape.ways)(Seq.fill(shape.indexBits)(draw()))
  }

  def apply(shape: MacTableShape, way: Int, key: Bits): UInt =
    Vec(rows(shape)(way).map(row => (key & B(row, shape.keyBits bits)).xorR)).asBits.asUInt
}
