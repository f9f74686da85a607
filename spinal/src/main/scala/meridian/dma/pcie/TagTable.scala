// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** A part of a read that has come, or will not come. */
case class ReadSlot() extends Bundle {
  val start = UInt(9 bits) // its address in 512 bytes
  val shift = SInt(6 bits) // of a read's first part: from where its first byte is to be in 32 bytes to where it is
  val lastByte = UInt(9 bits) // likewise
  val last = Bool() // of its read
}

/** The tags of a port. They are given out in a circle, so that answers leave in the order of requests, whatever the order
  * in which they come.
  *
  * A tag is in flight from its request until the block says that nothing more comes for it. One that stays in flight for
  * longer than the time-out, which is to be more than the block's own (PG213 reports those as completions), counts as
  * failed, so that others go on; but it is given to nobody before the block has let it go, and is passed over until then.
  * A piece of a function that may not access memory has failed at once, and no request leaves.
  *
  * A piece waits for a tag, and leaves in the cycle in which the request is taken; one a cycle.
  *
  * @param first    the number that the first of the tags has at the block
  * @param timeOut  cycles; a tag is given up after two thirds of it at the earliest
  */
class TagTable(tags: Int, first: Int, timeOut: Int) extends Component {
  require(
    isPow2(tags) && tags >= 4 && first + tags <= 256,
    s"tags are $tags from $first: choose a power of two below 256"
  )
  require(timeOut >= 6, s"the time-out is $timeOut cycles: choose at least 6")
  val place = log2Up(tags) bits
  val io = new Bundle {
    val piece = slave(Stream(ReadPiece()))
    val request = master(Stream(RqRequest()))
    val failed, completed = slave(Flow(UInt(place))) // failed comes with completed or before it
    val inFlight = out Bits (tags bits)
    val whole = master(Stream(TagVerdict())) // of the next read that has come wholly, or cannot
    val partly = out Bool () // three quarters of all tags were that read's a cycle ago, and it had not come wholly
    val slot = out(ReadSlot()) // the oldest
    val slotReady = out Bool () // it has come, or cannot
    val slotFailed, slotVoid = out Bool () // a void slot is no part of a read
    val release = in Bool () // the oldest slot
    val address = in UInt (place) // of a slot whose end is asked for
    val end = out UInt (10 bits)
    val oldest = out UInt (place)
    val function = in(DmaParam.functionType())
    val busy = out Bool () // this function has a tag in flight that is not given up, two cycles behind
  }

  /** A slot, or one that is void because its tag was passed over. */
  case class Place() extends Bundle {
    val slot = ReadSlot()
    val isVoid = Bool()
  }
  val inFlight, failed = RegInit(B(0, tags bits))
  val ages = Vec.fill(tags)(Reg(UInt(2 bits)))
  val slots = Mem(Place(), tags)
  val ends = Mem(UInt(10 bits), tags)
  val handed, looked, left = RegInit(U(0, log2Up(tags) + 1 bits)) // slots given out, looked at, released
  private def at(pointer: UInt): UInt = pointer(log2Up(tags) - 1 downto 0)
  io.inFlight := inFlight
  val functions = Vec.fill(tags)(Reg(DmaParam.functionType()))
  io.oldest := at(left)

  val tick = CounterFreeRun((timeOut + 2) / 3).willOverflow
  when(tick)(for (age <- ages) when(age =/= 3)(age := age + 1))
  val late = RegNext(Vec(ages.map(_ === 3)).asBits & inFlight) init 0

  // Giving out.
  private def isFull(next: UInt): Bool = (next - left).msb
  private def isLost(next: UInt): Bool = inFlight(at(next)) // given up, and the block still has it
  val full = isFull(handed)
  val lost = isLost(handed)
  val moves = Bool() // on to the next tag
  // Found a cycle ahead: nobody but a piece takes a tag.
  val (isFree, isNextFree) = (!full && !lost, !isFull(handed + 1) && !isLost(handed + 1))
  val ready = RegNext(moves ? isNextFree | isFree) init False
  val offset = io.piece.address(1 downto 0)
  io.request.valid := io.piece.valid && ready && io.piece.allowed
  io.piece.ready := ready && (io.request.ready || !io.piece.allowed)
  io.request.function := io.piece.function
  io.request.address := io.piece.address
  val span = io.piece.bytes +^ offset
  io.request.dwords := ((span + 3) >> 2).resized
  io.request.write := False
  io.request.tag := at(handed).resize(8 bits) + first
  io.request.data := 0
  val firstBytes = B(15, 4 bits) |<< offset
  val lastBytes = B(15, 4 bits) |>> (U(0, 2 bits) - span(1 downto 0))
  val single = span <= 4
  io.request.firstBe := single ? (firstBytes & lastBytes) | firstBytes
  io.request.lastBe := single ? B(0, 4 bits) | lastBytes
  val given = Place()
  given.isVoid := lost
  val slot = given.slot
  slot.start := io.piece.address(8 downto 0)
  slot.shift := (io.piece.address(4 downto 0).resize(6 bits) - io.piece.place.resize(6 bits)).asSInt
  slot.lastByte := io.piece.lastByte
  slot.last := io.piece.last
  slots.write(at(handed), given, moves)
  ends.write(at(handed), io.piece.end, io.piece.fire)
  io.end := ends.readAsync(io.address)

  when(io.failed.valid)(failed(io.failed.payload) := True)
  when(io.completed.valid)(inFlight(io.completed.payload) := False)
  moves := io.piece.fire || (!full && lost)
  when(moves) {
    handed := handed + 1
    when(!lost) {
      inFlight(at(handed)) := io.piece.allowed
      failed(at(handed)) := !io.piece.allowed
      ages(at(handed)) := U(0, 2 bits)
      functions(at(handed)) := io.piece.function
    }
  }

  val isFunctions = RegNext(Vec(functions.map(_ === io.function)).asBits)
  io.busy := RegNext((isFunctions & inFlight & ~late).orR)

  // Looking, a slot a cycle: has a read come wholly?
  val current = slots.readAsync(at(looked))
  val isBad = failed(at(looked)) || late(at(looked))
  val passes = looked =/= handed && (current.isVoid || !inFlight(at(looked)) || late(at(looked)))
  val bad = RegInit(B(0, tags bits))
  val soFar = RegInit(False) // the read has failed
  val pieces = Reg(UInt(log2Up(tags) + 1 bits)) init 0
  val verdict = Stream(TagVerdict())
  verdict.valid := passes && !current.isVoid && current.slot.last
  verdict.failed := soFar || isBad
  // With the slot, which is ready a cycle after it was looked at.
  io.whole << verdict.queueLowLatency(tags).m2sPipe()
  io.partly := RegNext(pieces >= tags * 3 / 4) init False
  when(passes) {
    looked := looked + 1
    bad(at(looked)) := isBad
    // Void slots count, as they too are not free.
    pieces := pieces + 1
    when(!current.isVoid) {
      soFar := !current.slot.last && (soFar || isBad)
      when(current.slot.last)(pieces := 0)
    }
  }

  // It was written cycles before it is ready.
  val oldest = RegNext(io.release ? slots.readAsync(at(left + 1)) | slots.readAsync(at(left)))
  io.slot := oldest.slot
  io.slotVoid := oldest.isVoid
  // Whether there are slots between the two. The release comes late in a cycle, so it only chooses between two comparisons.
  private def isLeft(next: UInt): Bool = next =/= looked
  val remains = (isLeft(left + 1) && io.release) || (isLeft(left) && !io.release)
  io.slotReady := RegNext(passes || remains) init False
  io.slotFailed := bad(at(left))
  when(io.release)(left := left + 1)
}

case class TagVerdict() extends Bundle {
  val failed = Bool()
}
