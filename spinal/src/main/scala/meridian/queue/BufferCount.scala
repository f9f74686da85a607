// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import spinal.core._
import spinal.lib._

object BufferCount {

  /** Cycles from a query to the number of buffers. */
  val latency = 3

  /** Cycles from a size to the first query it holds for. */
  val settle = BufferReciprocal.latency + 1

  /** Largest length told exactly; longer frames are counted as this long. */
  val maxLength = 16384
  val neededBits = 9
}

/** Buffers of a queue that a frame needs: length / size rounded up, at least 1.
  *
  * One query a cycle, BufferCount.latency cycles. The quotient is the product with a reciprocal kept for each queue
  * (one DSP slice); it is exact for every length to 16384 and every size. A size below 64 bytes, 0 among them, stands
  * for one that is not known: one buffer. Sizes may be written every cycle and hold from BufferCount.settle cycles
  * later on.
  *
  * In the first queues cycles after reset every size is set to not known, and sizes written are lost.
  */
class BufferCount(p: ShellParam) extends Component {
  import BufferReciprocal.{quotientBits, scale}
  require(p.maxFrame <= BufferCount.maxLength, s"maxFrame is ${p.maxFrame}: choose at most ${BufferCount.maxLength}")
  val io = new Bundle {
    val size = slave(Flow(BufferSizeWrite(p)))
    val query = in(CreditQuery(p))
    val needed = out UInt (BufferCount.neededBits bits)
  }

  val divider = new BufferReciprocal(p)
  divider.io.size << io.size
  val memory = Mem(UInt(quotientBits bits), p.queues)
  val clearing = Reg(UInt(log2Up(p.queues) + 1 bits)) init 0
  val ready = clearing.msb
  when(!ready)(clearing := clearing + 1)
  memory.write(
    address = (ready ? divider.io.result.queue | clearing.resized).resized,
    data = divider.io.result.reciprocal.asBits.andMask(ready).asUInt,
    enable = divider.io.result.valid || !ready
  )

  // ceil(length / size) = floor((length - 1) / size) + 1 for lengths from 1 on.
  val last = UInt(log2Up(BufferCount.maxLength) bits)
  last := (io.query.length - 1).resized
  when(io.query.length === 0)(last := 0)
  when(io.query.length > BufferCount.maxLength)(last.setAll())
  val reciprocal = memory.readSync(io.query.queue.resized, readUnderWrite = readFirst)
  // The memory's own register feeds the multiplier; the two behind it are those of a DSP slice.
  val product = Delay(RegNext(last) * reciprocal, 2)
  io.needed := (product >> scale).resize(BufferCount.neededBits) + 1
}
