// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** The queues of a function: base until base + count; count 0 means the function is switched off. */
case class FunctionRange(p: ShellParam) extends Bundle {
  val base = p.queueType()
  val count = UInt(p.queueBits + 1 bits)
}

/** One question a cycle: which queues a function has. The answer comes a fixed number of cycles later, always. */
case class RangeLookup(p: ShellParam) extends Bundle with IMasterSlave {
  val query = Flow(p.functionType())
  val result = Flow(FunctionRange(p))
  override def asMaster(): Unit = { master(query); slave(result) }
}
