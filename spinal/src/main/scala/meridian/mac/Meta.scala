// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.box.TxSender
import meridian.crossing.Crossing
import meridian.egress.pool.PoolParam
import meridian.ptp.PtpTime
import meridian.selftest.port.TakenFrame
import spinal.core._
import spinal.lib._

/** What is kept of a received frame beside its bytes on its way to the host. */
case class HostStored(p: ShellParam) extends Bundle {
  val stamp = p.stamps generate RxStamp()
}

/** What the PS learns of a received frame. */
case class PsRxMeta(p: ShellParam) extends Bundle {
  val length = p.lengthType()
  val timestamp = PtpTime()
  val timestampValid = Bool()
  val inside = Bool() // of a function of the host: it never was on the wire and has no timestamp
  val bulk = Bool() // the PS has limits and this is not PTP: it leaves the last quarter of the ring to PTP
}

/** What the PS asks for a frame it sends: its transmit timestamp under this tag. */
case class PsTxMeta() extends Bundle {
  val timestamp = Bool()
  val tag = Bits(16 bits)
}

/** A transmit timestamp coming back from the MAC. */
case class TxTimestamp() extends Bundle {
  val tag = Bits(16 bits)
  val timestamp = PtpTime()
}

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

/** One per frame that ended on the wire, whatever became of it; in the receive clock of the MAC. */
case class MacRxRecord(p: ShellParam) extends Bundle {
  val length = p.lengthType() // bytes without FCS, 65535 for anything longer
  val badFcs, runt, oversize = Bool() // each drops the frame; the first of the three that holds is the one counted
  val multicast, broadcast, vlan = Bool()
  val forHost, forPs = Bool() // where a good frame belongs
  val hostOverflow, psOverflow = Bool() // and where it found no room
  val psPoliced = Bool() // or was over the PS's limit
  val ptp = Bool() // of a good frame: which of the limits is its
  val uncounted = UInt(16 bits) // frames just before it whose records found no room; 65535 for more
  val test = p.selfTest generate TakenFrame()
}

/** The list of a frame of the host in a pool of cells. */
case class PoolPlace() extends Bundle {
  val trafficClass = UInt(log2Up(PoolParam.classes) bits)
  val group = UInt(log2Up(PoolParam.groups) bits) // of functions
}

/** Of a frame of the host on its way to the buffer of its port. */
case class HostTxMeta(p: ShellParam) extends Bundle {
  val drop = Bool() // with the last beat: the frame is not to be sent
  val paced = Bool() // of a paced queue; the same from the first beat on
  val sender = p.box.nonEmpty generate TxSender(p) // known up to the user's module
  val high = p.twoQueues generate Bool() // with the first beat: it is for the upper queue
  val pool = p.pool generate PoolPlace() // with the first beat
}

/** One per frame handed to the MAC; in the transmit clock of the MAC. */
case class MacTxRecord(p: ShellParam) extends Bundle {
  val length = p.lengthType()
  val multicast, broadcast, vlan = Bool()
  val fromPs = Bool()
  val ofTest = p.selfTest generate Bool() // neither of host nor PS
}
