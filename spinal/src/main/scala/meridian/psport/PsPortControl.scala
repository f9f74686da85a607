// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ptp.PtpTime
import spinal.core._
import spinal.lib._

/** Why a ring stopped by itself. Only a ring reset clears it. */
object RingError extends SpinalEnum(binarySequential) {
  val none, // the ring has not stopped by itself
  descriptor, // a descriptor could not be read: bus error
  producer, // the producer index is further ahead than the ring is long
  completion // a completion could not be written: bus error
  = newElement()
}

/** What software sets of a ring. base and sizeLog2 may change only while the ring does not run. */
case class RingControl() extends Bundle {
  val enable = Bool()

  /** Level: keeps the ring stopped and, once it does not run, holds its indices and its error at 0. */
  val reset = Bool()

  /** Address of descriptor 0; bits 11 to 0 are taken as 0. */
  val base = UInt(40 bits)

  /** Descriptors in the ring, as a power of two, 3 to 12; values outside are taken as the nearest of these. */
  val sizeLog2 = UInt(4 bits)

  /** Free running: number of descriptors software has ever posted, modulo 65536. */
  val producer = UInt(16 bits)
}

/** What the card tells of a ring. */
case class RingStatus() extends Bundle {
  val running = Bool()
  val error = RingError()

  /** Free running: number of descriptors whose completion is in memory, modulo 65536. */
  val consumer = UInt(16 bits)
}

/** When completions of a ring become an interrupt. */
case class CoalesceControl() extends Bundle {

  /** At most this long after the first completion; 0: at once. */
  val microseconds = UInt(16 bits)

  /** At the latest with this many completions; 0: no such limit. */
  val frames = UInt(8 bits)
}

/** Causes of an interrupt; the same order in status, enable and clear. */
case class PsInterruptCauses() extends Bundle {
  val rx = Bool() // receive completions are in memory; latched, coalesced
  val tx = Bool() // transmit completions are in memory; latched, coalesced
  val txTimestamp = Bool() // the timestamp FIFO is not empty; level
  val error = Bool() // a ring stopped by itself, a bus error, or a timestamp was lost; latched
}

/** 64-bit counters of a port. Every frame offered by the port, and every transmit descriptor taken, is in exactly one
  * of the frame counters of its direction.
  */
case class PsCounters() extends Bundle {
  val rxFrames, rxBytes = UInt(64 bits) // written to memory without error
  val rxNoDescriptor = UInt(64 bits) // dropped: the ring was empty
  val rxBufferSmall = UInt(64 bits) // dropped: the next buffer is shorter than the frame
  val rxDisabled = UInt(64 bits) // dropped: the ring does not run
  val rxInside = UInt(64 bits) // dropped: from inside the card, and not more than half of the ring was posted
  val rxErrors = UInt(64 bits) // lost: completed with the error flag
  val txFrames, txBytes = UInt(64 bits) // handed on towards the MAC
  val txBadDescriptor = UInt(64 bits) // not sent: length or address not valid
  val txBusErrors = UInt(64 bits) // not sent: bus error while it was read
  val txAborted = UInt(64 bits) // not sent: the MAC took nothing while the ring was being stopped
  val txSwitched, txVebFull = UInt(64 bits) // of those handed on: went inside the card only; found no room there
  val txCopiesSwitched, txCopiesVebFull = UInt(64 bits) // of those sent: copies that went inside; found no room there
  val timestampsLost = UInt(64 bits) // transmit timestamps that found the FIFO full
  val busErrors = UInt(64 bits) // AXI responses with an error, reads (a beat each) and writes
}

/** Registers of one port (master) and its DMA (slave). */
case class PsPortControl() extends Bundle with IMasterSlave {
  val rx, tx = RingControl()
  val rxStatus, txStatus = RingStatus()
  val rxCoalesce, txCoalesce = CoalesceControl()
  val interruptEnable = PsInterruptCauses()
  val interruptClear = PsInterruptCauses() // pulses; txTimestamp has no effect
  val interruptStatus = PsInterruptCauses()
  val timestampPop = Bool() // pulse
  val timestampValid = Bool()
  val timestampTag = Bits(16 bits)
  val timestamp = PtpTime()
  val counters = PsCounters()
  override def asMaster(): Unit = {
    out(rx, tx, rxCoalesce, txCoalesce, interruptEnable, interruptClear, timestampPop)
    in(rxStatus, txStatus, interruptStatus, timestampValid, timestampTag, timestamp, counters)
  }
}
