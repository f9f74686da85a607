// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.{LongTest, Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The lists of two functions with what is to be proved of them. Each queue is in one list at most, and each list is kept
  * by itself.
  */
class ProvenQueueLists(queueBits: Int) extends QueueLists(queueBits, functionBits = 1) {
  val queues = 1 << queueBits
  val lists = for (function <- 0 until 2) yield new Area {
    val mine = io.function === function
    val queue = Vec(Reg(UInt(queueBits bits)), queues) // the head first
    val size = Reg(UInt(queueBits + 1 bits)) init 0
    val there = for (i <- 0 until queues) yield size > i
    def has(index: UInt) = (0 until queues).map(i => there(i) && queue(i) === index).orR
    when(mine && io.append.valid) {
      queue(size.resized) := io.append.payload
      size := size + 1
    }
    when(mine && io.advance) {
      for ((to, from) <- queue.zip(queue.tail)) to := from
      when(io.keep)(queue((size - 1).resized) := queue.head) otherwise (size := size - 1)
    }

    // What is to be proved.
    assert(io.some(function) === (size =/= 0), "a list is forgotten")
    when(mine && promised.known && size =/= 0)(assert(io.head === queue.head, "another queue at the head"))
    cover(size === 2 && mine && io.advance && io.keep)

    // What the induction rests on: the memories hold the list.
    assert(size <= queues)
    for (i <- 0 until queues; j <- 0 until i) when(there(i))(assert(queue(i) =/= queue(j)))
    when(size =/= 0) {
      assert(heads.readAsync(U(function, 1 bits)) === queue.head)
      assert(tails.readAsync(U(function, 1 bits)) === queue((size - 1).resized))
    }
    for (i <- 0 until queues - 1) when(there(i + 1))(assert(nexts.readAsync(queue(i)) === queue(i + 1)))
  }
  for (i <- 0 until queues) {
    when(lists(0).there(i))(assert(!lists(1).has(lists(0).queue(i))))
    assert(promised.listed(i) === lists.map(_.has(U(i, queueBits bits))).orR)
  }
}

class QueueListsFormal extends AnyFunSuite {
  class Dut extends Component {
    val dut = FormalDut(new ProvenQueueLists(queueBits = 2))
    assumeInitial(ClockDomain.current.isResetActive)
    val io = dut.io
    for (input <- Seq(io.function, io.append.payload, io.append.valid, io.advance, io.keep)) anyseq(input)
  }
  test("a function's queues are served in turn, and none is lost or in two lists, for any run") {
    Proof().withProve(7).withCover(24).doVerify(new Dut)
  }
  test("the proof notices a head that leaves a list of one queue for what is behind it", LongTest) {
    Pdr.catches(new Dut, "(io_advance && (! only))", "io_advance")
  }
}
