// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import meridian.{LongTest, Pdr, TwoClocks}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** A small FIFO with anything at its borders, between two clocks of which each is reset at any time. */
class CrossingFifoProof(settle: Int) extends Component {
  assumeInitial(ClockDomain.current.isResetActive)
  val clocks = new TwoClocks
  val (pushing, popping) = (clocks.push, clocks.pop)
  val dut = FormalDut(new CrossingFifo(Bits(2 bits), 2, pushing.cd, popping.cd, settle))
  TwoClocks.skew(dut)
  val (push, pop) = (dut.io.push, dut.io.pop)
  anyseq(push.valid)
  anyseq(push.payload)
  anyseq(pop.ready)
  val pushed = push.fire && pushing.works
  val popped = pop.fire && popping.works

  // Of all elements any one is followed: those before it carry a 0, it a 1, those behind it a 2.
  val gone = RegInit(False) setWhen (pushed && push.payload === 1)
  assume(push.payload === (gone ? B(2) | B(push.payload === 1).resize(2)))
  val seen = RegInit(False) setWhen (popped && pop.payload === 1)
  val after = RegInit(False) setWhen (popped && pop.payload === 2)
  // What is stored while the pop side is not up goes.
  val emptied = RegInit(False) setWhen (gone && !seen && !dut.pair.io.popUp.pull())
  when(pop.valid && popping.works) {
    switch(pop.payload) {
      is(0)(assert(!seen && !after, "an element is behind its successor, or there twice"))
      is(1)(assert(gone && !seen && !after, "an element is invented, late or there twice"))
      is(2)(assert(gone && (seen || emptied), "an element is lost, or invented"))
      default(assert(False, "an element that nobody gave"))
    }
  }

  cover(seen && after && !emptied)
  cover(emptied && after)
}

/** For runs of any length: a small FIFO, the structure the same. */
class CrossingFifoFormal extends AnyFunSuite {
  test("nothing is lost, invented or there twice, whichever side is reset, and whichever clock stops") {
    Pdr.prove(new CrossingFifoProof(settle = 4))
  }
  test("the proof notices a side that does not wait until the other has seen its reset", LongTest) {
    Pdr.catches(new CrossingFifoProof(settle = 4), "((! push_otherUp) && (! push_believed))", "(! push_otherUp)")
  }
  test("the proof notices a side that says too early that its pointers are clear", LongTest) {
    Pdr.catches(new CrossingFifoProof(settle = 4), "pop_clear <= 1'b1;", "pop_clear <= 1'b1; pop_armed <= 1'b1;")
  }
}
