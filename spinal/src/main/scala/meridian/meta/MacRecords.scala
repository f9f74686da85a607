// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import meridian.ShellParam
import spinal.core._
import spinal.lib._

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

/** One per frame handed to the MAC; in the transmit clock of the MAC. */
case class MacTxRecord(p: ShellParam) extends Bundle {
  val length = p.lengthType()
  val multicast, broadcast, vlan = Bool()
  val fromPs = Bool()
  val ofTest = p.selfTest generate Bool() // neither of host nor PS
  val control = p.sendsPause generate Bool() // likewise: of flow control
}

/** What the checker found out of a received frame. */
case class TakenFrame() extends Bundle {
  val taken = Bool() // it is of the run, and goes no further
  val foreign = Bool() // a test frame of another label
  val badLength, badPattern = Bool() // it is not as sent
  val bitErrors = UInt(TakenFrame.errorBits bits) // bits of the pattern that are not as sent
  val sequence = UInt(TakenFrame.sequenceBits bits)
  val timed = Bool() // the latency is known
  val latency = UInt(30 bits) // ns
}

object TakenFrame {

  /** At 37 million frames a second 48 bits last for 87 days. */
  val sequenceBits = 48

  /** Bits of the largest frame, and of any that a MAC lets pass; a longer one counts with no more than this. */
  val errorBits = 20
}
