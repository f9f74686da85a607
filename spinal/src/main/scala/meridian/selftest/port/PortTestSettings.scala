// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.pacing.Pacing
import spinal.core._
import spinal.lib._

/** Why the last start of a port's test was refused. */
object PortTestRefusal extends SpinalEnum {
  val none, // it was not
  running, // a test of the port is under way, and goes on
  nothing, // neither generate nor check is set
  sizeRange, // a size below Ethernet's smallest frame or above the card's largest
  sizeSequence, // sizes that never reach the last: it is below the first, or the step is 0
  frames, // a number of frames without generate
  interval, // longer than a second
  mac, // the transmit side of the MAC is in reset, has no clock, or still has a frame of the last test
  linkDown, // the port has no link
  traffic, // the port has had frames of the host
  stopped, // a stop came before the test had begun
  psTraffic // the port has had frames of the PS, as those of PTP
  = newElement()
}

/** What ended the last test that had begun. */
object PortTestEnd extends SpinalEnum {
  val none, // nothing yet
  command, // stop or off
  complete, // all frames have been sent
  linkDown, // the link was lost
  mac // the transmit side of the MAC was reset, or its clock stood still
  = newElement()
}

object PortTestState extends SpinalEnum {
  val idle, // nothing
  starting, // it looks at the settings, and at the port's traffic
  running, // the generator sends, or the checker alone is on
  waiting, // for frames under way
  ending, // the checker is off, and the last records come
  armed // the checker is on, and the generator begins after the delay
  = newElement()
}

/** What the generator is to send; it crosses to the transmit clock of the MAC. */
case class PortTestPlan(p: ShellParam) extends Bundle {
  val sizeFirst, sizeStep, sizeLast = p.lengthType() // without FCS
  val interval = UInt(32 bits) // cycles of the MAC from frame to frame at least
  val rate = UInt(Pacing.rateBits bits) // bytes in 2^20 cycles of the MAC; 0: any
  val burst = UInt(16 bits) // bytes
  val frames = UInt(32 bits) // 0: no end
  val label = Bits(16 bits) // in each frame
  val destination = Bits(48 bits) // first byte on the wire in 7:0
}

/** What a test is to do; taken over when it starts. */
case class PortTestSettings(p: ShellParam) extends Bundle {
  val generate, check = Bool()
  val force = Bool() // neither traffic nor a missing link matters
  val delay = Bool() // the generator begins PortTestControl.delayCycles behind the checker
  val patience = UInt(16 bits) // us that the checker waits for frames behind the last that was sent
  val plan = PortTestPlan(p)
}

/** From the control of a test to the generator and back. Master is the control; it is in the ps clock, and what comes back
  * is of registers in the transmit clock of the MAC.
  */
case class PortTestTx(p: ShellParam) extends Bundle with IMasterSlave {
  val run = Bool()
  val plan = PortTestPlan(p) // stands still from 32 cycles before run rises until it falls
  val ready = Bool() // out of reset, and without a frame
  val going = Bool() // it has seen run, or is in a frame
  val complete = Bool() // all frames have been sent; until run falls
  override def asMaster(): Unit = {
    out(run, plan)
    in(ready, going, complete)
  }
}

/** From the control of a test to the checker in the receive clock of the MAC; of registers in the ps clock. */
case class PortTestRx() extends Bundle {
  val armed = Bool()
  val label = Bits(16 bits) // stands still while armed, and 32 cycles before
}
