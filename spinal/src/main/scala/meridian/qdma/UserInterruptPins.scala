// SPDX-License-Identifier: Apache-2.0
package meridian.qdma

import spinal.core._
import spinal.lib._

/** The usr_irq ports of the QDMA IP: the request stands until the IP has sent the message, or says that it could not. */
case class UserInterruptPins() extends Bundle with IMasterSlave {
  val in_vld = Bool()
  val in_vec = UInt(11 bits)
  val in_fnc = UInt(8 bits)
  val out_ack, out_fail = Bool()
  override def asMaster(): Unit = {
    out(in_vld, in_vec, in_fnc)
    in(out_ack, out_fail)
  }
}
