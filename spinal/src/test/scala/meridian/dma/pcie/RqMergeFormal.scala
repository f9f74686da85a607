// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any requests of three sources that stand until they are taken, and a block that takes beats at any time. */
class RqMergeProof extends Component {
  val sources = 3
  val dut = FormalDut(new RqMerge(sources, home = 1))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  io.from.foreach(Proof.drive(_))
  anyseq(io.rq.ready)

  // A beat that leaves is that of the one source that is told so.
  val takes = Vec(io.from.map(_.fire)).asBits
  assert(CountOne(takes) === io.rq.fire.asUInt.resize(2 bits), "a beat is lost or doubled")
  for (from <- io.from) assert(!from.fire || io.rq.payload.asBits === from.payload.asBits, "a beat is another source's")
  val stalled = RegNext(io.rq.isStall) init False
  val before = RegNext(io.rq.payload.asBits)
  assert(!stalled || (io.rq.valid && io.rq.payload.asBits === before), "what is offered changes")

  // A request that has begun goes on until its last beat.
  val begun = RegInit(False)
  val owner = Reg(Bits(sources bits))
  when(io.rq.fire) {
    begun := !io.rq.last
    owner := takes
  }
  assert(!(begun && io.rq.fire) || takes === owner, "requests are mixed")
  assert(CountOne(dut.chosen.pull()) === 1 && dut.begun.pull() === begun && (!begun || dut.chosen.pull() === owner))

  // Each that asks has its turn after one request of each other, and the one that was under way.
  for ((from, i) <- io.from.zipWithIndex) {
    val others = Proof.count(io.rq.fire && io.rq.last && !takes(i), !from.valid || from.fire, 7)
    assert(others <= sources, "a source's turn does not come")
    val waits = Proof.count(!io.rq.valid && !begun, !from.valid || io.rq.fire, 7)
    assert(waits <= 1, "a source waits, and nothing leaves")
    if (i == 1) cover(others === sources - 1 && from.valid)
  }
  cover(begun && io.rq.fire && io.rq.last)
}

class RqMergeFormal extends AnyFunSuite {
  test("requests are neither mixed nor lost, and each source has its turn, in any run") {
    Pdr.prove(new RqMergeProof, seconds = 200, reduce = true)
  }
}
