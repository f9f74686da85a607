// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest}
import spinal.core._

/** What an entry of an interrupt ring tells of a queue (PG302, "Interrupt Aggregation Ring"); all zeros of an error. */
case class InterruptEvent() extends Bundle {
  val pidx, cidx = UInt(16 bits)
  val colour = Bool() // of the completion ring
  val state = UInt(2 bits) // of the completion ring's interrupt
  val error = Bits(2 bits)
  val c2h = Bool()
  val queue = DmaParam.queueType()

  /** The part that a completion ring's status entry has at the same place. */
  def fromStatus(word: Bits): Unit = {
    pidx := word(15 downto 0).asUInt
    cidx := word(31 downto 16).asUInt
    colour := word(32)
    state := word(34 downto 33).asUInt
    error := word(36 downto 35)
  }

  /** The entry, whose colour is that of the ring. */
  def entry(ringColour: Bool): Bits =
    ringColour ## queue.resize(24 bits) ## c2h ## False ## error ## state ## colour ## cidx ## pidx
}

/** An interrupt, and what the ring's entry tells if it is for a ring. */
case class RingInterrupt() extends Bundle {
  val request = InterruptRequest()
  val event = InterruptEvent()
  val ofQueue = Bool() // and so of its function; for a ring it may be nobody's
}

object RingInterrupt {

  /** One that tells of no queue. */
  def apply(request: InterruptRequest): RingInterrupt = {
    val it = RingInterrupt()
    it.request := request
    it.event := it.event.getZero
    it.ofQueue := False
    it
  }
}
