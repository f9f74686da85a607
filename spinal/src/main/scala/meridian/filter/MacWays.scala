// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import spinal.core._
import spinal.lib._

/** One copy of the table: a block RAM a way, read at the hashes of a key.
  *
  * index follows key by one cycle, slot by two; a key a cycle. A write holds for keys of the same cycle and later. A
  * slot read while it is written gives its old content (read first), never a mixture.
  */
class MacWays(shape: MacTableShape) extends Component {
  val io = new Bundle {
    val key = in Bits (shape.keyBits bits)
    val write = slave(Flow(MacSlotWrite(shape)))
    val index = out Vec (UInt(shape.indexBits bits), shape.ways)
    val slot = out Vec (MacSlot(shape), shape.ways)
  }

  val memory = for (way <- 0 until shape.ways) yield {
    val index = RegNext(MacHash(shape, way, io.key))
    val memory = Mem(MacSlot(shape), shape.depth)
    memory.write(io.write.index(way), io.write.slot, io.write.valid && io.write.way(way))
    io.index(way) := index
    io.slot(way) := memory.readSync(index, readUnderWrite = readFirst)
    memory
  }
}
