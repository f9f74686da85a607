// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core._
import spinal.lib._

/** A row of the hash's tables: what a value of a few key bits adds to the index in each way. */
case class MacHashRow(shape: MacTableShape) extends Bundle {
  val table = UInt(log2Up(MacHash.parts(shape).size + 1) bits) // the number of parts: the row of every scope
  val value = UInt(MacHash.partBits bits)
  val index = Bits(shape.rowBits bits)
}

/** Where a part of the key stands. */
case class MacHashPart(low: Int, bits: Int)

object MacHash {
  val partBits = 5
  val values = 1 << partBits

  /** The key in parts of 5 bits, that of the address first; the part of the highest bit, any, is not among them. */
  def parts(shape: MacTableShape): Seq[MacHashPart] = address(shape) ++ scope(shape)

  private def cut(low: Int, end: Int): Seq[MacHashPart] =
    (low until end by partBits).map(low => MacHashPart(low, partBits.min(end - low)))
  private def address(shape: MacTableShape) = cut(0, shape.addressBits)
  private def scope(shape: MacTableShape) = cut(shape.addressBits, shape.keyBits - 1)

  def rowCount(shape: MacTableShape): Int = parts(shape).size * values + 1

  /** Rows that a key gives, in the order in which they are written: all values of the first part first, the row of every
    * scope last.
    */
  def rows(shape: MacTableShape, key: BigInt): Seq[BigInt] = {
    val bits = Trivium.keystream(key).drop(MacHashRows.warmUpCycles(shape) * shape.indexBits - Trivium.warmUp)
    Seq.fill(rowCount(shape)) {
      (0 until shape.rowBits).foldLeft(BigInt(0))((row, i) => if (bits.next()) row.setBit(i) else row)
    }
  }
}

/** The hash of each way, by tabulation: every 5 bits of a key choose a row of a table, and the rows of all tables are
  * added up without carry. A key for any scope takes one row for all of its scope.
  *
  * Nobody can choose keys that collide without knowing the rows: the slots of any three keys are independent and equally
  * likely (Zobrist 1970; Patrascu and Thorup, "The power of simple tabulation hashing", 2012). The rows are drawn by
  * MacHashRows. They stand in LUT RAM: the bitstream fills it with the rows of shape.firstKey, and a reset leaves it.
  *
  * index and anyIndex follow key by one cycle: three levels of logic, a key a cycle. A row written holds for keys of the
  * next cycle on.
  */
class MacHash(val shape: MacTableShape) extends Component {
  val io = new Bundle {
    val key = in Bits (shape.keyBits bits)
    val row = slave(Flow(MacHashRow(shape)))
    val index = out Vec (UInt(shape.indexBits bits), shape.ways) // in the scope of the key
    val anyIndex = out Vec (UInt(shape.indexBits bits), shape.ways) // of the same address in any scope
  }
  private val parts = MacHash.parts(shape)
  private val first = shape.firstKey.map(MacHash.rows(shape, _))

  val tables = for ((part, number) <- parts.zipWithIndex) yield {
    val table = Mem(Bits(shape.rowBits bits), 1 << part.bits)
    for (rows <- first)
      table.initBigInt(rows.slice(number * MacHash.values, number * MacHash.values + (1 << part.bits)))
    val inside = io.row.value.dropLow(part.bits) === 0
    table.write(io.row.value.resized, io.row.index, io.row.valid && io.row.table === number && inside)
    table
  }
  val anyScope = {
    val row = ClockDomain.current.withBootReset()(Reg(Bits(shape.rowBits bits)))
    for (rows <- first) row.init(rows.last)
    when(io.row.valid && io.row.table === parts.size)(row := io.row.index)
    row
  }

  /** The slots of a key in its scope, and in any, in the same cycle. */
  def slots(key: Bits): (Vec[UInt], Vec[UInt]) = {
    val rows = for ((part, table) <- parts.zip(tables)) yield table.readAsync(key(part.low, part.bits bits).asUInt)
    val (address, scope) = rows.splitAt(parts.count(_.low < shape.addressBits))
    val sum = address.reduceBalancedTree(_ ^ _)
    def indices(bits: Bits) = Vec(bits.subdivideIn(shape.indexBits bits).map(_.asUInt))
    (indices(scope.fold(sum)(_ ^ _)), indices(sum ^ anyScope))
  }
  val (exact, any) = slots(io.key)
  io.index := RegNext(exact)
  io.anyIndex := RegNext(any)
}
