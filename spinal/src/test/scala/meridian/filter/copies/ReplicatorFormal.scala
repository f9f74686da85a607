// SPDX-License-Identifier: Apache-2.0
package meridian.filter.copies

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The replicator, of eight beats, with any frames, any lists, any decisions at any time, and copies that are taken at any
  * time. One frame, one of its beats and one of its copies are watched, any of them; of a beat its lowest bit.
  */
class ReplicatorProof extends Component {
  val p = ShellParam(functions = 4)
  val words = 8
  val dut = FormalDut(new Replicator(p, words))
  assumeInitial(ClockDomain.current.isResetActive)
  val (reserve, write, request, decision, out) =
    (dut.io.reserve, dut.io.write, dut.io.request, dut.io.decision, dut.io.frame)
  def free[T <: Data](of: HardType[T]): T = { val any = of(); anyseq(any); any }
  def flag(): Bool = free(HardType(Bool()))
  val bytes = HardType(UInt(log2Up(words * p.hostBytes) + 1 bits))
  val number = HardType(UInt(4 bits)) // of a frame, in the order of reservations; at most eight are stored at once
  def beatsOf(length: UInt): UInt = ((length +^ (p.hostBytes - 1)) >> log2Up(p.hostBytes)).resize(4)

  anyseq(reserve.valid)
  anyseq(reserve.payload)
  val length = free(bytes)
  assume(length =/= 0 && length <= words * p.hostBytes)
  assume(reserve.length === length.resized)
  anyseq(dut.io.list.list)
  val take = reserve.valid && dut.io.reserved
  val reserved = Counter(16, take)

  // Beats and answers are as the replicator was promised, at any time.
  anyseq(write.valid)
  anyseq(write.payload)
  anyseq(request.ready)
  anyseq(decision.valid)
  anyseq(decision.payload)
  val target = decision.target
  val written = Counter(16, write.valid && write.last)
  val inFrame = dut.promises.inFrame.pull()
  anyseq(out.ready)

  val requested = Counter(16, request.fire && request.last)
  val decided = Counter(16, decision.valid && decision.last)

  // The frame that is watched.
  val watch = new Area {
    val on, stored, asked, answered = RegInit(False)
    val frame, beat = Reg(number())
    val length = Reg(bytes())
    val bit = Reg(Bool())
    val at = free(number)
    when(take && !on && flag()) {
      assume(at < beatsOf(reserve.length.resize(10)))
      on := True
      frame := reserved
      beat := at
      length := ReplicatorProof.this.length
    }
    when(on && write.valid && written === frame && !stored) {
      when(inFrame === beat)(bit := write.fragment(0))
      when(write.last)(stored := True)
    }
    val asks = on && requested === frame && !asked
    val answers = on && decided === frame && !answered
    asked setWhen (asks && request.fire && request.last)
    answered setWhen (answers && decision.valid && decision.last)
    when(asks && request.valid) {
      assert(stored, "a frame that is not whole asks for queues")
      assert(request.length === length.resized, "a copy has another length than its frame")
    }
  }
  // Its copy that is watched, behind others.
  val copy = new Area {
    val begins = decision.valid && decision.deliver
    val ends = out.fire && out.last
    val under, ahead = Reg(UInt(6 bits)) init 0
    under := under + U(begins) - U(ends)
    assert(under <= Replicator.copiesAhead + 3, "more copies are under way than have a place")
    val on, done = RegInit(False)
    val function = Reg(p.functionType())
    val chosen = begins && watch.answers && !on && flag()
    when(chosen) {
      on := True
      ahead := under - U(ends)
      function := target.function
    }
    when(on && !done && ends) {
      ahead := ahead - 1
      when(ahead === 0)(done := True)
    }
    val index = Reg(number()) init 0
    when(out.fire)(index := out.last ? number().getZero | (index + 1))
    val here = on && !done && ahead === 0
    when(out.valid && here) {
      assert(out.last === (index === beatsOf(watch.length) - 1), "a copy is shorter than its frame, or longer")
      assert(out.meta.function === function, "a copy goes to another function")
      when(index === watch.beat)(assert(out.data(0) === watch.bit, "a copy has other bytes than its frame"))
      val unused = Mux(out.last, (U(0, 5 bits) - watch.length.resize(5)), U(0, 5 bits))
      assert(out.mty === unused, "a copy tells another number of bytes")
    }
    when(out.valid)(assert(under =/= 0, "a copy that was not asked for"))
  }
  val shown = out.last ## out.mty ## out.data(0) ## out.meta.function
  assert(!RegNext(out.isStall, False) || out.valid && shown === RegNext(shown), "a beat on offer stays")
  when(!Proof.starts(out))(assert(out.valid, "a cycle without a beat within a copy"))
  when(dut.io.empty)(assert(reserved.value === decided.value, "no frame is stored, and one is owed"))

  cover(copy.done && watch.length > 32)
  cover(!dut.io.reserved && reserve.valid && length === 1)
}

/** The proofs cover the first cycles only, in which some frames and copies follow each other. */
class ReplicatorFormal extends AnyFunSuite {
  test("each copy has the bytes of its frame, in any run of 20 cycles", LongTest) {
    Pdr.bounded(new ReplicatorProof, 20, seconds = 1200, reduce = true)
  }
  private def notices(what: String, from: String, to: String): Unit =
    test(s"the proof notices $what", LongTest) { Pdr.catches(new ReplicatorProof, from, to, 24, 900) }
  notices(
    "a frame that is stored where another one still is",
    "((! room_left[16]) && (! room_jobsFull))",
    "(! room_jobsFull)"
  )
  notices("a last beat with a wrong count of bytes", "(~ _zz_read_mty_1)", "_zz_read_mty_1")
  notices(
    "copies that are asked for before their frame is whole",
    "(io_write_valid && io_write_payload_last)",
    "io_write_valid"
  )
}
