// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import spinal.core._
import spinal.lib._

/** The cell behind each cell: of its frame, or the first of the next frame.
  *
  * Latency: 1 cycle from ask to link, which also tells what was written meanwhile and is written in that very cycle.
  */
class CellLinks(e: PoolParam) extends Component {
  val io = new Bundle {
    val write = slave(Flow(e.cellType()))
    val cell = in(e.cellType()) // of write
    val ask = slave(Flow(e.cellType()))
    val link = out(e.cellType())
  }
  val memory = Mem(e.cellType(), e.cells)
  memory.write(io.cell, io.write.payload, io.write.valid)
  val stored = memory.readSync(io.ask.payload, io.ask.valid)
  val asked = RegNextWhen(io.ask.payload, io.ask.valid)
  val late = RegNext(io.write.valid && io.ask.valid && io.cell === io.ask.payload)
  io.link := Mux(late, RegNext(io.write.payload), stored)
  when(io.write.valid && io.cell === asked)(io.link := io.write.payload)
}
