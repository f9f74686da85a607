// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.{LongTest, Pdr, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The engine with what is to be proved of it: no function has more descriptors on their way than it may. What was kept of
  * the function that is visited is anything that a visit may leave, so each visit stands for all.
  */
class ProvenPacerEngine(p: ShellParam) extends LoosePacerEngine(p, functionBits = 2) {
  // A queue is told as active once: so PacedQueues has it.
  assume(!io.active.valid || !lists.promised.listed.pull()(io.active.payload))

  val kept = Reg(cloneOf(account))
  when(phase =/= Phase.visit || at(0))(kept := anyseq(cloneOf(account)))
  assume(kept.outstanding <= Pacing.maxOutstanding)
  account.removeAssignments()
  account := kept

  when(keep.ends)(assert(keep.next.outstanding <= Pacing.maxOutstanding, "more is on its way than may be"))
  when(phase === Phase.visit)(assert(keep.clear.msb, "what is kept of a function is read before it is cleared"))
  when(io.grant.valid)(assert(io.grant.amount <= Pacing.batchMost && io.grant.amount =/= 0, "a batch of a wrong size"))
  cover(keep.ends && outstanding === Pacing.maxOutstanding)
  cover(io.grant.valid && io.grant.amount === Pacing.batchMost)
}

class PacerEngineProof extends Component {
  val dut = FormalDut(new ProvenPacerEngine(ShellParam(functions = 4)))
  assumeInitial(ClockDomain.current.isResetActive)
  for (input <- dut.io.flatten if input.isInput) {
    val free = cloneOf(input)
    anyseq(free)
    input := free.asInstanceOf[input.type]
  }
}

/** For what a visit leaves, and for all that the lists and the totals of the ports expect of the engine; four functions,
  * two queues, the structure the same.
  */
class PacerEngineFormal extends AnyFunSuite {
  for ((cycles, more) <- Seq(50 -> Nil, 100 -> Seq(LongTest)))
    test(s"no visit leaves more than 128 descriptors of a function on their way, in $cycles cycles", more: _*) {
      Pdr.bounded(new PacerEngineProof, cycles)
    }
  test("the proof notices a grant to a function that has more on its way than a batch below the most", LongTest) {
    Pdr.catches(new PacerEngineProof, "(settle_left <= 8'h60)", "(settle_left <= 8'h61)")
  }
}
