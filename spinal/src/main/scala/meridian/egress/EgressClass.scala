// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.frame.FrameStream
import spinal.core._
import spinal.lib._

/** The traffic classes of a port; the higher goes first. */
object EgressClass {
  val count = 2
  val names = Seq("lower", "upper")

  /** Of a map from PCP to class, as after reset: from 4 on high. */
  val resetMap = 0xf0

  /** Bytes that frames of queues that are not paced may have in a class, and what is left to the paced. */
  def unpacedBytes(p: ShellParam): Int = p.txBufferBytes
  def pacedBytes(p: ShellParam): Int = p.txBufferBytes

  /** Memory of a class. */
  def bytes(p: ShellParam): Int = unpacedBytes(p) + pacedBytes(p)

  /** Words by which the fill of a class may be wrong: pointers cross late, and by themselves. */
  val slackWords = 8
}

/** Where frames of a class are stored, as the admission sees it. */
case class EgressStore(p: ShellParam) extends Bundle with IMasterSlave {
  val push = FrameStream(p.hostBytes, HardType(Bool())) // meta: of a paced queue
  val drop = Bool() // with the last beat: the frame is not to be sent
  val abort = Bool() // what is stored of the frame is taken back
  val full = Bool() // frames of queues that are not paced have all that they may
  val up = Bool() // the store is in use; a frame during which it was not is lost

  override def asMaster(): Unit = {
    master(push)
    out(drop, abort)
    in(full, up)
  }
}
