// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** Reciprocals r of buffer sizes such that floor(n * r / 2^scale) = floor(n / size) for every n below 2^14.
  *
  * With r = floor(2^scale / size) + 1 the product exceeds n / size by at most n / 2^scale, which is less than the
  * 1 / size that the next whole number is away if n * size < 2^scale. Sizes of 2^14 and more never fit twice: r = 0.
  */
object BufferReciprocal {
  val scale = 28
  val sizeBits = 14

  /** Below this a size is taken as not known. */
  val minSize = 64
  val quotientBits = scale - log2Up(minSize) + 1

  /** Quotient bits made in a stage. */
  val bitsPerStage = 1
  val stages = (quotientBits + bitsPerStage - 1) / bitsPerStage

  /** Cycles from a size to its reciprocal. */
  val latency = stages + 1
}

case class BufferReciprocalResult(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val reciprocal = UInt(BufferReciprocal.quotientBits bits)
}

/** Divider for BufferReciprocal: one size a cycle, BufferReciprocal.latency cycles. A size below 64 gives 0. Sizes of
  * queues the shell has not are left out.
  */
class BufferReciprocal(p: ShellParam) extends Component {
  import BufferReciprocal._
  val io = new Bundle {
    val size = slave(Flow(BufferSizeWrite(p)))
    val result = master(Flow(BufferReciprocalResult(p)))
  }

  case class Step() extends Bundle {
    val queue = p.queueType()
    val size = UInt(sizeBits bits)
    val zero = Bool() // the result is 0
    val remainder = UInt(sizeBits bits)
    val quotient = UInt(quotientBits bits)
  }

  val bytes = io.size.bytes
  val first = Flow(Step())
  first.valid := io.size.valid && p.below(io.size.queue, p.queues)
  first.queue := io.size.queue
  first.size := bytes.resized
  first.zero := bytes < minSize || bytes >= (1 << sizeBits)
  // The dividend is a one with zeros: what of it lies above the bits the stages bring down is below every size.
  first.remainder := BigInt(1) << (scale - stages * bitsPerStage)
  first.quotient := 0

  /** One bit of a division: bring down a 0. */
  def divide(step: Step): Step = {
    val ret = Step()
    val doubled = step.remainder @@ U(0, 1 bits)
    val fits = doubled >= step.size
    ret.queue := step.queue
    ret.size := step.size
    ret.zero := step.zero
    ret.remainder := (fits ? (doubled - step.size) | doubled).resized
    ret.quotient := (step.quotient @@ fits.asUInt).resized
    ret
  }

  val done = (0 until stages).foldLeft(first) { (flow, _) =>
    flow.translateWith((0 until bitsPerStage).foldLeft(flow.payload)((step, _) => divide(step))).stage()
  }
  val result = BufferReciprocalResult(p)
  result.queue := done.queue
  result.reciprocal := (done.quotient + 1).asBits.andMask(!done.zero).asUInt
  io.result << done.translateWith(result).stage()
}
