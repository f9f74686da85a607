// SPDX-License-Identifier: Apache-2.0
package meridian.dma.push

import meridian.dma.descriptor.PushWindow
import meridian.{LongTest, Proof}
import meridian.dma.DmaParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any writes, doorbells, slots that are kept or sent, and rings that begin anew. A queue and a word of its frame are
  * followed. Nothing is written while its doorbell is looked at, as CqDecoder sees to it, and no ring begins anew then, as
  * FetchEngine does one after the other. No slot of another queue is kept.
  */
class PushSlotsProof extends Component {
  val p = DmaParam(vfs = Seq(1, 0, 0, 0), queues = 16, pushSlots = 2)
  val dut = FormalDut(new PushSlots(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Seq(io.chunk.valid, io.rung, io.clear, io.port.keep.valid, io.port.claims, io.sent.slot.valid).foreach(anyseq(_))
  Seq(io.chunk.payload, io.function, io.number, io.port.keep.payload, io.port.kept).foreach(anyseq(_))
  Seq(io.sent.slot.payload, io.sent.row).foreach(anyseq(_))
  val function = DmaParam.functionType()
  val number = UInt(9 bits)
  val word = UInt(5 bits)
  anyconst(function)
  anyconst(number)
  anyconst(word)

  // A doorbell is looked at: the queue is asked for in 4 cycles, and nothing is written in them or on its way.
  val asks = io.function === function && io.number === number.resized
  val asked = History(asks, 4, init = False).andR
  val ends = io.rung || io.clear || io.sent.slot.valid
  val still = !History(io.chunk.valid, 7, init = False).orR && !RegNext(History(ends, 4, init = False).orR)
  val offered = asked && still && io.port.offer.complete
  // Only what was offered is kept, and only the queue that is looked at is rung.
  assume(!io.port.keep.valid || (asked && still && io.port.offer.complete && io.port.keep.slot === io.port.offer.slot))
  assume(!io.rung || still)
  assume(!io.port.keep.valid || (io.rung && !io.clear))
  val slot = (number + function).resize(1 bits)

  // Of the followed queue: whether its word has come since something else took the slot or ended what was in it.
  val write = History(io.chunk, 3, init = io.chunk.getZero)(2)
  val writer = write.place(14 downto 6)
  val isHere = (writer + write.function).resize(1 bits) === slot
  val isOwn = write.function === function && writer === number
  val held = io.sent.slot.valid && io.sent.slot.payload === slot || io.port.claims && io.port.kept.slot === slot
  val takes = write.valid && isHere && !held
  val first = write.place(5 downto 0)
  val hits = (0 until 4).map(i => write.whole(i) && first +^ i === word.resize(7 bits))
  val hasCome = RegInit(False)
  val value = Reg(Bits(64 bits))
  when(takes) {
    hasCome := isOwn && (hasCome || hits.orR)
    for (i <- 0 until 4) when(isOwn && hits(i))(value := write.words(i))
  }
  when(io.clear || (io.rung && RegNext(asks) && !io.port.keep.valid))(hasCome := False)
  when(io.sent.slot.valid && io.sent.slot.payload === slot)(hasCome := False)

  val length = io.sent.length
  val isSeen = offered && io.sent.slot.payload === slot // the slot's length
  assert(!offered || io.port.offer.slot === slot, "another queue's slot is offered")
  assert(!isSeen || length <= (word << 3) || hasCome, "a frame is offered of which a word has not come")
  assert(
    !isSeen || (length =/= 0 && length <= PushWindow.longest),
    "a frame is offered that the window has no room for"
  )
  val shown = io.sent.data.subdivideIn(64 bits)(word(1 downto 0))
  assert(!isSeen || length <= (word << 3) || io.sent.row =/= (word >> 2) || shown === value, "a word is not as it came")
  cover(isSeen && length > 8 && word === 1)
}

class PushSlotsFormal extends AnyFunSuite {
  for ((cycles, more) <- Seq(10 -> Nil, 14 -> Seq(LongTest)))
    test(
      s"a frame is offered only if all of its words have come from its queue since the last one, and as they came, in $cycles cycles",
      more: _*
    ) {
      Proof().withBMC(cycles).doVerify(new PushSlotsProof)
    }
  test("a frame of which all words have come is offered") {
    Proof().withCover(14).doVerify(new PushSlotsProof)
  }
}
