// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import meridian.settings.QueueRange
import spinal.core._
import spinal.lib._

object QueueTable {

  /** Cycles from a question to its answer, for owners and ranges. */
  val latency = 2

  /** Cycles from a range write to idle, at most. */
  def writeCycles(p: ShellParam): Int = 2 * p.queues + 10
}

/** Stores which function owns each queue, and which queues each function has.
  *
  * A write gives the function its new queues, then changes its range, then takes away the old queues that are not among
  * the new ones and still point to it: at most QueueTable.writeCycles, during which range is not ready. Queues that the
  * function keeps answer the same all the time. A queue in two ranges belongs to the function that wrote last. Queues
  * beyond the shell's are cut off the range; a pulse on rangeError reports this, and a write for a function that the
  * shell lacks (which does nothing else).
  *
  * A write with reset reports each queue that it takes away at released, at most one a cycle, when nobody owns the
  * queue; the last in the first cycle of idle.
  *
  * Each lookup takes one question a cycle and answers QueueTable.latency cycles later, always. After reset nobody owns
  * a queue; range is ready, and idle high, max(queues, functions) cycles later.
  */
class QueueTable(p: ShellParam) extends Component {
  val io = new Bundle {
    val range = slave(Stream(QueueRange(p)))
    val rangeError = out Bool ()
    val released = master(Flow(p.queueType()))
    val owner = Vec(slave(QueueLookup(p)), p.queueOwners)
    val functionRange = slave(RangeLookup(p))
    val idle = out Bool ()
  }

  object State extends SpinalEnum {
    val clear, idle, cut, load, give, switchRange, take, finish = newElement()
  }

  val indexBits = log2Up(p.queues)
  val functionIndexBits = log2Up(p.functions)
  val scanBits = log2Up(p.queues max p.functions)
  val endBits = p.queueBits + 1

  val state = RegInit(State.clear)
  val ready = RegNext(state =/= State.clear) init False
  io.idle := state === State.idle
  io.range.ready := io.idle

  // One copy for each owner lookup and one for the sequencer.
  val ownerWrite = Flow(MemWriteCmd(QueueOwner(p), indexBits))
  def ownerCopy(index: UInt): QueueOwner = {
    val memory = Mem(QueueOwner(p), p.queues)
    memory.write(ownerWrite.address, ownerWrite.data, ownerWrite.valid)
    memory.readSync(index, readUnderWrite = readFirst)
  }
  val rangeWrite = Flow(MemWriteCmd(FunctionRange(p), functionIndexBits))
  def rangeCopy(index: UInt): FunctionRange = {
    val memory = Mem(FunctionRange(p), 1 << functionIndexBits)
    memory.write(rangeWrite.address, rangeWrite.data, rangeWrite.valid)
    memory.readSync(index, readUnderWrite = readFirst)
  }

  for (lookup <- io.owner) {
    val known = RegNext(p.below(lookup.query.payload, p.queues)) && ready
    val owner = ownerCopy(lookup.query.payload.resized)
    lookup.result.valid := Delay(lookup.query.valid, QueueTable.latency, init = False)
    lookup.result.payload.valid := RegNext(owner.valid && known)
    lookup.result.function := RegNext(owner.function)
  }

  val lookup = new Area {
    val known = RegNext(p.below(io.functionRange.query.payload, p.functions)) && ready
    val range = rangeCopy(io.functionRange.query.payload.resized)
    io.functionRange.result.valid := Delay(io.functionRange.query.valid, QueueTable.latency, init = False)
    io.functionRange.result.base := RegNext(range.base)
    io.functionRange.result.count := RegNext(known ? range.count | U(0))
  }

  // The write at hand: queues from base until end; before it, from oldBase until oldEnd.
  val function = RegNextWhen(io.range.function, io.range.fire)
  val base = RegNextWhen(io.range.base, io.range.fire)
  val count = RegNextWhen(io.range.count, io.range.fire)
  val reset = RegNextWhen(io.range.reset, io.range.fire)
  val end = Reg(UInt(endBits bits))
  val old = rangeCopy(function.resized)
  val oldBase = RegNextWhen(old.base, state === State.load)
  val oldEnd = RegNextWhen(old.base + old.count, state === State.load)
  val rangeError = RegInit(False)
  rangeError := False
  io.rangeError := rangeError

  val scan = Reg(UInt(scanBits bits)) init 0
  val scanNext = scan +^ 1
  val scanned = ownerCopy(scan.resized)
  val check = RegNext(state === State.take) init False
  val checkIndex = RegNext(scan.resize(indexBits))
  val kept = RegNext(scan >= base && scan < end)

  ownerWrite.valid := False
  ownerWrite.address := checkIndex
  ownerWrite.data.valid := False
  ownerWrite.data.function := function
  val released = Flow(p.queueType())
  released.valid := False
  released.payload := checkIndex.resized
  when(check) {
    val away = scanned.valid && scanned.function === function && !kept
    ownerWrite.valid := away
    released.valid := away && reset
  }
  io.released << released.stage()
  rangeWrite.valid := False
  rangeWrite.address := function.resized
  rangeWrite.data.base := base
  rangeWrite.data.count := count

  switch(state) {
    is(State.clear) {
      ownerWrite.valid := True
      ownerWrite.address := scan.resized
      rangeWrite.valid := True
      rangeWrite.address := scan.resized
      rangeWrite.data.base := 0
      rangeWrite.data.count := 0
      scan := scanNext.resized
      when(scan.andR)(state := State.idle)
    }
    is(State.idle) {
      when(io.range.valid)(state := State.cut)
    }
    is(State.cut) {
      val room = p.below(base, p.queues) ? (U(p.queues, endBits bits) - base) | U(0)
      when(count > room) {
        count := room
        rangeError := True
      }
      state := State.load
      when(!p.below(function, p.functions)) {
        rangeError := True
        state := State.idle
      }
    }
    is(State.load) {
      scan := base.resized
      end := base + count
      state := (count === 0) ? State.switchRange | State.give
    }
    is(State.give) {
      ownerWrite.valid := True
      ownerWrite.address := scan.resized
      ownerWrite.data.valid := True
      scan := scanNext.resized
      when(scanNext === end)(state := State.switchRange)
    }
    is(State.switchRange) {
      rangeWrite.valid := True
      scan := oldBase.resized
      state := (oldBase.resize(endBits) === oldEnd) ? State.idle | State.take
    }
    is(State.take) {
      scan := scanNext.resized
      when(scanNext === oldEnd)(state := State.finish)
    }
    is(State.finish)(state := State.idle)
  }
}
