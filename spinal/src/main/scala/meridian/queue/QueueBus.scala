// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** Whose a queue is. */
case class QueueOwner(p: ShellParam) extends Bundle {
  val valid = Bool()
  val function = p.functionType()
}

/** One question a cycle; the answer comes QueueTable.latency cycles later, always. */
case class QueueLookup(p: ShellParam) extends Bundle with IMasterSlave {
  val query = Flow(p.queueType())
  val result = Flow(QueueOwner(p))
  override def asMaster(): Unit = { master(query); slave(result) }
}

/** A frame of length bytes asks for buffers of a queue. */
case class CreditQuery(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val length = p.lengthType()
}

/** One question a cycle; the answer (granted: buffers are taken; or not: none is) comes QueueCredit.latency cycles
  * later, always.
  */
case class CreditLookup(p: ShellParam) extends Bundle with IMasterSlave {
  val query = Flow(CreditQuery(p))
  val granted = Flow(Bool())
  override def asMaster(): Unit = { master(query); slave(granted) }
}

/** Receive buffer size of a queue in bytes; 0: not known, a frame takes one buffer. */
case class BufferSizeWrite(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val bytes = UInt(16 bits)
}
