// SPDX-License-Identifier: Apache-2.0
package meridian.settings

import meridian.ShellParam
import meridian.crossing.Crossing
import spinal.core._
import spinal.lib._

/** To whom of the PS a destination address matters; set while quasi-static: clear valid, write, set valid. */
case class PsFilterConfig(p: ShellParam) extends Bundle {
  val enable = Bool()
  val broadcast = Bool()
  val allMulticast = Bool()
  val promiscuous = Bool()
  val valid = Bits(p.psAddresses bits)
  val address = Vec(Bits(48 bits), p.psAddresses)
}

object PsFilterConfig {

  /** Brings what was set in the ps clock into the current one. */
  def crossed(p: ShellParam, from: PsFilterConfig): PsFilterConfig = {
    val to = PsFilterConfig(p)
    to.enable := BufferCC(from.enable, False)
    to.broadcast := BufferCC(from.broadcast, False)
    to.allMulticast := BufferCC(from.allMulticast, False)
    to.promiscuous := BufferCC(from.promiscuous, False)
    to.valid := BufferCC(from.valid, B(0, p.psAddresses bits))
    val address = Crossing.held(
      from.address,
      "An address of the PS changes only while its valid bit is low and is looked at only while that is high."
    )
    to.address := RegNext(address)
    to
  }
}
