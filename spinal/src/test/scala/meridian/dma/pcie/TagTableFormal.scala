// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import meridian.{LongTest, Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any pieces, and a block that answers requests in any order, at any time, well or not, or never. Slots are released as
  * CompletionReorder does it: a read's last with its verdict.
  *
  * @param reads      what leaves is asserted, too, and not only what tags are at the block
  * @param functions  likewise of which functions is told that they are busy
  */
class TagTableProof(reads: Boolean, functions: Boolean = false) extends Component {
  val tags = 4
  val dut = FormalDut(new TagTable(tags, 0, 6))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.piece)
  Seq(io.request.ready, io.failed.valid, io.completed.valid, io.release).foreach(anyseq(_))
  Seq(io.failed.payload, io.completed.payload, io.address).foreach(anyseq(_))
  anyconst(io.function)

  val atBlock = RegInit(B(0, tags bits))
  assume(!io.completed.valid || atBlock(io.completed.payload))
  assume(!io.failed.valid || atBlock(io.failed.payload))
  val endsRead = io.slotReady && !io.slotVoid && io.slot.last
  assume(!io.release || io.slotReady)
  io.whole.ready := io.release && endsRead
  when(io.completed.valid)(atBlock(io.completed.payload) := False)
  when(io.request.fire) {
    val tag = io.request.tag.resize(log2Up(tags) bits)
    assert(io.request.tag < tags && !atBlock(tag), "a tag is given out that the block has")
    atBlock(tag) := True
  }
  val (looked, left) = (dut.looked.pull(), dut.left.pull())
  assert(io.slotReady === (looked =/= left), "a slot is ready, or is not, against what was looked at")
  assert(io.inFlight === atBlock, "a tag is lost, or free too early")
  if (!reads) cover(atBlock.andR)

  if (reads) {
    // A read that has come is not at the block, and its verdict is there.
    val good = io.slotReady && !io.slotVoid && !io.slotFailed
    assert(!good || !atBlock(io.oldest), "a slot is ready before its completion")
    assert(!endsRead || io.whole.valid, "a read leaves without a verdict")
    assert(!(endsRead && io.slotFailed) || io.whole.failed, "a read has come wholly, and a part of it failed")

    // Pieces that were taken are in slots, and none leaves twice.
    val inside = RegInit(U(0, 4 bits))
    inside := inside + io.piece.fire.asUInt - (io.release && !io.slotVoid).asUInt
    assert(inside <= tags, "more pieces than tags")
    assert(!(io.slotReady && !io.slotVoid) || inside =/= 0, "a piece that was not taken")

    cover(io.release && endsRead && io.whole.failed)
    cover(io.request.fire && inside === 3)
  }

  if (functions) {
    // The function's tags: those that it has at the block, and which are not given up, make it busy two cycles later.
    val functionOf = Vec.fill(tags)(Reg(DmaParam.functionType()))
    when(io.request.fire)(functionOf(io.request.tag.resize(log2Up(tags) bits)) := io.piece.function)
    val late = dut.late.pull()
    val own = Vec(functionOf.map(_ === io.function)).asBits & atBlock
    val before, ownBefore = RegInit(B(0, tags bits))
    before := atBlock
    ownBefore := own
    val stays = RegNext((ownBefore & atBlock & ~late).orR) init False
    val mayBe = RegNext((atBlock & ~late & (own | ~before)).orR) init False
    assert(!stays || io.busy, "a function is idle, and has a tag at the block")
    val isKnown = Delay(True, 2, init = False) // after reset: busy is two cycles behind
    assert(!io.busy || mayBe || !isKnown, "a function is busy without a tag")
    cover(stays && io.busy)
  }
}

class TagTableFormal extends AnyFunSuite {
  test("a tag that the block has is given to nobody, and none is lost, in any run") {
    Pdr.prove(new TagTableProof(reads = false), seconds = 100, reduce = true)
  }

  test("a read leaves when it has come, has failed or is given up, 12 cycles") {
    Pdr.bounded(new TagTableProof(reads = true), cycles = 12, seconds = 100, reduce = true)
  }

  test("a read leaves when it has come, has failed or is given up, in any run", LongTest) {
    Pdr.prove(new TagTableProof(reads = true), seconds = 900, reduce = true)
  }

  test("a function that has a tag at the block is busy until it is given up, and no other is, 12 cycles") {
    Pdr.bounded(new TagTableProof(reads = false, functions = true), cycles = 12, seconds = 100, reduce = true)
  }
}
