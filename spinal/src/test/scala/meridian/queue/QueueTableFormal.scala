// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

import scala.collection.mutable.ArrayBuffer

/** The table with what is to be proved of it, for any one queue and the range of any one function, with any writes, also
  * of functions and queues that the shell has not.
  */
class ProvenQueueTable(p: ShellParam) extends QueueTable(p) {
  lazy val one = anyconst(UInt(log2Up(p.queues) bits))
  lazy val entries = ArrayBuffer[QueueOwner]()
  val other = anyconst(UInt(log2Up(p.functions) bits))

  // Of each copy the entry of the one queue is kept; what is read of others is anything.
  override def ownerCopy(index: UInt): QueueOwner = {
    val entry = Reg(QueueOwner(p))
    when(ownerWrite.valid && ownerWrite.address === one)(entry := ownerWrite.data)
    entries += entry
    val strange = QueueOwner(p)
    anyseq(strange)
    RegNext((index === one) ? entry | strange)
  }
  val owners = entries.toSeq
  private var memories = Seq[Mem[_]]()
  dslBody.walkStatements { case memory: Mem[_] => memories :+= memory; case _ => }
  val ranges = memories.map(_.asInstanceOf[Mem[FunctionRange]])
  def rangeOf(at: UInt): FunctionRange = ranges.head.readAsync(at)
  def has(range: FunctionRange): Bool = one >= range.base && one < range.base +^ range.count
  def same(a: QueueOwner, b: QueueOwner): Bool = a.valid === b.valid && (!a.valid || a.function === b.function)
  def same(a: FunctionRange, b: FunctionRange): Bool = a.count === b.count && (a.count === 0 || a.base === b.base)

  // What a write asks for; whose the queue is before it and behind it, and the function's range.
  val write = io.range.payload
  val bad = write.function >= p.functions
  val room = (write.base < p.queues) ? (U(p.queues, endBits bits) - write.base) | U(0)
  val most = (write.count > room) ? room | write.count
  val gives = !bad && one >= write.base && one < write.base +^ most
  val owned, ownedBefore = Reg(QueueOwner(p))
  owned.valid init False
  val ranged, rangedBefore = Reg(FunctionRange(p))
  ranged.count init 0
  val takes = !bad && !gives && owned.valid && owned.function === write.function
  val busy, giving, taking, telling, wrong = RegInit(False)
  when(busy && io.idle)(busy := False)
  when(io.range.fire) {
    busy := True
    ownedBefore := owned
    rangedBefore := ranged
    giving := gives
    taking := takes
    telling := takes && write.reset
    wrong := bad || write.count > room
    when(gives) {
      owned.valid := True
      owned.function := write.function
    }
    when(takes)(owned.valid := False)
    when(!bad && write.function === other) {
      ranged.base := write.base
      ranged.count := most
    }
  }
  val age = Proof.count(busy, io.range.fire, 63)
  def in(states: SpinalEnumElement[State.type]*): Bool = states.map(state === _).orR

  // The queue's owner changes once: when it is handed, or when it is its turn to be taken away.
  val handed = giving && (in(State.give) && scan > one || in(State.switchRange, State.take, State.finish))
  val looked = in(State.take, State.finish) && one < (check ? checkIndex | scan.resize(indexBits))
  val taken = taking && looked && (check || in(State.take))
  val before = in(State.cut, State.load, State.give, State.switchRange, State.take, State.finish) && !handed && !taken
  when(!in(State.clear)) {
    for (owner <- owners) assert(same(owner, before ? ownedBefore | owned), "a queue has another owner")
    for (range <- ranges)
      assert(
        same(range.readAsync(other), in(State.cut, State.load, State.give, State.switchRange) ? rangedBefore | ranged)
      )
    assert(age < QueueTable.writeCycles(p) || !busy, "a write takes longer than it may")
  }
  // Each question is answered by what was stored when it came.
  for ((lookup, owner) <- io.owner.zip(owners)) {
    val asked = lookup.query.valid && lookup.query.payload === one
    val stored = Delay(owner, QueueTable.latency)
    val readyThen = Delay(ready, QueueTable.latency - 1, init = False)
    when(Delay(asked, QueueTable.latency, init = False)) {
      assert(lookup.result.valid)
      when(readyThen)(assert(same(lookup.result.payload, stored))) otherwise (assert(!lookup.result.payload.valid))
    }
  }
  for (lookup <- io.owner) {
    val beyond = Delay(lookup.query.valid && lookup.query.payload >= p.queues, QueueTable.latency, init = False)
    when(beyond)(assert(lookup.result.valid && !lookup.result.payload.valid, "a queue beyond the last has an owner"))
  }
  val ofRange = new Area {
    val query = io.functionRange.query
    val result = io.functionRange.result
    val stored = Delay(ranges.head.readAsync(other), QueueTable.latency)
    val readyThen = Delay(ready, QueueTable.latency - 1, init = False)
    def asked(what: Bool): Bool = Delay(query.valid && what, QueueTable.latency, init = False)
    when(asked(query.payload === other.resized)) {
      assert(result.valid)
      when(readyThen) {
        assert(result.count === stored.count && (stored.count === 0 || result.base === stored.base))
      } otherwise (assert(result.count === 0))
    }
    when(asked(query.payload >= p.functions))(assert(result.valid && result.count === 0))
  }
  // What a write with reset takes away is told once, when it is nobody's; what was wrong with a write is told once.
  val tells = io.released.valid && io.released.payload === one
  val told = RegInit(False) setWhen tells clearWhen io.range.fire
  val gone = taking && !owners.head.valid
  assert(!(tells && told), "a queue is told twice")
  when(busy)(assert((told || tells) === (telling && gone))) otherwise assert(!io.released.valid)
  val wrongTold = RegInit(False) setWhen io.rangeError clearWhen io.range.fire
  assert(!io.rangeError || busy && wrong && !wrongTold)
  when(busy && !in(State.cut))(assert(wrong === (wrongTold || io.rangeError)))

  // What the induction rests on.
  assert(busy || in(State.clear, State.idle))
  assert(!(giving && taking) && (!busy || telling === (taking && reset)))
  assert(!check || in(State.take, State.finish))
  for (owner <- owners.tail) assert(in(State.clear) || same(owner, owners.head))
  for (f <- 0 until p.functions) {
    val copies = ranges.map(_.readAsync(U(f, functionIndexBits bits)))
    for (copy <- copies.tail) assert(in(State.clear) || same(copies.head, copy))
    for (copy <- copies) when(in(State.clear) && scan > f)(assert(copy.count === 0))
    assert(in(State.clear) || copies.head.count === 0 || copies.head.base +^ copies.head.count <= p.queues)
  }
  when(in(State.clear)) {
    assert(!busy && !ready && !owned.valid && ranged.count === 0)
    when(scan > one)(for (owner <- owners) assert(!owner.valid))
  }
  assert(!owned.valid || owned.function < p.functions)
  val current = rangeOf(function.resized)
  def wide(n: UInt): UInt = n.resize(endBits + 1)
  when(in(State.idle))(assert(!owned.valid || has(rangeOf(owned.function.resized))))
  when(busy && !in(State.idle)) {
    when(!giving && !taking)(assert(same(owned, ownedBefore)))
    when(giving)(assert(owned.valid && owned.function === function && function < p.functions))
    when(taking) {
      assert(!owned.valid && ownedBefore.valid && ownedBefore.function === function && function < p.functions)
      when(in(State.cut, State.load, State.give, State.switchRange))(assert(has(current)))
      when(in(State.take, State.finish))(assert(one >= oldBase && one < oldEnd))
    }
    when(!giving && !taking && owned.valid) {
      assert(owned.function =/= function || function >= p.functions)
      assert(has(rangeOf(owned.function.resized)))
    }
    when(!in(State.cut)) {
      assert(function < p.functions && (count === 0 || base +^ count <= p.queues))
      assert(giving === (one >= base && one < base +^ count))
      when(function === other)(assert(ranged.count === count && (count === 0 || ranged.base === base)))
        .otherwise(assert(same(ranged, rangedBefore)))
    }
    when(in(State.load))(assert(same(old, current) && age === 1))
    when(in(State.give, State.switchRange, State.take, State.finish))(
      assert(wide(end) === wide(base) + wide(count))
    )
    when(in(State.give, State.switchRange)) {
      assert((current.count === 0 || oldBase === current.base) && wide(oldEnd) === wide(oldBase) + wide(current.count))
    }
    when(in(State.give)) {
      assert(count =/= 0 && scan >= base && scan < end && wide(age) === wide(scan) - wide(base) + 2)
    }
    when(in(State.switchRange))(assert(wide(age) === wide(count) + 2))
    when(in(State.take, State.finish)) {
      assert(oldEnd <= p.queues && oldBase < oldEnd)
      assert(current.count === count && (count === 0 || current.base === base))
      when(check && checkIndex === one) {
        assert(same(scanned, owners.head) && kept === giving)
      }
      when(!in(State.finish)) {
        assert(scan >= oldBase && scan < oldEnd && wide(age) === wide(count) + 3 + wide(scan) - wide(oldBase))
        assert(check === (scan =/= oldBase) && (!check || wide(checkIndex) + 1 === wide(scan)))
      } otherwise {
        assert(check && wide(checkIndex) + 1 === wide(oldEnd))
        assert(wide(age) === wide(count) + 3 + wide(oldEnd) - wide(oldBase))
      }
    }
  }
  when(in(State.cut)) {
    val here = (base < p.queues) ? (U(p.queues, endBits bits) - base) | U(0)
    val fits = (count > here) ? here | count
    val strange = function >= p.functions
    assert(age === 0)
    assert(giving === (!strange && one >= base && one < base +^ fits) && wrong === (strange || count > here))
    when(!strange && function === other)(assert(ranged.count === fits && ranged.base === base))
      .otherwise(assert(same(ranged, rangedBefore)))
  }
  cover(tells)
}

class QueueTableProof extends Component {
  val dut = FormalDut(new ProvenQueueTable(ShellParam(functions = 4, queues = 16)))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  // The inputs are numbers of the shell and some beyond; wider ones would add nothing.
  anyseq(io.range.valid)
  io.range.function := anyseq(UInt(3 bits)).resized
  io.range.base := anyseq(UInt(5 bits)).resized
  io.range.count := anyseq(UInt(6 bits)).resized
  anyseq(io.range.reset)
  for (owner <- io.owner) {
    anyseq(owner.query.valid)
    owner.query.payload := anyseq(UInt(5 bits)).resized
  }
  anyseq(io.functionRange.query)
}

class QueueTableFormal extends AnyFunSuite {
  test("queues and ranges are those of the last write, changed once, and told when they are taken away, for any run") {
    Pdr.induction(new QueueTableProof, steps = 4, cycles = 40)
  }
  for (
    (fault, from, to) <- Seq(
      ("a queue of another function is taken away", "(scanned_function == function_1)", "1'b1"),
      ("a queue that the function keeps is taken away", "(! kept)", "1'b1"),
      ("a queue is told that is taken away without a reset", "(_zz_ownerWrite_valid && reset)", "_zz_ownerWrite_valid"),
      ("a function beyond the last has a range", "(lookup_known ? lookup_range_count : 12'h0)", "lookup_range_count"),
      ("a range goes beyond the last queue", "count <= _zz_count;", "count <= count;")
    )
  )
    test(s"the proof notices that $fault", LongTest) {
      Pdr.catches(new QueueTableProof, from, to, cycles = 40)
    }
}
