// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** Size of a hash table in which an entry may stand in one slot of each way.
  *
  * The key with all bits set is never searched for and marks an empty slot, so that a slot needs no valid bit: with the
  * 63-bit keys and 9-bit values of the MAC table a slot is 72 bits, the width of one block RAM.
  *
  * @param ways      slots an entry may stand in
  * @param depth     slots of a way
  * @param keyBits   bits of a key: from the lowest on an address, a scope, and whether it is a key for any scope
  * @param scopeBits those above the address; the highest says that the others are 0 and the key holds for any scope
  * @param valueBits bits of a value
  * @param entries   entries that may be in the table
  * @param firstKey  key of the hash until another is written; None: rows of which nothing is known
  */
case class MacTableShape(
    ways: Int,
    depth: Int,
    keyBits: Int,
    scopeBits: Int,
    valueBits: Int,
    entries: Int,
    firstKey: Option[BigInt] = Some(0)
) {
  require(isPow2(ways) && ways >= 2 && ways <= 8, s"ways is $ways: choose 2, 4 or 8")
  require(isPow2(depth) && depth >= 2, s"depth is $depth: choose a power of two from 2 on")
  require(scopeBits >= 1 && scopeBits < keyBits, s"scopeBits is $scopeBits: choose 1 to ${keyBits - 1}")
  require(entries >= 1 && entries <= ways * depth, s"entries is $entries: the table has ${ways * depth} slots")

  val addressBits = keyBits - scopeBits
  val indexBits = log2Up(depth)
  val rowBits = ways * indexBits
  val countBits = log2Up(entries + 1)

  /** Entries looked at as candidates to move: those in the slots of the new one, and those in the slots of these. */
  val candidates = ways * ways

  /** Cycles from a command to its answer, at most: look at the new entry, list its ways; look at each of the first
    * candidates and list its other ways; look at each of the others; move at most two and write the new one.
    */
  val commandCycles = (4 + ways) + ways * (5 + ways) + (candidates - ways) * 5 + 4
}

object MacTableShape {

  /** The MAC table of a shell: half full when it holds all the entries it promises. */
  def apply(p: ShellParam): MacTableShape =
    MacTableShape(
      ways = 4,
      depth = p.macEntries / 2,
      keyBits = p.portBits + 48 + 13,
      scopeBits = 13,
      valueBits = 9,
      p.macEntries
    )
}

/** What a slot holds. */
case class MacSlot(shape: MacTableShape) extends Bundle {
  val key = Bits(shape.keyBits bits)
  val value = Bits(shape.valueBits bits)
  def isEmpty: Bool = key.andR
  def setEmpty(): Unit = {
    key.setAll()
    value := 0
  }
}

/** A write of a slot in the ways that are set. */
case class MacSlotWrite(shape: MacTableShape) extends Bundle {
  val way = Bits(shape.ways bits)
  val index = Vec(UInt(shape.indexBits bits), shape.ways)
  val slot = MacSlot(shape)
}

case class MacSlotCommand(shape: MacTableShape) extends Bundle {
  val operation = MacOperation()
  val slot = MacSlot(shape)
}

/** value: what the table held under the key before the command, if it held it. */
case class MacSlotAnswer(shape: MacTableShape) extends Bundle {
  val status = MacStatus()
  val value = Bits(shape.valueBits bits)
}
