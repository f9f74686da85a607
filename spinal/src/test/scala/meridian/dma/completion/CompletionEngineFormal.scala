// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any doorbells, completions, commands and contexts, and room for actions at any time. A ring that is held is let go, or its
  * change comes, within 4 cycles.
  */
class CompletionEngineProof extends Component {
  val p = DmaParam(queues = 16)
  val dut = FormalDut(new CompletionEngine(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.bell)
  Proof.drive(io.add)
  Proof.drive(io.change)
  Seq(io.hold.queue.valid, io.hold.queue.payload, io.epoch, io.hasRoom, io.tick).foreach(anyseq(_))
  for (table <- Seq(io.ringSizes, io.thresholds, io.timers); value <- table) anyseq(value)
  io.action.ready := True
  io.skip := 1
  io.raise.ready := True
  assume(Proof.count(io.hold.held && io.hold.queue.valid, !io.hold.held, 7) <= 3 || io.change.valid)

  val waits = Proof.count(io.bell.valid && !io.bell.ready, !io.bell.valid || io.bell.ready, 63)
  val filled = Proof.count(True, False, 31)
  assert(filled < 31 || waits <= 16, "a doorbell waits")
  cover(filled === 31 && waits === 10 && io.bell.ready)
}

class CompletionEngineFormal extends AnyFunSuite {
  test("a doorbell is taken within 16 cycles, whether or not there is room for actions, 44 cycles") {
    Pdr.bounded(new CompletionEngineProof, cycles = 44, seconds = 200, reduce = true)
  }
}
