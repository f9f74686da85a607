// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The engine for proofs. What only says which function is visited, and whether it is granted something, is replaced by
  * anything: rates, levels, the room of ports, frames that come. So it does all that the engine does, and more, and there
  * is less to prove.
  */
class LoosePacerEngine(p: ShellParam, functionBits: Int) extends PacerEngine(p, queueBits = 1, functionBits) {
  for (level <- Seq(decide.mostLeft, decide.leastLeft)) {
    level.removeAssignments()
    level := anyseq(cloneOf(level))
  }
  for (amount <- Seq(decide.bytesToPort, settle.quiet)) {
    amount.removeAssignments()
    amount := anyseq(cloneOf(amount))
  }
  for (flag <- Seq(decide.ownerRight, decide.settling)) {
    flag.removeAssignments()
    flag := anyseq(Bool())
  }
  for (finder <- Seq(flags.first, flags.others, flags.settled)) {
    finder.io.wish.removeAssignments()
    finder.io.wish := anyseq(Bits(functions bits))
  }
  settle.came.removeAssignments()
  when(visits(2))(settle.came := anyseq(cloneOf(settle.came)))
}
