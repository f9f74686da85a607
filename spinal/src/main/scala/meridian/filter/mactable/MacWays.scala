// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core._
import spinal.lib._

/** One copy of the table: a block RAM a way.
  *
  * slot follows index by one cycle; a slot of each way a cycle. A write holds for indices of the next cycle and later. A
  * slot read while it is written gives its old content (read first), never a mixture.
  */
class MacWays(shape: MacTableShape) extends Component {
  val io = new Bundle {
    val index = in Vec (UInt(shape.indexBits bits), shape.ways)
    val write = slave(Flow(MacSlotWrite(shape)))
    val slot = out Vec (MacSlot(shape), shape.ways)
  }

  val memory = for (way <- 0 until shape.ways) yield {
    val memory = Mem(MacSlot(shape), shape.depth)
    memory.write(io.write.index(way), io.write.slot, io.write.valid && io.write.way(way))
    io.slot(way) := memory.readSync(io.index(way), readUnderWrite = readFirst)
    memory
  }
}
