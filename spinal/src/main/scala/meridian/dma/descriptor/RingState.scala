// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** What software's context says of a ring. */
case class RingContext() extends Bundle {
  val enable = Bool()
  // What the engine that has the ring has not, such as descriptors of another size or a base that is no multiple of 8.
  val wrong = Bool()
  val stride = UInt(2 bits) // from one descriptor to the next, 16 bytes times two to the power of it; 3: 8 bytes
  val creditEnable = Bool() // the shell says how many descriptors may be fetched
  val statusEnable = Bool()
  val statusInterval = Bool() // status after some frames, and not only when the ring is drained
  val error = Bits(2 bits) // 0: of a descriptor, 1: of what it points at
  val errorSent = Bool()
  val irqEnable, irqArm, irqRequest = Bool() // armed by software; owed since it was not
  val vector = UInt(11 bits)
  val aggregate, noVfInterrupt = Bool()
  val function = DmaParam.functionType()
  val size = UInt(4 bits) // index in the table of ring sizes
  val base = UInt(64 bits)
}

/** A ring as the engine knows it. */
case class RingState() extends Bundle {
  val context = RingContext()
  val pidx, cidx = UInt(16 bits)
  val fetched = UInt(16 bits) // the descriptor that is fetched next
  val credits = UInt(16 bits)
  val pending = Bool() // as software sees it: descriptors are posted that have not ended
  val frames = UInt(10 bits) // since the last status
  val listed = Bool() // waits for its turn
  val told = Bool() // the shell has heard of descriptors

  /** Bytes of so many descriptors. */
  def span(count: UInt): UInt = context.stride.mux(
    1 -> (count << 5).resize(64),
    2 -> (count << 6).resize(64),
    3 -> (count << 3).resize(64), // of a ring that is wrong: its status entry has a place
    default -> (count << 4).resize(64)
  )

  /** Where a descriptor is; the status entry is at the place behind the last. */
  def descriptor(index: UInt): UInt = context.base + span(index)
}

/** A ring's contexts were written: what was under way is forgotten, or credits alone are others. A function's reset
  * also makes one that changes nothing, and forgets what waits.
  */
case class RingChange() extends Bundle {
  val queue = DmaParam.queueType()
  val context = RingContext()
  val pidx, cidx = UInt(16 bits)
  val pending = Bool()
  val credits = UInt(16 bits)
  val creditsAlone = Bool()
  val forgets = Bool() // status entries and interrupts that wait are forgotten
}

/** A ring that stands still while its contexts are read and perhaps written. From the cycle in which it is held until
  * its change or until it is let go, the state stays.
  */
case class RingHold() extends Bundle with IMasterSlave {
  val queue = Flow(DmaParam.queueType())
  val held = Bool()
  val state = RingState()

  override def asMaster(): Unit = {
    master(queue)
    in(held, state)
  }
}

/** A producer index of software. */
case class RingDoorbell() extends Bundle {
  val queue = DmaParam.queueType()
  val pidx = UInt(16 bits)
  val arm = Bool() // the ring's interrupt
}

/** What the log of errors says of a ring that has failed. */
case class RingFailure() extends Bundle {
  val queue = DmaParam.queueType()
  val cidx, pidx, newPidx = UInt(16 bits)
}

/** Descriptors that the shell lets a queue fetch. */
case class RingCredit() extends Bundle {
  val queue = DmaParam.queueType()
  val count = UInt(16 bits)
}

/** A descriptor has ended. */
case class RingDone() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val failed = Bool()
  val onDescriptor = Bool() // it could not be fetched, or is malformed; else what it points at has failed
  val malformed = Bool()
}

/** A queue's epoch counts its changes and errors: what belongs to an older one is dropped. */
object RingEpoch {
  def apply(): UInt = UInt(16 bits)
}

/** Descriptors that were asked for, in the order of their reads. */
case class DescriptorFetch() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val count = UInt(5 bits)
  val stride = UInt(2 bits)
}

/** What the host is told of a ring: a status entry, an interrupt, or one behind the other. */
case class RingNotice() extends Bundle {
  val queue = DmaParam.queueType()
  val function = DmaParam.functionType()
  val status, interrupt = Bool()
  val address = UInt(64 bits) // of the entry
  val word = Bits(64 bits) // the entry
  val vector = UInt(11 bits)
  val aggregate = Bool()
}
