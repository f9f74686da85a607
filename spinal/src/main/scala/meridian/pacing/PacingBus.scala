// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
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

  /** Cycles between two refills, of one function after the other. */
  val refillCycles = 64

  /** A full bucket holds what the rate gives in 2^burstShift cycles of 250 MHz, and baseBytes more. */
  val burstShift = 17
  val baseBytes = 16 * 1024

  /** Bytes that may be on their way to a port before functions above their minimum wait; and the same while another one
    * of the port is below its minimum.
    */
  val windowBytes = 64 * 1024
  val guardBytes = 8 * 1024
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
}

/** Makes a function pay for the frames of a queue. */
case class QueueAssign(queueBits: Int, functionBits: Int) extends Bundle {
  val queue = UInt(queueBits bits)
  val function = UInt(functionBits bits)
}
