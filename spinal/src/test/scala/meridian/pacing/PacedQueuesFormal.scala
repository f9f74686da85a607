// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.{LongTest, Pdr, Proof}
import meridian.queue.CreditBank
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The queues with what is to be proved of them, for any one queue, counted by itself as news become known. */
class ProvenPacedQueues(queueBits: Int, countBits: Int) extends PacedQueues(queueBits, functionBits = 1, countBits) {
  val one = anyconst(UInt(queueBits bits))
  def mine(step: Flow[DescriptorNews]) = step.valid && step.queue === one
  def posts(step: Flow[DescriptorNews]) = mine(step) && !step.drain
  def drops(step: Flow[DescriptorNews]) = mine(step) && step.drain

  // Descriptors told and not granted.
  val left = Reg(UInt(countBits + 2 bits)) init 0
  val granting = taken && queue === one
  val spent = granting ? io.commit.payload.resize(left.getWidth) | U(0)
  val more = posts(news.third) ? news.third.amount.resize(left.getWidth) | U(0)
  left := drops(news.third) ? U(0) | (left - spent + more)

  // Where the queue is: waiting inside, handed out, or at rest. held: it was out when it was looked at, and is since.
  val inside, out = RegInit(False)
  val held = promised.held && queue === one
  val handed = io.active.fire && io.active.payload === one
  val pushed = waiting.io.push.fire && waiting.io.push.payload === one
  when(handed) { out := True; inside := False }
  when(pushed) { inside := True; out := False }
  when(release && queue === one)(out := False)

  // The FIFO gives what it got, and has room for every queue once.
  assume(!handed || inside && !pushed)
  assume(waiting.io.push.ready)
  // The rest is promised. Any queue is looked at, also one that is nobody's, and again without a commit.

  // What is to be proved.
  when(granting)(assert(io.commit.payload <= left))
  when(pushed)(assert(!inside && (!out || io.back.fire)))
  val activating = activated && RegNext(news.third.queue) === one
  when(left =/= 0)(assert(inside || out || activating))

  // What the induction rests on: the memories, the counter with the write under way.
  val stored = told.memory.map { memory =>
    told
      .rework {
        val index = CombInit(one.pull())
        val held = memory.readAsync(index)
        CombInit((told.write3.valid && told.write3.payload === index) ? told.value3 | held)
      }
      .pull()
  }
  val granted = grants.readAsync(one)
  val resting1 = marks.readAsync(one)
  assert(!(inside && out) && !(activating && (inside || out)))
  when(held)(assert(out))
  assert(promised.out(one) === out)
  when(Delay(ready, CreditBank.latency, init = False)) {
    for (value <- stored) {
      assert((value.resize(countBits) - granted).resize(left.getWidth) === left)
      assert((value.msb =/= resting1) === (inside || out || activating))
    }
    assert(promised.granted.readAsync(one) === granted)
    when(promised.known && held) {
      assert(mark === stored.head.msb)
      when(!drainedNow) {
        assert(used === granted && pending.resize(left.getWidth) <= left)
        when(!posted && !posts(news.second) && !posts(news.third))(assert(pending.resize(left.getWidth) === left))
      }
    }
  } otherwise {
    assert(left === 0 && !inside && !out && !activating)
  }
}

/** No queue is granted more than was told of it, none is told as active twice, and none with descriptors is forgotten:
  * by induction, for any run of news, switches and grants. Small counters and two queues, the structure the same.
  */
class PacedQueuesFormal extends AnyFunSuite {
  class Dut extends Component {
    val dut = FormalDut(new ProvenPacedQueues(queueBits = 1, countBits = 2))
    assumeInitial(ClockDomain.current.isResetActive)
    for (flow <- Seq(dut.io.switch, dut.io.news, dut.io.look, dut.io.commit, dut.io.assign)) anyseq(flow)
    anyseq(dut.io.active.ready)
    Proof.drive(dut.io.back)
    anyseq(dut.io.arrival)
  }
  test("grants are those of a queue counted by itself, and no queue is lost") {
    Proof().withProve(8).doVerify(new Dut)
  }
  test("the proof notices a queue that rests though more was posted since it was looked at", LongTest) {
    Pdr.catches(new Dut, "(! postedNow)", "1'b1")
  }
}
