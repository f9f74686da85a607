// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The counters with what is to be proved of them, for any one queue. */
class ProvenCreditCounters(queueBits: Int, countBits: Int, neededBits: Int)
    extends CreditCounters(queueBits, countBits, neededBits) {
  val queue = anyconst(UInt(queueBits bits))

  // The buffers of the queue, by the order of messages and questions alone.
  val free = Reg(UInt(countBits + 2 bits)) init 0
  val postHere = Delay(io.post.valid && io.post.queue === queue && ready, CreditBank.latency, init = False)
  val takeHere = Delay(io.take.valid && io.take.queue === queue && ready, CreditBank.latency, init = False)
  val left = (postHere && change.post.drain) ? U(0) | free
  val grant = change.take.known && left >= io.needed
  val taking = (takeHere && change.take.enforce && grant) ? io.needed.resize(free.getWidth) | U(0)
  val adding = (postHere && !change.post.drain) ? change.post.amount.resize(free.getWidth) | U(0)
  val next = left - taking + adding
  free := next
  // A queue is never given more than its counters can tell.
  assume(next < (1 << countBits))
  assume(io.needed =/= 0)

  when(RegNext(takeHere) init False) {
    assert(io.granted.valid)
    assert(io.granted.payload === RegNext(grant || !change.take.enforce))
  }
  assert(free < (1 << countBits))

  /** A counter in each copy, once the write under way is made: what the induction rests on. */
  def counters(bank: CreditBank): Seq[UInt] = bank.memory.map { memory =>
    bank
      .rework {
        val index = CombInit(queue.pull())
        val held = memory.readAsync(index)
        CombInit((bank.write3.valid && bank.write3.payload === index) ? bank.value3 | held)
      }
      .pull()
  }
  when(change.live) {
    for (given <- counters(posted); used <- counters(taken)) assert((given - used) === free.resize(countBits))
  } otherwise {
    assert(free === 0)
  }
}

/** A question is granted exactly when the buffers given and not yet taken are enough, so never more than were posted:
  * by induction, for any run of messages and questions on any queue. Small counters, the structure the same.
  */
class CreditCountersFormal extends AnyFunSuite {
  test("grants are those of a queue counted without delay") {
    Proof()
      .withProve(10)
      .doVerify(new Component {
        val dut = FormalDut(new ProvenCreditCounters(queueBits = 1, countBits = 3, neededBits = 2))
        assumeInitial(ClockDomain.current.isResetActive)
        anyseq(dut.io.post)
        anyseq(dut.io.take)
        anyseq(dut.io.needed)
      })
  }
}
