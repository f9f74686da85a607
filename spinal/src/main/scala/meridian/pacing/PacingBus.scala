// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import meridian.host.{H2cRequest, PacketShape, Segmenter}
import meridian.host.tunnel.OuterHeaders
import spinal.core._
import spinal.lib._

object Pacing {

  /** A rate is in bytes per 2^rateShift cycles of 250 MHz: 524.288 for 1 Mb/s, 64 bytes a cycle at most. */
  val rateShift = 20
  val rateBits = 26

  /** What a frame counts for at least: it is padded to this on the wire. */
  val minBytes = 60

  /** Descriptors a function may have been granted without their frames having come. */
  val maxOutstanding = 128

  /** Descriptors of a queue whose frames may be cut into segments: no more of its function may be out with them. They have
    * up to half as many bytes again as maxOutstanding of the longest frames.
    */
  val maxSegmented = 16

  /** Cycles between two refills, of one function after the other. */
  val refillCycles = 64

  /** A full bucket holds what the rate gives in 2^burstShift cycles of 250 MHz, and baseBytes more. */
  val burstShift = 17
  val baseBytes = 16 * 1024

  /** Descriptors of a batch, by the largest mean length they are granted for: about 8 KiB, one of anything longer. */
  val batches = Seq(256 -> 32, 512 -> 16, 1024 -> 8, 1568 -> 6, 2048 -> 4, 4096 -> 2)
  val batchMost = batches.head._2

  /** Beats of frames that have come and are not yet in the buffer of a port: TxFilter holds 32 and its registers, and the
    * buffer itself says a little early that it is full.
    */
  val filterBeats = 48

  /** What a frame of so many bytes needs of a transmit buffer: whole beats, and perhaps those of a tag. */
  def bufferBytes(p: ShellParam, length: Int): Int = (length + 4 + p.hostBytes - 1) / p.hostBytes * p.hostBytes

  /** What the segments of one frame need of a transmit buffer at most: if they are small, and have the longest headers.
    * Those in a tunnel may be less small for that.
    */
  def segmentsBytes(p: ShellParam): Int = {
    def most(least: Int, headers: Int) = (65535 + least - 1) / least * bufferBytes(p, headers + least)
    val inTunnel = OuterHeaders.most - PacketShape.l3Start + Segmenter.mostHeader
    most(H2cRequest.leastSegment, Segmenter.mostHeader) max most(H2cRequest.leastInTunnel, inTunnel)
  }

  /** What a batch needs of a transmit buffer at most, if its frames have their mean length. */
  def batchBytes(p: ShellParam): Int =
    (batches.map { case (below, n) => n * bufferBytes(p, below - 1) } :+ bufferBytes(p, p.maxFrame)).max

  /** Paced bytes on their way to a port, and in its buffer, below which there is another grant: with that batch the buffer
    * is full at most. A buffer of less than 32 KiB has little or no room beside a batch; a quarter of it is the window
    * then, so that frames move, but ports are not apart. With segmentation the same is true below 256 KiB, and the batch is
    * a frame that is cut.
    */
  def windowBytes(p: ShellParam): Int = {
    def beside(batch: Int) = p.txBufferBytes - batch - filterBeats * p.hostBytes
    if (p.segmentation && p.txBufferBytes >= ShellParam.segmentedTxBuffer) beside(segmentsBytes(p))
    else beside(batchBytes(p)) max p.txBufferBytes / 4
  }

  /** Cycles between the batches of a port that drops its frames, as it has no link. */
  val dropCycles = 4096

  /** Bytes that may be on their way to a port, without those in its buffer, while one of its functions is below its
    * minimum, before the others wait.
    */
  val guardBytes = 10 * 1024
}

/** A write to a rate of a function; 0: no limit. */
case class RateWrite(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val minimum = Bool()
  val rate = UInt(Pacing.rateBits bits)
}

/** Descriptors that a queue may fetch now. */
case class DescriptorGrant(queueBits: Int, countBits: Int) extends Bundle {
  val queue = UInt(queueBits bits)
  val amount = UInt(countBits bits)
}

/** What is told of the descriptors of a queue: amount more; with drain, none is left. */
case class DescriptorNews(queueBits: Int, countBits: Int) extends Bundle {
  val queue = UInt(queueBits bits)
  val amount = UInt(countBits bits)
  val drain = Bool()
}

/** The function that pays for the frames of a queue. */
case class Payer(functionBits: Int) extends Bundle {
  val valid = Bool()
  val function = UInt(functionBits bits)
}

/** Whether a queue is paced. */
case class PacedSwitch(queueBits: Int) extends Bundle {
  val queue = UInt(queueBits bits)
  val paced = Bool()
  val segments = Bool() // its descriptors may be frames that are cut, much longer than others
}

/** Makes a function pay for the frames of a queue. */
case class QueueAssign(queueBits: Int, functionBits: Int) extends Bundle {
  val queue = UInt(queueBits bits)
  val function = UInt(functionBits bits)
}
