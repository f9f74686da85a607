// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The queues with what is to be proved of them, for any one queue, counted without delay from what is told of it. */
class ProvenPacedQueues(queueBits: Int, countBits: Int) extends PacedQueues(queueBits, functionBits = 1, countBits) {
  val one = anyconst(UInt(queueBits bits))

  // Descriptors told and not granted, in the order of cycles.
  val left = Reg(UInt(countBits + 1 bits)) init 0
  val toldNow = news.first.valid && news.first.queue === one
  val drainNow = toldNow && news.first.drain
  val grants = taken && queue === one
  val spent = grants ? io.commit.payload.resize(countBits + 1) | U(0)
  val next =
    (drainNow ? U(0) | (left - spent)) + ((toldNow && !drainNow) ? news.first.amount.resize(countBits + 1) | U(0))
  left := next
  // A ring never holds more than the counters can tell.
  assume(next < (1 << countBits))
  when(grants)(assert(io.commit.payload <= left && !drainNow))

  val looking = RegInit(False)

  // Where each queue is: waiting inside, handed out, or released.
  val places = for (number <- 0 until 1 << queueBits) yield new Area {
    val out, inside = RegInit(False)
    val handed = io.active.fire && io.active.payload === number
    val pushed = waiting.io.push.fire && waiting.io.push.payload === number
    when(handed) { out := True; inside := False }
    when(pushed) { inside := True; out := False }
    when(release && queue === number)(out := False)
    when(pushed)(assert(!inside && (!out || io.back.fire)))
    // Who has a queue looks at it, and gives it back only then.
    assume(!(io.look.valid && io.look.payload === number) || out)
    assume(!io.back.valid || io.back.payload =/= number || out && !looking && !io.look.valid)
  }
  val inside = Vec(places.map(_.inside))(one)
  val out = Vec(places.map(_.out))(one)

  // A look is committed once.
  val age = Proof.count(True, io.look.valid, 7)
  when(io.look.valid)(looking := True)
  when(io.commit.valid)(looking := False)
  val known = looking && age + 1 >= PacedQueues.latency
  assume(!io.commit.valid || known && io.commit.payload <= io.pending)
  assume(!(io.look.valid && (io.commit.valid || looking)))
  assume(!(io.switch.valid && io.news.valid))

  // Nobody is forgotten: what has descriptors waits inside, is handed out, or was told as active and is on its way.
  def active(step: Flow[DescriptorNews]) = step.valid && !step.drain && step.queue === one
  val onTheWay = active(news.second) || active(news.third) || RegNext(activates && news.third.queue === one, False)
  when(left =/= 0)(assert(inside || out || onTheWay))

  // What the induction rests on: the counters as they are once the writes under way are made.
  val ready4 = Delay(ready, 4, init = False)
  def stored[T <: Data](memory: Mem[T]): T = memory.readAsync(one)
  val counters = told.memory.map { memory =>
    told
      .rework {
        val index = CombInit(one.pull())
        val held = memory.readAsync(index)
        val second = told.write2.valid && told.write2.payload === index
        CombInit(second ? told.io.next | ((told.write3.valid && told.write3.payload === index) ? told.value3 | held))
      }
      .pull()
  }
}

/** No queue is granted more than was told of it, none is told as active twice, and none with descriptors is forgotten:
  * for any news, switches and grants on two queues within so many cycles after reset.
  */
class PacedQueuesFormal extends AnyFunSuite {
  test("grants are those of a queue counted without delay, and no queue is lost") {
    Proof()
      .withBMC(15)
      .doVerify(new Component {
        val dut = FormalDut(new ProvenPacedQueues(queueBits = 1, countBits = 2))
        assumeInitial(ClockDomain.current.isResetActive)
        for (flow <- Seq(dut.io.switch, dut.io.news, dut.io.look, dut.io.commit, dut.io.assign)) anyseq(flow)
        anyseq(dut.io.active.ready)
        Proof.drive(dut.io.back)
        anyseq(dut.io.arrival)
      })
  }
}
