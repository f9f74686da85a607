// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Two queues with anything that may be answered, drained or stopped at any cycle. Of both any one is followed. */
class BufferClaimsProof(depth: Int, latency: Int) extends Component {
  val p = ShellParam()
  val neededBits = 2
  val dut = FormalDut(new BufferClaims(p, latency, neededBits, depth))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  def needed(length: UInt): UInt = U(0, 1 bits) @@ length.lsb.asUInt + 1

  anyseq(io.run)
  when(RegNext(!io.run && !io.idle, False))(assume(!io.run)) // a new test begins when the one before has ended
  io.first := 4
  io.last := 5
  anyseq(io.plan.valid)
  anyseq(io.plan.payload)
  assume(io.plan.payload.queue === 4 || io.plan.payload.queue === 5)
  assume(io.plan.length <= 1)
  anyseq(io.query.ready)
  anyseq(io.answer.granted)
  anyseq(io.drained.valid)
  anyseq(io.drained.payload)
  anyseq(io.giveBack.ready)
  assume(!(io.drained.valid && io.giveBack.ready))
  anyseq(io.frame.ready)

  val followed = UInt(11 bits)
  anyconst(followed)
  assume(followed === 4 || followed === 5)
  val drain = io.drained.valid && io.drained.payload === followed

  // Questions of the followed queue under way, of which a drain takes what they would have got.
  case class Question() extends Bundle {
    val any, its = Bool()
    val needed = UInt(neededBits bits)
  }
  val under = Vec.fill(latency)(Reg(Question()))
  for (stage <- under) { stage.any.init(False); stage.its.init(False) }
  under(0).any := io.query.fire
  under(0).its := io.query.fire && io.query.payload.queue === followed
  under(0).needed := needed(io.query.length)
  for (i <- 1 until latency) {
    under(i).any := under(i - 1).any
    under(i).needed := under(i - 1).needed
    under(i).its := under(i - 1).its && !drain
  }
  io.answer.valid := under.last.any
  io.answer.needed := under.last.needed
  val gets = under.last.its && io.answer.granted && !drain
  val goes = io.frame.fire && io.frame.payload.queue === followed
  val back = io.giveBack.fire && io.giveBack.payload.queue === followed

  // Buffers that were taken and have neither gone with a frame nor back.
  val held = Reg(UInt(4 bits)) init 0
  val out = UInt(4 bits)
  out := 0
  when(goes)(out := needed(io.frame.length).resized)
  when(back)(out := io.giveBack.amount.resized)
  assert(!(goes && back))
  assert(held >= out, "a frame goes, or buffers go back, that were not taken")
  held := drain ? U(0) | (held - out + under.last.needed.resize(4).andMask(gets))
  when(io.idle)(assert(held === 0 && !under.map(_.any).orR, "buffers are lost"))
  when(io.frame.valid)(assert(io.run, "a frame after the stop"))

  // What is under way is answered, and each place of the ring is passed once or twice.
  val most = 2 * latency + 4 * depth + 4
  val calm = io.giveBack.ready && !io.drained.valid
  val stopping = Proof.count(calm, io.run || io.idle || !calm, most)
  assert(stopping < most, "a stop does not end")
  val able = calm && io.plan.valid && io.query.ready && io.frame.ready && (!io.answer.valid || io.answer.granted)
  val waiting = Proof.count(able, !io.run || !able || io.frame.fire, most)
  assert(waiting < most, "buffers are there, and no frame goes")

  // Each planned frame has gone or was cut.
  val planned = Reg(UInt(log2Up(depth) + 1 bits)) init 0
  val cut = io.cut.payload.andMask(io.cut.valid)
  planned := planned + U(io.plan.fire) - U(io.frame.fire) - cut
  when(io.idle)(assert(planned === 0))
  assert(planned <= depth)

  cover(goes && needed(io.frame.length) === 2)
  cover(back && io.run)
  cover(io.cut.valid && io.cut.payload === depth)
}

class BufferClaimsFormal extends AnyFunSuite {
  for ((cycles, more) <- Seq(16 -> Nil, 20 -> Seq(LongTest)))
    test(s"no frame goes without buffers, none after a stop, and no buffer is lost, in $cycles cycles", more: _*) {
      Pdr.bounded(new BufferClaimsProof(2, 2), cycles, seconds = 170)
    }
  test("the proof notices buffers that go back twice, as a stop finds a part of them given back", LongTest) {
    Pdr.catches(new BufferClaimsProof(2, 2), " && (! again)", "")
  }
}
