// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any actions, of which one is followed; queues are forgotten, and functions revoked, at any time. */
class RingActionsProof extends Component {
  val p = DmaParam(vfs = Seq(4, 0, 0, 0), queues = 16)
  val dut = FormalDut(new RingActions(p, places = 4))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.action)
  Seq(io.forget.valid, io.forget.payload, io.rq.ready, io.interrupt.ready, io.busMaster).foreach(anyseq(_))
  Seq(io.revoked.valid, io.revoked.payload).foreach(anyseq(_))
  assume(io.action.ready || !io.action.valid)
  assume(!(io.forget.valid && io.action.valid && io.forget.payload === io.action.payload.queue))

  val follows = Bool()
  anyseq(follows)
  val has, ended, forgotten, forgottenBefore, asked, told, denied = RegInit(False)
  val known = Reg(RingAction())
  val number = Reg(UInt(8 bits))
  val mayWrite = known.function < p.functions && io.busMaster(known.function.resize(log2Up(p.functions) bits))
  val isRevoked = io.revoked.valid && io.revoked.payload.resize(12 bits) === known.function
  when(!has && follows && io.action.fire) {
    has := True
    known := io.action.payload
    number := io.issued
  }
  val isFirst = has && !ended && io.left === number
  val ends = RegNext(isFirst).init(False) && io.left =/= number
  when(ends)(ended := True)
  when(has && io.forget.valid && io.forget.payload === known.queue)(forgotten := True)
  forgottenBefore := forgotten
  when(has && (isRevoked || !mayWrite))(denied := True)
  when(isFirst) {
    when(io.rq.valid)(asked := True)
    when(io.interrupt.fire || (io.rq.fire && io.rq.last))(told := True)
    assert(!(io.rq.valid && known.interrupt) && !(io.interrupt.valid && !known.interrupt))
    assert(!(io.interrupt.valid && forgotten), "an interrupt of a queue that is forgotten")
    assert(!(io.rq.valid && !asked && forgottenBefore), "a write of a queue that is forgotten goes to RQ")
    assert(!(io.rq.valid && forgotten) || io.late, "a write that leaves late is not told")
    assert(!io.late || (io.rq.valid && forgotten))
    assert(!asked || told || io.rq.valid, "a write that is at RQ is taken back")
    val request = io.interrupt.request
    when(io.interrupt.valid)(assert(request.vector === known.vector && request.function === known.function))
  }
  assert(!ends || told || forgotten || denied, "an action is lost")
  val flows = io.rq.ready && io.interrupt.ready
  assert(Proof.count(has, !flows || ends || ended, 31) <= 24, "an action waits for nothing")

  cover(ends && told && io.left === 3)
  cover(io.late)
  cover(has && forgotten && !asked && io.left === 4)
}

class RingActionsFormal extends AnyFunSuite {
  test("an action leaves, unless it is forgotten or its function may not; a late write is told, 16 cycles") {
    Pdr.bounded(new RingActionsProof, cycles = 16, seconds = 200, reduce = true)
  }
}
