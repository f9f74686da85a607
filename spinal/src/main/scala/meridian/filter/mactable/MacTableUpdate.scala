// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core._
import spinal.lib._

/** Carries out the commands on the table, one at a time, and clears it after reset.
  *
  * A new entry whose slots are all taken makes room by moving others (cuckoo hashing). The moves are searched for
  * first, breadth first, without touching the table; then they are made from the far end: an entry is written to its
  * new slot before its old one is given away. So an entry stands in one or two of its slots at any time, the command
  * takes effect with the one write that is its last, and a command that finds no room leaves the table as it was. An
  * entry that cannot be placed therefore costs nobody else anything.
  *
  * Answer at most shape.commandCycles after the command (find, remove, and add of a key that is there: 5 cycles); the
  * next command is taken with the answer. A key searched for in the cycle of the answer or later meets the change.
  * ready after shape.depth cycles. Commands wait during `hold`; rows of the hash may change while the table is empty,
  * `idle` and on hold.
  */
class MacTableUpdate(shape: MacTableShape) extends Component {
  val io = new Bundle {
    val command = slave(Stream(MacSlotCommand(shape)))
    val answer = master(Flow(MacSlotAnswer(shape)))
    val write = master(Flow(MacSlotWrite(shape)))
    val hold = in Bool ()
    val row = slave(Flow(MacHashRow(shape)))
    val idle = out Bool () // no command is under way
    val count = out UInt (shape.countBits bits)
    val ready = out Bool ()
  }

  object State extends SpinalEnum {
    val clear, idle, hash, read, compare, decide, list, next, move = newElement()
  }

  /** An entry that stands in way at index, and may move to make room for its mover: another, or the new one. */
  case class Candidate() extends Bundle {
    val slot = MacSlot(shape)
    val way = Bits(shape.ways bits)
    val index = UInt(shape.indexBits bits)
    val mover = UInt(log2Up(shape.ways) bits)
  }

  val state = RegInit(State.clear)
  val command = RegNextWhen(io.command.payload, io.command.fire)
  val count = Reg(UInt(shape.countBits bits)) init 0
  val clearIndex = Reg(UInt(shape.indexBits bits)) init 0
  val answer = Reg(Flow(MacSlotAnswer(shape)))
  val write = Reg(Flow(MacSlotWrite(shape)))
  answer.valid init False
  write.valid init False
  answer.valid := False
  write.valid := False
  io.answer := answer
  io.write := write
  io.count := count
  io.ready := state =/= State.clear
  io.idle := state === State.idle
  io.command.ready := io.idle && !io.hold

  // The entry looked at: the new one (isRoot, way 0) or a candidate.
  val entry = Reg(Candidate())
  val isRoot = Reg(Bool())
  val entryNumber = Reg(UInt(log2Up(shape.candidates) bits))
  val hash = new MacHash(shape)
  hash.io.key := entry.slot.key
  hash.io.row := io.row
  val index = entry.slot.key.msb ? hash.io.anyIndex | hash.io.index
  val ways = new MacWays(shape)
  ways.io.index := index
  ways.io.write := write
  val matches = RegNext(Vec(ways.io.slot.map(_.key === entry.slot.key)).asBits)
  val free = RegNext(Vec(ways.io.slot.map(_.isEmpty)).asBits)

  // Candidates 0 until ways stand in the slots of the new entry; the others in those of their mover.
  val candidates = Mem(Candidate(), shape.candidates)
  val listed = Reg(UInt(log2Up(shape.candidates) + 1 bits))
  val visited = Reg(UInt(log2Up(shape.candidates) + 1 bits))
  val listWay = Reg(UInt(log2Up(shape.ways) bits))
  val inner = !isRoot && entryNumber < shape.ways
  val candidateNumber = (state === State.move) ? entry.mover.resize(entryNumber.getWidth) | visited.resized
  val candidate = candidates.readAsync(candidateNumber)
  val listing = Candidate()
  listing.slot := ways.io.slot(listWay)
  listing.way := UIntToOh(listWay, shape.ways)
  listing.index := index(listWay)
  listing.mover := entryNumber.resized
  val list = state === State.list && !entry.way(listWay)
  candidates.write(listed.resized, listing, list)

  // Where the next write of a move goes.
  val targetWay = Reg(Bits(shape.ways bits))
  val targetIndex = Reg(Vec(UInt(shape.indexBits bits), shape.ways))

  def reply(status: MacStatus.E): Unit = {
    answer.valid := True
    answer.status := status
    state := State.idle
  }

  switch(state) {
    is(State.clear) {
      write.valid := True
      write.way.setAll()
      write.index.foreach(_ := clearIndex)
      write.slot.setEmpty()
      clearIndex := clearIndex + 1
      when(clearIndex.andR)(state := State.idle)
    }
    is(State.idle) {
      entry.slot := io.command.slot
      entry.way := 0
      isRoot := True
      listed := 0
      visited := 0
      when(io.command.fire)(state := State.hash)
    }
    is(State.hash)(state := State.read)
    is(State.read)(state := State.compare)
    is(State.compare) {
      state := State.decide
      listWay := 0
    }
    is(State.decide) {
      val choice = OHMasking.first(free & ~entry.way)
      targetWay := choice
      targetIndex := index
      write.index := index
      write.way := matches
      write.slot := command.slot
      when(isRoot)(answer.value := MuxOH.or(matches, ways.io.slot.map(_.value)))
      when(isRoot && matches.orR) {
        write.valid := command.operation =/= MacOperation.find
        when(command.operation === MacOperation.remove) {
          write.slot.setEmpty()
          count := count - 1
        }
        reply(MacStatus.done)
        when(command.operation === MacOperation.add)(answer.status := MacStatus.exists)
      } elsewhen (isRoot && command.operation =/= MacOperation.add) {
        reply(MacStatus.notFound)
      } elsewhen (isRoot && count >= shape.entries) {
        reply(MacStatus.full)
      } elsewhen (choice.orR) {
        state := State.move
      } elsewhen (isRoot || inner) {
        state := State.list
      } otherwise {
        state := State.next
      }
    }
    is(State.list) {
      when(list)(listed := listed + 1)
      listWay := listWay + 1
      when(listWay.andR)(state := State.next)
    }
    is(State.next) {
      entry := candidate
      entryNumber := visited.resized
      isRoot := False
      visited := visited + 1
      state := State.hash
      when(visited === listed)(reply(MacStatus.full))
    }
    is(State.move) {
      write.valid := True
      write.way := targetWay
      write.index := targetIndex
      write.slot := entry.slot
      targetWay := entry.way
      targetIndex.foreach(_ := entry.index)
      entry := candidate
      entryNumber := candidateNumber
      when(inner) {
        entry.slot := command.slot
        isRoot := True
      }
      when(isRoot) {
        count := count + 1
        reply(MacStatus.done)
      }
    }
  }
}
