// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The exit with any frames of up to three beats, for any function and queue, with any answers of the tables, and a host
  * that takes them at any time. One claim for buffers is watched, any of them.
  */
class BoxExitProof extends Component {
  val p = ShellParam(functions = 4, queues = 16)
  val latency = 1 // of both tables
  val dut = FormalDut(new BoxExit(p, latency, latency, waitingBeats = 8))
  assumeInitial(ClockDomain.current.isResetActive)
  val (frames, c2h, owner, credit) = (dut.io.frames, dut.io.c2h, dut.io.owner, dut.io.credit)
  Proof.drive(frames)
  anyseq(dut.io.enable)
  anyseq(owner.result)
  anyseq(credit.granted)
  anyseq(c2h.ready)
  anyseq(dut.io.flush)
  def flag(): Bool = { val any = Bool(); anyseq(any); any }

  // A frame is as its buffer brings it: what is known of it stays, and its length is that of its beats.
  def index(length: UInt): UInt = ((length - 1) >> log2Up(p.hostBytes)).resize(2) // of its last beat
  def unused(length: UInt): UInt = (U(0) - length).resize(log2Up(p.hostBytes))
  val begins = Proof.starts(frames)
  val at = Proof.count(frames.fire && !frames.last, frames.fire && frames.last, 3)
  val known = frames.meta.asBits ## frames.length
  assume(begins || known === RegNextWhen(known, frames.fire))
  assume(frames.length >= 1 && frames.length <= 3 * p.hostBytes)
  assume(frames.last === (at === index(frames.length)))
  assume(frames.mty === (frames.last ? unused(frames.length) | U(0)))

  // Claims, and those that were granted, in their order.
  val claimed = RegNext(credit.query.valid) init False
  val claim = RegNext(credit.query.payload)
  val granted = claimed && credit.granted.payload
  val grants, left, ended = Reg(UInt(4 bits)) init 0
  grants := grants + U(granted)
  val leaves = c2h.fire && Proof.starts(c2h)
  left := left + U(leaves)
  ended := ended + U(c2h.fire && c2h.last)
  assert(!leaves || left =/= grants || granted, "a frame leaves without its buffers")

  // A claim is for what the box named, and only if the function has the queue and is on.
  val named = RegNext(frames.meta) // one cycle, as the owner takes
  val may = owner.result.payload.valid && owner.result.function === named.function &&
    owner.result.function < p.functions && dut.io.enable(owner.result.function.resized)
  val mayClaim = RegNext(may && RegNext(frames.fire && begins, False)) init False
  assert(credit.query.valid === mayClaim, "buffers are claimed for what may not go, or not for what may")
  when(credit.query.valid)(
    assert(
      credit.query.payload.queue === RegNext(named.queue) && credit.query.length === RegNext(RegNext(frames.length))
    )
  )

  val on = RegInit(False)
  val number = Reg(UInt(4 bits))
  val queue = Reg(p.queueType())
  val length = Reg(p.lengthType())
  val picks = granted && !on && flag()
  when(picks) {
    on := True
    number := grants
    queue := claim.queue
    length := claim.length
  }
  val theNumber = picks ? grants | number
  when(c2h.valid && (on || picks) && ended === theNumber) {
    assert(c2h.meta.queue === (picks ? claim.queue | queue), "a frame goes to another queue than that of its buffers")
    assert(c2h.meta.length === (picks ? claim.length | length), "a frame has another length than its buffers were for")
  }
  val outAt = Proof.count(c2h.fire && !c2h.last, c2h.fire && c2h.last, 3)
  when(c2h.valid) {
    assert(c2h.last === (outAt === index(c2h.meta.length)), "a frame's beats are not those of its length")
    assert(c2h.mty === (c2h.last ? unused(c2h.meta.length) | U(0)), "a frame's bytes are not those of its length")
  }

  // No buffer is taken for what does not go: once nothing is inside, each claim has left.
  when(dut.io.idle)(assert(grants === ended, "buffers are taken, and no frame goes"))

  cover(on && ended === number + 1 && length > 2 * p.hostBytes)
  cover(dut.io.denied)
  cover(dut.io.noBuffer)
}

class BoxExitFormal extends AnyFunSuite {
  test(
    "each frame that leaves has its buffers, and each buffer taken is for a frame that leaves, in any run of 13 cycles",
    LongTest
  ) {
    Pdr.bounded(new BoxExitProof, 13, seconds = 900, reduce = true)
  }
  private def notices(what: String, from: String, to: String): Unit =
    test(s"the proof notices $what", LongTest) { Pdr.catches(new BoxExitProof, from, to) }
  notices(
    "a frame that goes without buffers",
    "decided_deliver = (decided_may && io_credit_granted_payload)",
    "decided_deliver = decided_may"
  )
  notices(
    "buffers that are taken for what may not go",
    "io_credit_query_valid = (asks_valid && asks_may)",
    "io_credit_query_valid = asks_valid"
  )
}
