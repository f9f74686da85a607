// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core.sim._

/** The hash as software, over rows that it has: those of one row after the other for a part of the key, and that of any
  * scope.
  */
case class MacHashModel(shape: MacTableShape, rows: Seq[IndexedSeq[BigInt]], anyRow: BigInt) {

  /** Slots of a key in all ways, those of the first way in the lowest bits. */
  def slots(key: BigInt): BigInt = {
    val digits = Iterator.iterate(key & ((BigInt(1) << shape.addressBits) - 1))(_ >> 5).map(_.toInt & 31)
    val scope = (key >> shape.addressBits) & ((BigInt(1) << (shape.scopeBits - 1)) - 1)
    val scopeDigits = Iterator.iterate(scope)(_ >> 5).map(_.toInt & 31)
    val addressTables = (shape.addressBits + 4) / 5
    val (address, inScope) = rows.splitAt(addressTables)
    def sum(tables: Seq[IndexedSeq[BigInt]], digits: Iterator[Int]) =
      tables.zip(digits.take(tables.size).toSeq).map { case (table, digit) => table(digit) }.fold(BigInt(0))(_ ^ _)
    sum(address, digits) ^ (if (key.testBit(shape.keyBits - 1)) anyRow else sum(inScope, scopeDigits))
  }

  def slot(key: BigInt, way: Int): Int = ((slots(key) >> (way * shape.indexBits)) & (shape.depth - 1)).toInt
}

object MacHashModel {

  /** With the rows that a key gives. */
  def apply(shape: MacTableShape, key: BigInt): MacHashModel = {
    val all = MacHash.rows(shape, key)
    MacHashModel(shape, all.init.grouped(32).map(_.toIndexedSeq).toSeq, all.last)
  }

  /** Lets a simulation see the rows. */
  def open(hash: MacHash): Unit = {
    hash.tables.foreach(_.simPublic())
    hash.anyScope.simPublic()
  }

  /** With the rows that a simulated hash has, which must be open. */
  def apply(hash: MacHash): MacHashModel = MacHashModel(
    hash.shape,
    hash.tables.map(table => (0 until table.wordCount).map(i => table.getBigInt(i))),
    hash.anyScope.toBigInt
  )
}
