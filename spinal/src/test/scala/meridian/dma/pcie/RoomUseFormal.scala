// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.Pdr
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any requests that have no byte beyond a multiple of 512, with tags that nothing comes for any more, and completions that
  * go on at any pace and end at any time, as one that has failed does. One tag is followed.
  */
class RoomUseProof extends Component {
  val tags = 4
  val dut = FormalDut(new RoomUse(tags))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Seq(io.request.valid, io.progress.valid).foreach(anyseq(_))
  Seq(io.request.payload, io.progress.payload, io.tag, io.bytes).foreach(anyseq(_))
  val followed = UInt(log2Up(tags) bits)
  anyconst(followed)

  val open = RegInit(B(0, tags bits))
  assume(!io.request.valid || !open(io.tag))
  val last = io.request.address(8 downto 0).resize(10 bits) + io.bytes - 1
  assume(io.bytes =/= 0 && io.bytes <= 512 && last < 512)
  assume(!io.progress.valid || open(io.progress.tag))
  when(io.progress.valid && io.progress.completed)(open(io.progress.tag) := False)
  when(io.request.valid)(open(io.tag) := True)

  // Blocks of the followed tag, and what is given back of them.
  private def isIt(tag: UInt): Bool = tag === followed
  val begins, ends = Reg(UInt(4 bits))
  val asks = io.request.valid && isIt(io.tag)
  when(asks) {
    begins := io.request.address(8 downto 6).resized
    ends := (last(8 downto 6) +^ U(1, 1 bits)).resized
  }
  val furthest = Reg(UInt(4 bits)) // that a part has reached which can be
  val isPart = io.progress.valid && isIt(io.progress.tag) && !io.progress.completed && io.progress.reached <= ends
  when(asks)(furthest := begins.getAheadValue())
  when(isPart && io.progress.reached > furthest)(furthest := io.progress.reached)
  val balance = RegInit(U(0, 5 bits))
  val gives = io.ended.valid && RegNext(isIt(io.progress.tag))
  balance := balance + (asks ? io.asked.payload | U(0, 4 bits)) - (gives ? io.ended.payload | U(0, 4 bits))
  assert(!(io.asked.valid && asks) || (io.asked.payload >= 1 && io.asked.payload <= CompletionRoom.most))
  assert(!gives || (io.ended.payload >= 1 && io.ended.payload <= balance), "more is given back than was asked for")
  val isSettled = RegNext(!open(followed)) init True
  assert(!isSettled || open(followed) || balance === 0, "room is lost")
  val given = gives ? io.ended.payload.resize(5 bits) | U(0, 5 bits) // in this cycle, and not yet in the balance
  assert(!open(followed) || balance - given === ends - furthest, "a block is given back before it has come, or not")
  cover(isSettled && !open(followed) && RegNext(gives))
  cover(gives && io.ended.payload === CompletionRoom.most)
}

class RoomUseFormal extends AnyFunSuite {
  test("each block of a request is given back once, when it has come or will not, in any run") {
    Pdr.prove(new RoomUseProof, seconds = 200, reduce = true)
  }
}
