// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import meridian.dma.pcie._
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Descriptors of 8 bytes to be read, none beyond a multiple of 256 bytes, and where they go. */
case class DescriptorRead() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val address = UInt(64 bits)
  val place = UInt(DescriptorCache.bits bits) // of the first in the cache
  val count = UInt(DescriptorCache.countBits bits) // not 0
}

/** They have come. */
case class CacheArrival() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val place = UInt(DescriptorCache.bits bits)
  val count = UInt(DescriptorCache.countBits bits)
  val failed = Bool() // they cannot be used
}

/** Reads descriptors of rings into the cache, each read as one request with a tag of its own. Reads end in any order,
  * so one that is slow holds up its ring alone. A function has 3 tags at most, so that others have some left whatever
  * it reads.
  *
  * A tag that stays at the block for longer than the time-out counts as failed, and is given to nobody before the block
  * has let it go. A read of a function that may not access memory, or is revoked, fails without a request.
  *
  * A read of a ring that has changed meanwhile is not put into the cache, as the new ring uses the same places.
  *
  * A read may bring 4 completions: the reader takes room for them ahead of the read, and gives it back when all has come.
  *
  * A request is there the cycle after its read. What has come is told when it is in the cache, 5 cycles after the last
  * part and one more for each descriptor if nothing else has come.
  *
  * @param first    the number that the first of the tags has at the block
  * @param timeOut  cycles; a tag is given up after two thirds of it at the earliest
  */
class DescriptorReader(p: DmaParam, tags: Int, first: Int, timeOut: Int) extends Component {
  require(isPow2(tags) && tags >= 4 && first + tags <= 256, s"tags are $tags from $first: choose a power of two")
  require(timeOut >= 6, s"the time-out is $timeOut cycles: choose at least 6")
  val io = new Bundle {
    val read = slave(Stream(DescriptorRead()))
    val function = in(DmaParam.functionType())
    val mayRead = out Bool () // this function has fewer tags than it may have; 2 cycles behind
    val request = master(Stream(RqRequest()))
    val part = slave(Flow(CompletionPart()))
    val room = master(RoomPort())
    val write = master(Flow(CacheWrite()))
    val arrival = master(Stream(CacheArrival()))
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType())) // it may ask for nothing, from the next cycle on
    val changed = slave(Flow(DmaParam.queueType())) // what was read of this queue's ring is told to nobody any more
    val busy = out Bool () // it still waits for an answer, 2 cycles behind
    val idle = out Bool () // no tag is in use
  }
  private def tagType() = UInt(log2Up(tags) bits)

  // A tag: read until it was told, at the block until that has let it go.
  val reading, atBlock, failed = RegInit(B(0, tags bits))
  val ages = Vec.fill(tags)(Reg(UInt(2 bits)))
  val functions = Vec.fill(tags)(Reg(DmaParam.functionType()))
  val queues = Vec.fill(tags)(Reg(DmaParam.queueType()))
  val stale = Reg(Bits(tags bits)) // of a ring from before its change
  when(io.changed.valid)(stale := stale | Vec(queues.map(_ === io.changed.payload)).asBits)
  val reads = Mem(DescriptorRead(), tags)
  val tick = CounterFreeRun((timeOut + 2) / 3).willOverflow
  when(tick)(for (age <- ages) when(age =/= 3)(age := age + 1))
  val late = Vec(ages.map(_ === 3)).asBits & atBlock
  private def isFunctions(function: UInt): Bits = Vec(functions.map(_ === function)).asBits
  io.idle := (reading | atBlock) === 0
  io.busy := RegNext((RegNext(isFunctions(io.revoked.payload)) & atBlock & ~late).orR)
  val ofFunction = RegNext(isFunctions(io.function))
  io.mayRead := RegNext(CountOne(ofFunction & (reading | atBlock)) < DescriptorReader.ofFunction)

  // Asking.
  // The tag for the next read is found a cycle ahead.
  val tag = Reg(tagType())
  val hasTag = RegInit(False)
  val unused = ~(reading | atBlock)
  val others = unused & ~UIntToOh(tag)
  private def first(of: Bits): UInt = OHToUInt(OHMasking.first(of))
  tag := io.read.fire ? first(others) | first(unused)
  hasTag := io.read.fire ? others.orR | unused.orR
  val function = io.read.function
  val isAllowed = p.hasFunction(function) && io.busMaster(function.resize(log2Up(p.functions) bits)) &&
    !(io.revoked.valid && io.revoked.payload === function)
  val request = Stream(RqRequest())
  val hasRoom = RegInit(False) // for the next request
  io.room.asked.valid := io.room.hasRoom && !hasRoom
  io.room.asked.payload := CompletionRoom.ofBufferRead
  hasRoom := (hasRoom && !request.fire) || io.room.asked.valid
  request.valid := io.read.valid && hasTag && isAllowed && hasRoom
  io.read.ready := hasTag && request.ready && hasRoom
  request.function := function
  request.address := io.read.address
  request.dwords := (io.read.count << 1).resized
  request.write := False
  request.tag := tag.resize(8 bits) + first
  request.firstBe := 15
  request.lastBe := 15
  request.data := 0
  io.request << request.halfPipe()
  reads.write(tag, io.read.payload, io.read.fire)
  val ends = Mem(UInt(6 bits), tags) // of their descriptors, in 256 bytes
  ends.write(tag, io.read.address(7 downto 3) +^ io.read.count.resize(5 bits), io.read.fire)

  // What comes: each double word goes to the lane of its address. Where it belongs is told by the bytes still to come.
  val rows = 8 // 256 bytes
  val lanes = Seq.fill(8)(Mem(Bits(32 bits), tags * rows))
  val partTag = io.part.tag.resize(log2Up(tags) bits)
  val end = ends.readAsync(partTag) << 3
  val next = Reg(UInt(6 bits))
  val place = io.part.first ? ((end.resize(9 bits) - io.part.byteCount.resize(9 bits))(7 downto 2) - 3) | next
  when(io.part.valid)(next := place + 8)
  val part = io.part.stage()
  val at = RegNext(place)
  val toTag = RegNext(partTag)
  for ((lane, i) <- lanes.zipWithIndex) {
    val from = U(i, 3 bits) - at(2 downto 0)
    lane.write(
      address = toTag @@ (at(5 downto 3) + (at(2 downto 0) > i).asUInt),
      data = part.data.subdivideIn(32 bits)(from),
      enable = part.valid && part.words(from) && atBlock(toTag)
    )
  }
  when(part.valid && part.failed)(failed(toTag) := True)
  when(part.valid && part.completed)(atBlock(toTag) := False)
  io.room.ended.valid := part.valid && part.completed && atBlock(toTag)
  io.room.ended.payload := CompletionRoom.ofBufferRead

  // Telling.
  val told = Reg(tagType())
  val number = Reg(UInt(DescriptorCache.countBits bits))
  val read = Reg(DescriptorRead())
  val isBad = Reg(Bool())
  val at8 = read.address(7 downto 3) + number.resize(5 bits)
  val row = Vec(lanes.map(_.readAsync(told @@ at8(4 downto 2)))).asBits
  io.write.valid := False
  io.write.payload.queue := read.queue
  io.write.place := read.place + number
  io.write.address := row.subdivideIn(64 bits)(at8(1 downto 0)).asUInt
  io.arrival.valid := False
  io.arrival.payload.queue := read.queue
  io.arrival.epoch := read.epoch
  io.arrival.place := read.place
  io.arrival.count := read.count
  io.arrival.failed := isBad
  val ended = reading & (~atBlock | late)
  val control = new StateMachine {
    val look = new State with EntryPoint
    val load, unload, tell = new State

    look.whenIsActive {
      told := OHToUInt(OHMasking.first(ended))
      when(ended.orR)(goto(load))
    }
    load.whenIsActive {
      read := reads.readAsync(told)
      isBad := failed(told) || late(told)
      number := 0
      when(stale(told)) {
        reading(told) := False
        goto(look)
      } otherwise (goto(unload))
    }
    unload.whenIsActive {
      io.write.valid := !isBad
      number := number + 1
      when(isBad || number + 1 === read.count)(goto(tell))
    }
    tell.whenIsActive {
      io.arrival.valid := True
      when(io.arrival.ready) {
        reading(told) := False
        goto(look)
      }
    }
  }

  // After the state machine: a tag that was told is not given out in the same cycle, as it is not unused yet.
  when(io.read.fire) {
    reading(tag) := True
    atBlock(tag) := isAllowed
    failed(tag) := !isAllowed
    ages(tag) := U(0, 2 bits)
    functions(tag) := function
    queues(tag) := io.read.payload.queue
    stale(tag) := False
  }
}

object DescriptorReader {
  val ofFunction = 3 // tags
}
