// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import spinal.core._
import spinal.lib._

/** A word of a function's BAR0, read or written. */
case class BarAccess() extends Bundle {
  val function = DmaParam.functionType()
  val offset = UInt(18 bits) // in bytes, a multiple of 4
  val write = Bool()
  val data = Bits(32 bits) // of a write
}

/** A word of a function's BAR0 or BAR2, read or written. */
case class HostAccess() extends Bundle {
  val access = BarAccess() // offset: its lower bits
  val upper = UInt(4 bits) // the upper ones, which only a place in BAR2 has
  val isBar2 = Bool()

  def offset: UInt = upper @@ access.offset
  def write: Bool = access.write
}
object HostAccess {
  val offsetBits = 22

  /** One of BAR0. */
  def apply(access: BarAccess): HostAccess = {
    val it = HostAccess()
    it.access := access
    it.upper := 0
    it.isBar2 := False
    it
  }
}

/** An access to a block. The block keeps ready low until it has done it; a read's value is valid with ready. */
abstract class AccessPort[T <: Data](accessType: HardType[T]) extends Bundle with IMasterSlave {
  val access = Stream(accessType())
  val value = Bits(32 bits)

  override def asMaster(): Unit = {
    master(access)
    in(value)
  }
}

/** To a block of registers in BAR0. */
case class RegPort() extends AccessPort(HardType(BarAccess()))

/** To the bridge to BAR2. */
case class BridgePort() extends AccessPort(HardType(HostAccess()))

/** A doorbell that was rung. */
case class Doorbell() extends Bundle {
  val function = DmaParam.functionType()
  val queue = DmaParam.queueType() // of all queues
  val kind = UInt(2 bits) // 0: interrupt ring's CIDX, 1: H2C PIDX, 2: C2H PIDX, 3: completion CIDX
  val value = Bits(32 bits)
}
object Doorbell {
  val ringCidx = 0
  val h2cPidx = 1
  val c2hPidx = 2
  val completionCidx = 3
}

/** An interrupt that is to be sent: a vector of a function, or an entry of an interrupt ring that has the vector's number. */
case class InterruptRequest() extends Bundle {
  val function = UInt(12 bits)
  val vector = UInt(11 bits)
  val aggregate = Bool()
}
