// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import spinal.core._
import spinal.lib._

/** A completion context, as software sees it (PG302, "Completion Context Structure"): the lowest bit, and how many. */
object CompletionRow {
  val bits = 224
  val statusEnable = 0
  val irqEnable = 1
  val mode = (2, 3)
  val function = (5, 12)
  val counter = (17, 4)
  val timer = (21, 4)
  val irqState = (25, 2)
  val colour = 27
  val size = (28, 4)
  val base = (32, 58) // in units of 64 bytes
  val entrySize = (90, 2) // 8 bytes times two to the power of it
  val pidx = (92, 16)
  val cidx = (108, 16)
  val valid = 124
  val error = (125, 2)
  val timerRunning = 128
  val fullUpdate = 129
  val noOverflowCheck = 130
  val vector = (132, 11)
  val aggregate = 143
  val noVfInterrupt = 144

  def apply(row: Bits, at: (Int, Int)): UInt = row(at._1, at._2 bits).asUInt

  object Mode {
    val disabled = 0
    val every = 1
    val userCount = 2
    val user = 3
    val userTimer = 4
    val userTimerCount = 5
  }
  object IrqState {
    val serviced = 0
    val triggered = 1
    val armed = 2
  }
  object Error {
    val badCidx = 1
    val badDescriptor = 2
    val overflow = 3
  }

  /** The doorbell of CIDX. */
  object Bell {
    val cidx = (0, 16)
    val counter = (16, 4)
    val timer = (20, 4)
    val mode = (24, 3)
    val statusEnable = 27
    val irqEnable = 28
  }
}

/** A frame's completion is to be written. */
case class CompletionAdd() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch() // of its ring of buffers, when it got them
  val data = Bits(128 bits)
  val error = Bool() // its descriptor was bad
}

/** Software has read completions. */
case class CompletionBell() extends Bundle {
  val queue = DmaParam.queueType()
  val value = Bits(32 bits)
}

/** A completion ring stands still while its context is read and perhaps written. */
case class CompletionHold() extends Bundle with IMasterSlave {
  val queue = Flow(DmaParam.queueType())
  val held = Bool()
  val row = Bits(CompletionRow.bits bits)

  override def asMaster(): Unit = {
    master(queue)
    in(held, row)
  }
}

/** A completion context was written: what its ring owes the host, or has not sent yet, is forgotten. A function's reset makes
  * one that changes nothing, too.
  */
case class CompletionChange() extends Bundle {
  val queue = DmaParam.queueType()
  val row = Bits(CompletionRow.bits bits)
}
