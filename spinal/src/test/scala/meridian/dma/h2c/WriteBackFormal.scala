// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingNotice
import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any notices, queues that are forgotten and functions that lose their access to memory at any time, behind a register in
  * front of RQ, as RqArbiter has it.
  */
class WriteBackProof extends Component {
  val p = DmaParam(vfs = Seq(4, 0, 0, 0), queues = 16)
  val dut = FormalDut(new WriteBack(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.notice)
  Seq(io.forget.valid, io.forget.payload, io.request.ready, io.interrupt.ready, io.busMaster).foreach(anyseq(_))
  anyconst(io.function)
  assume(!io.notice.valid || io.notice.status || io.notice.interrupt)

  val atRq = RegInit(False)
  val takes = Bool()
  anyseq(takes)
  assume(!io.request.ready || !atRq || takes)
  when(takes)(atRq := False)
  when(io.request.fire)(atRq := True)
  io.leaves := atRq

  // The notice that was taken last, and what became of it.
  val known = Reg(RingNotice())
  val has, entered, left, told, forgotten, denied = RegInit(False)
  def mayNow(function: UInt): Bool = function < p.functions && io.busMaster(function.resize(log2Up(p.functions) bits))
  val may = mayNow(known.function)
  val mayBefore = RegNext(may) init False
  when(io.forget.valid && io.forget.payload === known.queue)(forgotten := True)
  when(!may)(denied := True)
  when(io.request.fire)(entered := True)
  when(atRq && takes)(left := True)
  when(io.interrupt.fire)(told := True)
  when(io.notice.fire) {
    known := io.notice.payload
    has := True
    Seq(entered, left, told, forgotten, denied).foreach(_ := False)
  }

  when(io.request.valid) {
    assert(has && known.status && !entered, "an entry that nobody asked for")
    assert(!forgotten, "an entry of a queue that is forgotten")
    assert(mayBefore, "an entry of a function that may not access memory")
    assert(io.request.function === known.function && io.request.write && io.request.dwords === 2)
    // Some bits stand for all.
    assert(
      io.request.address(6 downto 3) === known.address(6 downto 3) && io.request.data(3 downto 0) === known.word(
        3 downto 0
      )
    )
  }
  when(io.interrupt.valid) {
    assert(has && known.interrupt && !told, "an interrupt that nobody asked for")
    assert(!forgotten, "an interrupt of a queue that is forgotten")
    assert(!known.status || left || (denied && known.aggregate), "an interrupt is ahead of its entry")
    assert(
      io.interrupt.request.vector === known.vector && io.interrupt.request.function === known.function.resize(12 bits)
    )
  }
  val isDone = (!known.status || left) && (!known.interrupt || told)
  assert(!(io.notice.ready && has) || forgotten || denied || isDone, "a notice is lost")
  assert(!((io.request.valid || io.interrupt.valid) && known.function === io.function) || io.busy)
  assert(!(entered && forgotten && atRq) || io.late, "an entry that leaves late is not told")
  assert(!io.late || (entered && forgotten))
  val flows = io.request.ready && io.interrupt.ready && (takes || !atRq)
  assert(Proof.count(!io.notice.ready, io.notice.ready || !flows, 7) <= 6, "a notice waits for nothing")

  cover(io.interrupt.fire && left)
  cover(io.late && !atRq)
  cover(io.notice.ready && has && forgotten && !left)
  cover(io.notice.ready && has && denied && !left && told)
}

class WriteBackFormal extends AnyFunSuite {
  test(
    "a notice is told once, its interrupt behind its entry, unless it is forgotten or its function may not, in any run"
  ) {
    Pdr.prove(new WriteBackProof, seconds = 200, reduce = true)
  }
}
