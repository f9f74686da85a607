// SPDX-License-Identifier: Apache-2.0
package meridian.filter.copies

import meridian.ShellParam
import meridian.filter.rss._
import meridian.meta.{RxSource, RxTarget}
import spinal.core._

/** A frame for several functions that asks for room in the replicator. */
case class CopyJob(p: ShellParam) extends Bundle {
  val list = ListKey(p)
  val length = p.lengthType()
  val vlan = Bool()
  val hashInput = HashInput()
  val source = RxSource(p)
}

/** A copy that asks for a queue. some low: a list that turned out empty, which only passes `last` on. */
case class CopyRequest(p: ShellParam) extends Bundle {
  val some = Bool()
  val last = Bool() // of its frame
  val function = p.functionType()
  val port = p.portType()
  val length = p.lengthType()
  val vlan = Bool()
  val hashInput = HashInput()
}

/** Its answer, in the order asked. */
case class CopyDecision(p: ShellParam) extends Bundle {
  val deliver = Bool()
  val last = Bool()
  val target = RxTarget(p)
}
