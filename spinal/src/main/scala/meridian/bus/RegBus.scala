// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import spinal.core._
import spinal.lib._

/** One access to a register: a whole 32-bit word.
  *
  * @param addressWidth bits of the byte address; its two lowest bits are always 0
  */
case class RegCommand(addressWidth: Int) extends Bundle {
  val write = Bool()
  val address = UInt(addressWidth bits)
  val data = Bits(32 bits)
  val function = UInt(8 bits) // who asks, if it comes from BAR2
  val fromHost = Bool() // by BAR2; else by the PS
}

/** The end of an access. refused: the write was not done; unmapped: nothing lives at the address. */
case class RegAnswer() extends Bundle {
  val data = Bits(32 bits)
  val refused = Bool()
  val unmapped = Bool()
}

/** Register accesses inside the shell. One is under way at a time: after cmd fires the master waits for rsp, which
  * comes in a later cycle, exactly once.
  */
case class RegPort(addressWidth: Int) extends Bundle with IMasterSlave {
  val cmd = Stream(RegCommand(addressWidth))
  val rsp = Flow(RegAnswer())
  override def asMaster(): Unit = { master(cmd); slave(rsp) }

  /** Takes the commands of a bus with at least as many address bits; the upper ones are not looked at. */
  def <<(that: RegPort): Unit = {
    cmd.valid := that.cmd.valid
    that.cmd.ready := cmd.ready
    cmd.write := that.cmd.write
    cmd.address := that.cmd.address.resized
    cmd.data := that.cmd.data
    cmd.function := that.cmd.function
    cmd.fromHost := that.cmd.fromHost
    that.rsp << rsp
  }
}
