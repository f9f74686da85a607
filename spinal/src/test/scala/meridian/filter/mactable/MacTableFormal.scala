// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.Pdr
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The table with what is to be proved of it, for any one key. */
class ProvenMacTable(shape: MacTableShape) extends MacTableHarness(shape) {
  val key = anyconst(Bits(shape.keyBits bits))
  assume(!key.andR)
  assume(!io.command.slot.key.andR)
  when(io.command.slot.key.msb)(assume(io.command.slot.key === MacSearch.anyScope(shape, io.command.slot.key)))
  when(io.row.valid)(assume(io.hold && io.idle && io.count === 0))
  // A key for any scope has no scope of its own, and is searched for by its address in some scope.
  val anyScope = key.msb
  when(anyScope)(assume(key === MacSearch.anyScope(shape, key)))
  assume(io.key.msb === key.msb && io.key.take(shape.addressBits) === key.take(shape.addressBits))
  when(!anyScope)(assume(io.key === key))
  assume(io.command.operation.asBits.asUInt < MacOperation.elements.size)

  /** What a copy of the table holds once the write under way is made. */
  def contents(copy: MacWays): Seq[Seq[MacSlot]] =
    for (way <- 0 until shape.ways) yield for (index <- 0 until shape.depth) yield {
      val held = copy.rework(CombInit(copy.memory(way).readAsync(U(index, shape.indexBits bits))))
      val write = update.io.write
      val written = write.valid && write.way(way) && write.index(way) === index
      written ? write.slot | held.pull()
    }
  val slots = contents(update.ways)
  val all = slots.flatten

  def same(copy: MacWays): Bool = all.zip(contents(copy).flatten).map { case (a, b) => a.asBits === b.asBits }.andR

  /** Rows of a copy of the hash, table by table; the row of any scope last. */
  def rows(hash: MacHash): Seq[Seq[Bits]] = {
    val tables = for (table <- hash.tables) yield for (i <- 0 until table.wordCount) yield {
      val row = hash.rework(CombInit(table.readAsync(U(i, table.addressWidth bits))))
      row.pull()
    }
    tables :+ Seq(hash.anyScope.pull())
  }
  val hashRows = rows(update.hash)
  def slotsOf(key: Bits): Seq[UInt] = {
    val parts = MacHash.parts(shape).zip(hashRows).map { case (part, table) =>
      (part, Vec(table)(key(part.low, part.bits bits).asUInt))
    }
    val (address, scope) = parts.partition(_._1.low < shape.addressBits)
    val inScope = scope.map(_._2).fold(B(0, shape.ways * shape.indexBits bits))(_ ^ _)
    val sum = address.map(_._2).reduce(_ ^ _) ^ (key.msb ? hashRows.last.head | inScope)
    sum.subdivideIn(shape.indexBits bits).map(_.asUInt).toSeq
  }
  val sameHash = hashRows.flatten.asBits() === rows(search.hash).flatten.asBits()
  val sameCopies = same(search.exact) && same(search.any) && sameHash
  val rightPlaces = (for (way <- 0 until shape.ways; index <- 0 until shape.depth) yield {
    val slot = slots(way)(index)
    slot.isEmpty || slotsOf(slot.key)(way) === index
  }).andR
  val noTwice = all.combinations(2).map { case Seq(a, b) => a.isEmpty || a.key =/= b.key }.toSeq.andR
  val counted = CountOne(all.map(!_.isEmpty)) === io.count
  val wellFormed = sameCopies && rightPlaces && noTwice && counted

  // What the table ought to hold under the key, as told by the answers.
  val held = Reg(Bool())
  val heldValue = Reg(Bits(shape.valueBits bits))
  val matches = all.map(_.key === key)
  val holds = matches.orR === held && all.zip(matches).map { case (slot, m) => !m || slot.value === heldValue }.andR

  val busy = Reg(Bool())
  val command = RegNextWhen(io.command.payload, io.command.fire)
  val changes = command.slot.key === key && command.operation =/= MacOperation.find
  val age = Reg(UInt(8 bits))
  age := age + 1
  when(io.answer.valid)(busy := False)
  when(io.command.fire) {
    busy := True
    age := 0
  }
  val newHeld = CombInit(held)
  val newValue = CombInit(heldValue)
  when(changes) {
    newHeld := command.operation === MacOperation.add
    newValue := command.slot.value
  }
  val succeeds = io.answer.status === MacStatus.done || io.answer.status === MacStatus.exists
  val changed = io.answer.valid && succeeds
  when(changed) {
    held := newHeld
    heldValue := newValue
  }

  // The start of a command and of the search, before anything is proved.
  val cycle = ClockDomain.current.withBootReset()(Reg(UInt(8 bits)) init 0)
  cycle := cycle + 1
  val idle = update.io.idle

  /** What a search of this cycle may find: as told, and while a command is carried out as it will be. */
  def past[T <: Data](that: T): T = Delay(that, MacTableHarness.latency)
  val before = past(changed ? newHeld | held)
  val beforeValue = past(changed ? newValue | heldValue)
  val after = past(newHeld)
  val afterValue = past(newValue)
  val open = past(busy && !io.answer.valid)
  when(cycle >= MacTableHarness.latency && Delay(io.ready, MacTableHarness.latency, init = False)) {
    val asBefore = io.hit === before && (!io.hit || io.value === beforeValue)
    val asAfter = io.hit === after && (!io.hit || io.value === afterValue)
    assert(asBefore || (open && asAfter))
  }

  // Answers are right, and in time.
  when(io.answer.valid) {
    assert(busy)
    when(command.slot.key === key) {
      val add = command.operation === MacOperation.add
      when(held) {
        assert(io.answer.status === (add ? MacStatus.exists | MacStatus.done))
        assert(io.answer.value === heldValue)
      } elsewhen (add) {
        assert(io.answer.status === MacStatus.done || io.answer.status === MacStatus.full)
      } otherwise {
        assert(io.answer.status === MacStatus.notFound)
      }
    }
  }
  when(busy)(assert(age < shape.commandCycles))
  // Between commands the table is such that the next one may rely on it.
  when(idle)(assert(wellFormed && busy === io.answer.valid))
}

/** One command, or none, on any well-formed table; without a reset. */
class ProvenMacCommand(shape: MacTableShape) extends ProvenMacTable(shape) {
  val latest = 3
  assumeInitial(idle && wellFormed && !busy && !io.answer.valid)
  when(cycle === 0)(assume(holds))
  when(cycle > latest)(assume(!io.command.valid))
  // One command fills no table, so it began full; and an entry may have to move others.
  val isAdd = io.answer.valid && command.operation === MacOperation.add
  cover(isAdd && io.answer.status === MacStatus.full)
  cover(isAdd && io.answer.status === MacStatus.done && all.map(!_.isEmpty).andR)
}

/** The table after reset, with any rows of the hash. */
class ProvenMacClear(shape: MacTableShape) extends ProvenMacTable(shape) {
  held init False
  busy init False
  assumeInitial(ClockDomain.current.isResetActive && sameHash)
  assume(!io.command.valid)
}

/** From any table that is well formed, with any rows of the hash, any one command leaves it well formed, and searches made
  * meanwhile and after it are right. Rows may change while the table is empty. As the table is well formed after reset, so
  * it is for commands without end.
  */
class MacTableFormal extends AnyFunSuite {
  // Small, yet with adds that make two others move.
  private val shape =
    MacTableShape(ways = 2, depth = 2, keyBits = 4, scopeBits = 2, valueBits = 1, entries = 4, firstKey = None)

  private def drive(table: ProvenMacTable): Unit = {
    anyseq(table.io.command.valid)
    anyseq(table.io.command.payload)
    anyseq(table.io.key)
    anyseq(table.io.hold)
    anyseq(table.io.row)
  }

  test("searches are right while any command is carried out") {
    Pdr.bounded(
      new Component {
        val clock = ClockDomain.current
        val noReset = ClockDomain(clock.readClockWire, False, config = clock.config)
        drive(FormalDut(noReset(new ProvenMacCommand(shape))))
      },
      cycles = shape.commandCycles + 8
    )
  }

  test("a table just cleared is well formed") {
    Pdr.bounded(
      new Component {
        drive(FormalDut(new ProvenMacClear(shape)))
      },
      cycles = shape.depth + 8
    )
  }
}
