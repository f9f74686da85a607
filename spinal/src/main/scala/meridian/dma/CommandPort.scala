// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import spinal.core._
import spinal.lib._

/** Bytes of the host's memory that the card's own logic wants to read, or to write. The queue's function is who asks. */
case class HostCommand() extends Bundle {
  val queue = DmaParam.queueType() // one of commands, see CommandQueues
  val address = UInt(64 bits)
  val bytes = UInt(16 bits) // not 0
  val tag = Bits(CommandPort.tagBits bits) // whatever the logic wants to find again
}

/** What was read, from the first byte on. */
case class HostRead() extends Bundle {
  val data = Bits(256 bits)
  val keep = Bits(32 bits) // all but in the last beat; none in one that has failed
  val tag = Bits(CommandPort.tagBits bits)
  val failed = Bool() // in the last beat: nothing, or not all, could be read
}

/** What is to be written, from the first byte on, beside its command, which is that of all its beats. */
case class HostWrite() extends Bundle {
  val data = Bits(256 bits)
  val command = HostCommand()
}

/** A write has ended. */
case class HostWritten() extends Bundle {
  val tag = Bits(CommandPort.tagBits bits)
  val failed = Bool() // nothing, or not all, was written
}

/** Commands of the card's own logic, which is the master. Reads are answered in their order, and writes in theirs. */
case class CommandPort() extends Bundle with IMasterSlave {
  val read = Stream(HostCommand())
  val bytes = Stream(Fragment(HostRead()))
  val write = Stream(Fragment(HostWrite()))
  val written = Flow(HostWritten()) // PCIe has taken it, so nothing that is sent later overtakes it
  val reset = Bool() // the logic is in reset: its commands end, and it hears nothing of them

  override def asMaster(): Unit = {
    master(read, write)
    slave(bytes, written)
    out(reset)
  }
}

object CommandPort {
  val tagBits = 8
}
