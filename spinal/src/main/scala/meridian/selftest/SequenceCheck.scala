// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import spinal.core._
import spinal.lib._

/** Where the number of a frame stands to those before it of the same queue. */
case class SequenceVerdict(sequenceBits: Int) extends Bundle {
  val late = Bool() // below the number expected: the frame was passed by others, or has come before
  val skipped = UInt(sequenceBits bits) // numbers between the one expected and this one
}

/** Follows the numbers of the frames of each queue. The number expected is that behind the highest seen.
  *
  * Latency: the verdict comes a cycle after its frame. Throughput: one frame a cycle, also of one queue. A memory of
  * `queues` numbers.
  *
  * @param queues       whose numbers are followed; a power of two
  * @param sequenceBits of a number
  */
class SequenceCheck(queues: Int, sequenceBits: Int) extends Component {
  val queueBits = log2Up(queues)
  val io = new Bundle {
    val clear = slave(Flow(UInt(queueBits bits))) // 0 is expected of this queue
    val look = in UInt (queueBits bits) // queue of the frame of the next cycle
    val frame = slave(Flow(UInt(sequenceBits bits)))
    val verdict = master(Flow(SequenceVerdict(sequenceBits)))
  }
  val memory = Mem(UInt(sequenceBits bits), queues)
  val stored = memory.readSync(io.look, readUnderWrite = readFirst)
  val queue = RegNext(io.look)
  // What the frame of the cycle before left is not yet in what was read meanwhile.
  val lastValid = RegInit(False)
  val lastQueue = RegNextWhen(queue, io.frame.valid)
  val lastExpected = Reg(UInt(sequenceBits bits))
  val expected = (lastValid && lastQueue === queue) ? lastExpected | stored
  val late = io.frame.payload < expected
  val after = io.frame.payload + 1
  when(io.frame.valid) {
    lastValid := True
    lastExpected := late ? expected | after
  }
  when(io.clear.valid)(lastValid := False)
  memory.write(
    io.clear.valid ? io.clear.payload | queue,
    after.andMask(!io.clear.valid),
    io.clear.valid || io.frame.valid && !late
  )
  io.verdict.valid := RegNext(io.frame.valid) init False
  io.verdict.late := RegNext(late)
  io.verdict.skipped := RegNext(io.frame.payload - expected)
}
