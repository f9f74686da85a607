// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** An interrupt ring as its context has it. */
case class InterruptRing() extends Bundle {
  val valid = Bool()
  val vector = UInt(11 bits)
  val serviced = Bool() // software has not written CIDX since the ring's interrupt
  val colour = Bool()
  val base = UInt(52 bits) // in pages of 4 KiB
  val pages = UInt(3 bits) // that the ring has beyond the first
  val pidx = UInt(12 bits)
  val function = UInt(12 bits)

  /** The place of the next entry, also if software has written a PIDX that the ring has not. */
  def place: UInt = {
    val page = Vec((0 until 64).map(i => U((i & 7) % ((i >> 3) + 1), 3 bits)))
    page(pages @@ pidx(11 downto 9)) @@ pidx(8 downto 0)
  }
}

/** What the engine knows of a ring beside its context: it has sent an interrupt for what it does not send again. */
case class InterruptRingState() extends Bundle {
  val ring = InterruptRing()
  val cidx = UInt(16 bits) // told by software last
  val sentPidx = UInt(12 bits) // of the ring at its last interrupt
}

/** An interrupt ring that stands still while its context is read and perhaps written. From the cycle in which it is
  * held until its change or until it is let go, the state stays.
  */
case class InterruptRingHold() extends Bundle with IMasterSlave {
  val index = Flow(UInt(8 bits))
  val held = Bool()
  val state = InterruptRing()

  override def asMaster(): Unit = {
    master(index)
    in(held, state)
  }
}

/** A write of a ring's CIDX. */
case class InterruptBell() extends Bundle {
  val function = DmaParam.functionType()
  val index = UInt(8 bits)
  val cidx = UInt(16 bits)
}

/** Where software finds an interrupt ring in its context (PG302, "Interrupt Aggregation Context"): lowest bit, and how
  * many.
  */
object InterruptRingFields {
  private val valid = 0
  private val vector = (1, 11)
  private val serviced = 13
  private val colour = 14
  private val base = (15, 52)
  private val pages = (67, 3)
  private val pidx = (70, 12)
  private val function = (114, 12)

  def ring(row: Bits): InterruptRing = {
    def field(at: (Int, Int)): UInt = row(at._1, at._2 bits).asUInt
    val it = InterruptRing()
    it.valid := row(valid)
    it.vector := field(vector)
    it.serviced := row(serviced)
    it.colour := row(colour)
    it.base := field(base)
    it.pages := field(pages)
    it.pidx := field(pidx)
    it.function := field(function)
    it
  }

  /** The context as the engine has changed it. */
  def context(stored: Bits, ring: InterruptRing): Bits = {
    val it = CombInit(stored)
    it(serviced) := ring.serviced
    it(colour) := ring.colour
    it(pidx._1, pidx._2 bits) := ring.pidx.asBits
    it
  }
}
