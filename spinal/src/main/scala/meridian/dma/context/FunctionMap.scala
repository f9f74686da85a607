// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** A function's queues are changed. */
case class FunctionMapWrite() extends Bundle {
  val function = DmaParam.functionType()
  val base = UInt(11 bits)
  val count = UInt(12 bits)
}

/** Which of all queues a function's queue is. It follows the contexts of the function map.
  *
  * `known` and `queue` are there 3 cycles after function and number, which are to be steady; one question at a time.
  */
class FunctionMap(p: DmaParam) extends Component {
  val io = new Bundle {
    val change = slave(Flow(FunctionMapWrite()))
    val function = in(DmaParam.functionType())
    val number = in(DmaParam.queueType()) // from the function's first
    val queue = out(DmaParam.queueType())
    val known = out Bool () // it is a queue of the function
    val none = out Bool () // the function has no queues at all
  }

  val ranges = Mem(Bits(23 bits), DmaParam.mapped)
  ranges.write(io.change.function, io.change.count ## io.change.base, io.change.valid)
  val range = RegNext(ranges.readSync(io.function))
  val base = range(10 downto 0).asUInt
  val count = range(22 downto 11).asUInt
  val sum = base +^ io.number
  io.queue := RegNext(sum.resize(11 bits))
  io.known := RegNext(io.number < count && p.hasQueue(sum))
  io.none := RegNext(count === 0)
}
