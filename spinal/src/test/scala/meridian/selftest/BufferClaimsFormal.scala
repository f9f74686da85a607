// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Two queues with anything that may be answered, drained or stopped at any cycle. Of both any one is followed.
  *
  * @param inTime also that a stop ends, and that a frame goes if buffers are there, within a number of cycles
  */
class BufferClaimsProof(depth: Int, latency: Int, inTime: Boolean = true) extends Component {
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
  if (inTime) {
    val most = 2 * latency + 4 * depth + 4
    val calm = io.giveBack.ready && !io.drained.valid
    val stopping = Proof.count(calm, io.run || io.idle || !calm, most)
    assert(stopping < most, "a stop does not end")
    val able = calm && io.plan.valid && io.query.ready && io.frame.ready && (!io.answer.valid || io.answer.granted)
    val waiting = Proof.count(able, !io.run || !able || io.frame.fire, most)
    assert(waiting < most, "buffers are there, and no frame goes")
  }

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

/** The same for any run, by what always holds of the ring: which of its places have buffers, are asked for, or neither. */
class BufferClaimsInvariant(depth: Int, latency: Int) extends BufferClaimsProof(depth, latency, inTime = false) {
  private val bits = log2Up(depth)
  private val (head, granted, asked, free) = (dut.head.pull(), dut.granted.pull(), dut.asked.pull(), dut.free.pull())
  private val (state, all, place) = (dut.state.pull(), dut.all.pull(), dut.place.pull())
  private val (question, questionAt) = (dut.question.pull(), dut.questionAt.pull())
  private def indexOf(pointer: UInt): UInt = pointer.resize(bits)
  private val asks = state === dut.State.asks
  private val settles = state === dut.State.settles
  private val returns = state === dut.State.returns

  /** How far a pointer is behind the head. */
  private def from(pointer: UInt): UInt = (pointer - head).resize(bits + 1)
  val (g, a, f, returned) = (from(granted), from(asked), from(free), from(place))
  assert(g <= a && a <= f && f <= depth, "the pointers pass each other")
  assert(dut.full.pull() || f < depth, "a plan has no place")

  case class Place(index: Int) {
    val at = (U(index, bits bits) - indexOf(head)).resize(bits + 1) & (depth - 1) // behind the head
    val held = dut.held(index).pull()
    val queue = dut.queue(index).pull()
    val length = dut.length(index).pull()
    val staged = question && questionAt === index
    val under = BufferClaimsInvariant.this.under.indices.map { k =>
      dut.under(k).valid.pull() && dut.under(k).index.pull() === index
    }
    val pending = staged || under.orR
  }
  val places = (0 until depth).map(Place)

  // What was taken is what the places hold.
  val sum = places
    .map(one => dut.needed(one.index).pull().resize(4).andMask(one.held && one.queue === followed))
    .reduceBalancedTree(_ + _)
  assert(held === sum)
  for (one <- places) {
    when(one.held)(assert(dut.needed(one.index).pull() === needed(one.length)))
    when(one.at >= a)(assert(!one.held && !one.pending, "a place that is not asked for has buffers"))
    when(one.pending)(assert(!one.held && one.at >= g))
    assert(CountOne(one.staged +: one.under) <= 1, "a place is asked for twice")
  }

  // Questions under way, as the one who asks knows them and as this one does.
  for ((mine, k) <- under.zipWithIndex) {
    val (valid, index) = (dut.under(k).valid.pull(), dut.under(k).index.pull())
    assert(mine.any === valid)
    val its = places.map(one => one.index -> (one.queue === followed && !dut.dead(one.index).pull())).toMap
    val isIts = Vec((0 until depth).map(its(_)))(index)
    assert(mine.its === (valid && isIts))
    when(valid)(assert(mine.needed === needed(Vec(places.map(_.length))(index))))
    // In the order of the places: the older before.
    for (older <- k + 1 until latency)
      when(valid && dut.under(older).valid.pull())(assert(behind(dut.under(older).index.pull()) < behind(index)))
    when(valid && question)(assert(behind(index) < behind(questionAt)))
  }
  private def behind(index: UInt): UInt = (index - indexOf(head)).resize(bits)
  when(question) {
    assert(behind(questionAt) +^ U(1) === a, "the staged question is the last")
    assert(dut.questionQueue.pull() === Vec(places.map(_.queue))(questionAt))
    assert(dut.questionLength.pull() === Vec(places.map(_.length))(questionAt))
  }
  private val pending = CountOne(question +: under.map(_.any))
  when(asks && !all)(assert(g +^ pending === a, "a place is neither asked for nor has it its buffers"))

  // A denied place gets another queue two cycles later.
  private val denied = RegNext(dut.denial.pull(), False)
  private val turns = dut.turns.pull()
  when(denied)(assert(settles))
  when(turns)(assert(!asks))
  assert(turns === RegNext(denied, False))
  when(denied || turns) {
    assert(g < a)
    for (one <- places) when(indexOf(granted) === one.index)(assert(!one.held && !one.pending))
  }

  // What is behind the place of giving back has gone back.
  when(returns) {
    assert(!question && pending === 0)
    val again = all && !RegNext(all, False)
    when(!again) {
      assert(returned <= a && (all || returned >= g))
      for (one <- places) when(one.at < returned && (all || one.at >= g))(assert(!one.held))
    }
  }
  when(io.idle)(assert(f === 0 && asks && !question && pending === 0))
  assert(planned === f)
}

class BufferClaimsFormal extends AnyFunSuite {
  test("no frame goes without buffers, none after a stop, and no buffer is lost, for any run") {
    Pdr.prove(new BufferClaimsInvariant(2, 2), reduce = true)
  }
  for ((cycles, more) <- Seq(16 -> Nil, 20 -> Seq(LongTest)))
    test(s"no frame goes without buffers, and a stop ends and frames go in time, in $cycles cycles", more: _*) {
      Pdr.bounded(new BufferClaimsProof(2, 2), cycles, seconds = 170)
    }
  test("the proof notices buffers that go back twice, as a stop finds a part of them given back", LongTest) {
    Pdr.catches(new BufferClaimsProof(2, 2), " && (! again)", "")
  }
  test("the proof for any run notices buffers that go back twice") {
    Pdr.catches(new BufferClaimsInvariant(2, 2), " && (! again)", "")
  }
}
