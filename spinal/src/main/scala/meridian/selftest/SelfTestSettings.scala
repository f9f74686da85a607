// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.pacing.Pacing
import spinal.core._
import spinal.lib._

/** Why the last start was refused. */
object SelfTestRefusal extends SpinalEnum {
  val none, // it was not
  running, // a test is under way, and goes on
  nothing, // neither generate nor check is set
  noFunction, // there is no such function, it has no queues, or it is in reset
  credit, // free buffers are not counted: credit.enforce is off
  sizeZero, // a frame of no byte
  sizeTooBig, // a frame larger than the largest
  sizeSequence, // sizes that never reach the last: it is below the first, or the step is 0
  queues, // none, beyond the card's, not all of the function, or of one that is not the PF's who starts
  window, // the measurement window has no cycle
  traffic, // the function, or a function of its port, has had frames
  stopped // a stop came before the test had begun
  = newElement()
}

/** What ended the last test that had begun. */
object SelfTestEnd extends SpinalEnum {
  val none, // nothing yet
  command, // stop
  complete, // all frames have been sent
  functionReset, // a function level reset of its function
  queuesChanged, // a write to the queues of its function, or to a range that meets them
  creditOff // credit.enforce was switched off
  = newElement()
}

object SelfTestState extends SpinalEnum {
  val idle, starting, running, ending = newElement()
}

/** What a test is to do; taken over when it starts. */
case class SelfTestSettings(p: ShellParam) extends Bundle {
  val generate, check = Bool()
  val take = Bool() // frames of the queues from the host end at the checker
  val force = Bool() // traffic does not matter
  val function = p.functionType()
  val first = p.queueType()
  val count = UInt(p.queueBits + 1 bits)
  val sizeFirst, sizeStep, sizeLast = p.lengthType()
  val interval = UInt(32 bits) // cycles from frame to frame at least
  val rate = UInt(Pacing.rateBits bits) // bytes in 2^20 cycles, of 4 ns or of the MAC; 0: any
  val burst = UInt(16 bits) // bytes
  val frames = UInt(32 bits) // 0: no end
  val destination, source = Bits(48 bits) // first byte on the wire in 7:0
}

/** A test under way: settings, and what follows from them. */
case class SelfTestRun(p: ShellParam) extends Bundle {
  val settings = SelfTestSettings(p)
  val last = p.queueType()
  val number = UInt(TestFrame.runBits bits)
}

/** Queues of a function, one behind another. */
case class QueueSpan(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val first, last = p.queueType()
}

/** A frame that is to be sent. */
case class PlannedFrame(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val length = p.lengthType()
}
