// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** The list of a frame of the host in a pool of cells. */
case class PoolPlace() extends Bundle {
  val trafficClass = UInt(log2Up(PoolPlace.classes) bits)
  val group = UInt(log2Up(PoolPlace.groups) bits) // of functions
}

object PoolPlace {

  /** Traffic classes of a port. */
  val classes = 8

  /** Groups of functions in a class. */
  val groups = 8
}

/** Of a frame of the host on its way to the buffer of its port. */
case class HostTxMeta(p: ShellParam) extends Bundle {
  val drop = Bool() // with the last beat: the frame is not to be sent
  val paced = Bool() // of a paced queue; the same from the first beat on
  val sender = p.box.nonEmpty generate TxSender(p) // known up to the user's module
  val high = p.twoQueues generate Bool() // with the first beat: it is for the upper queue
  val pool = p.pool generate PoolPlace() // with the first beat
}

/** Who sent a frame of the host; known behind the transmit filter. */
case class TxSender(p: ShellParam) extends Bundle {
  val function = p.functionType()
  val queue = p.queueType()
}
