// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import meridian.filter.{PerPort, QueueLookup}
import spinal.core._
import spinal.lib._

/** Decides who may fetch descriptors, one function at a time: settles what has come of it and is its due, and if there
  * is room grants its next queue a batch of about 8 KiB.
  *
  * Functions below their minimum go first, then all others in turn, and these only while fewer than windowBytes are on
  * their way to their port; while one is below its minimum, guardBytes, as the DMA engine serves queues in turn. A
  * function has room while its bucket covers what is on its way, taken as frames of its mean length.
  *
  * A visit takes 17 cycles, a queue that becomes active 10, a refill of a function every 64 cycles one of the visits. A
  * grant on a full line takes two visits, as the first finds that the line has room: at least 5 million grants a second,
  * of up to 32 descriptors.
  */
class PacerEngine(p: ShellParam, queueBits: Int, functionBits: Int) extends Component {
  import Pacing._
  val functions = 1 << functionBits
  val turnBits = log2Up(250 / p.hostMhz) + log2Up(refillCycles) + functionBits // of a function's refills, in 4 ns
  val fractionBits = rateShift - turnBits
  val levelBits = RateBucket.levelBits(fractionBits)
  val quietBits = 18 - turnBits // about a millisecond
  val batchMost = 32
  val batchBytes = 8 * 1024

  val io = new Bundle {
    val rate = slave(Flow(RateWrite(p)))
    val active = slave(Stream(UInt(queueBits bits)))
    val back = master(Stream(UInt(queueBits bits)))
    val look = master(Flow(UInt(queueBits bits)))
    val pending = in UInt (16 bits)
    val commit = master(Flow(UInt(16 bits)))
    val taken, rest = in Bool ()
    val assign = master(Flow(QueueAssign(queueBits, functionBits)))
    val drained = slave(Flow(UInt(functionBits bits)))
    val owner = master(QueueLookup(p))
    val ports = in Vec (p.portType(), p.functions) // of each function
    val question = out UInt (functionBits bits)
    val arrived = in(Arrived())
    val news = slave(Flow(UInt(functionBits bits)))
    val grant = master(Stream(DescriptorGrant(queueBits, 16)))
    val ready = in Bool () // the counters of queues and functions are
    val idle = out Bool ()
  }

  object Phase extends SpinalEnum { val rest, visit, activate = newElement() }
  val phase = RegInit(Phase.rest)
  val step = Reg(UInt(4 bits)) init 0
  def at(n: Int) = step === n
  def visits(n: Int) = phase === Phase.visit && at(n)
  def activates(n: Int) = phase === Phase.activate && at(n)
  val function = Reg(UInt(functionBits bits)) init 0
  val queue = Reg(UInt(queueBits bits))

  val rates = for (minimum <- Seq(false, true)) yield {
    val memory = Mem(UInt(rateBits bits), functions)
    memory.write(io.rate.function.resized, io.rate.rate, io.rate.valid && io.rate.minimum === Bool(minimum))
    RegNext(memory.readSync(function))
  }
  val limited = RegNext(rates(0) =/= 0)
  val promised = RegNext(rates(1) =/= 0)

  val lists = new QueueLists(queueBits, functionBits)
  lists.io.function := function

  val ports = (0 until functions).map(f => if (f < p.functions) io.ports(f) else U(0, p.portBits bits))

  // Taken out at step 3, before which port and share are known, and put in again at step 15.
  val onTheWay = new PortTotals(p, functionBits, shareBits = 24, totalBits = 32)
  onTheWay.io.function := function
  onTheWay.io.port := RegNext(Vec(ports)(function))
  onTheWay.io.begins := visits(3)
  onTheWay.io.ends := visits(15)
  val port = onTheWay.io.sampled
  val totals = onTheWay.io.totals

  // A bit a function: what speaks for a visit.
  val flags = new Area {
    val arrived = Reg(Bits(functions bits)) init 0 // frames have come since the last visit
    val room = Reg(Bits(functions bits)) init 0
    val urgent = Reg(Bits(functions bits)) init 0 // below its minimum
    val settling = Reg(Bits(functions bits)) init 0 // a queue was drained: no grants until nothing is on its way
    val guard = Reg(Bits(p.ports bits)) init 0 // somebody on the port is below its minimum
    val open = Reg(Bits(p.ports bits)) init 0 // few enough bytes are on their way to the port
    val openTo = RegNext(Vec(ports.map(PerPort(open.asBools, _))).asBits)
    val worth = lists.io.some & (arrived | room)
    val first = new FunctionFinder(functionBits)
    first.io.wish := worth & urgent
    val others = new FunctionFinder(functionBits)
    others.io.wish := worth & openTo | arrived & ~openTo
  }

  val start = new Area {
    val cycles = Reg(UInt(log2Up(refillCycles) bits)) init 0
    val due = RegInit(False)
    val next = Reg(UInt(functionBits bits)) init 0
    val refill = Reg(Bool())
    val activated = RegInit(False) // so that activations and visits take turns
    cycles := cycles + 1
    when(cycles.andR)(due := True)

    val visits = flags.first.io.found || flags.others.io.found
    val free = phase === Phase.rest && io.ready && onTheWay.io.ready && !io.back.valid
    val refills = free && due
    val activates = free && !due && io.active.valid && !(activated && visits)
    val urgent = free && !due && !activates && flags.first.io.found
    val other = free && !due && !activates && !urgent && flags.others.io.found
    io.active.ready := activates
    flags.first.io.take := urgent
    flags.others.io.take := other
    when(free) {
      refill := refills
      function := Mux(due, next, Mux(flags.first.io.found, flags.first.io.index, flags.others.io.index))
      queue := io.active.payload
    }
    when(refills) {
      next := next + 1
      due := cycles.andR
    }
    when(refills || urgent || other) { phase := Phase.visit; activated := False }
    when(activates) { phase := Phase.activate; activated := True }
    step := (phase === Phase.rest) ? U(0) | (step + 1)
  }

  // An active queue goes to the list of its owner; one that is nobody's loses its descriptors.
  val activation = new Area {
    val owner = RegNext(io.owner.result.payload)
    val known = owner.valid && p.below(owner.function, p.functions)
    val forgets = activates(3) && !known
    when(activates(3))(function := owner.function.resized)
    io.assign.valid := activates(3) && known
    io.assign.queue := queue
    io.assign.function := owner.function.resized
    lists.io.append.valid := activates(9)
    lists.io.append.payload := queue
    when(forgets || activates(9))(phase := Phase.rest)
  }

  val accounts = Mem(FunctionAccount(levelBits, quietBits), functions)
  val account = RegNext(accounts.readSync(function))
  io.question := function

  // Steps 2 to 6: what has come of the function, and is its due.
  val settle = new Area {
    val arrived = RegNextWhen(io.arrived, visits(2))
    val spent = RegNextWhen(io.arrived.bytes - account.bytes, visits(2))
    val came = RegNextWhen(io.arrived.frames - account.frames, visits(2))
    val lost = account.quiet.andR
    val left = RegNext((lost || came >= account.outstanding) ? U(0) | (account.outstanding - came.resize(8 bits)))
    val quiet = RegNext((came =/= 0 || left === 0) ? U(0) | (account.quiet + start.refill.asUInt))

    def bucket(level: SInt, rate: UInt, floor: Int) = {
      val bucket = new RateBucket(fractionBits, floor)
      bucket.io.level := level
      bucket.io.spent := spent
      bucket.io.rate := rate
      bucket.io.refill := start.refill
      bucket.io
    }
    val most = bucket(account.most, rates(0), -(1 << 24))
    val least = bucket(account.least, rates(1), -baseBytes)
    val full = most.full && least.full
    val others = onTheWay.io.others
    val window = RegNext(
      PerPort(flags.guard.asBools, port) ? U(guardBytes) | U(windowBytes, log2Up(windowBytes + 1) bits)
    )
  }

  // The bytes on their way, first of those left, then with those granted.
  val granted = Reg(UInt(6 bits))
  val outstanding = RegNext(settle.left + granted)
  val reserved = Delay(outstanding * settle.arrived.mean, 2)
  onTheWay.io.share := reserved

  // Steps 7 to 11: whether there is room, and the grant.
  val decide = new Area {
    val ownerRight = RegNextWhen(
      io.owner.result.payload.valid && io.owner.result.function === function.resized,
      visits(4)
    )
    val some = RegNextWhen(lists.io.some(function), visits(4))
    val settling = RegNextWhen(flags.settling(function), visits(6))
    // Room that a visit itself finds is for whoever is next, or who sends now would keep all others out.
    val wasOpen = RegNextWhen(flags.openTo(function), visits(2))
    val bytes = (reserved << fractionBits).resize(levelBits + 2).asSInt
    val mostLeft = RegNextWhen(settle.most.next - bytes, visits(7))
    val leastLeft = RegNextWhen(settle.least.next - bytes, visits(7))
    val open = RegNextWhen(wasOpen && settle.others + reserved < settle.window, visits(7))
    val urgent = RegNext(promised && !leastLeft.msb)
    val room = RegNext(!(limited && mostLeft.msb) && settle.left <= maxOutstanding - batchMost && !settling)

    val mean = settle.arrived.mean
    val limits = Seq(256 -> 32, 1024 -> 16, 2048 -> 8, 4096 -> 4)
    val batches = limits.foldRight(U(2, 6 bits)) { case ((below, n), more) => (mean < below) ? U(n, 6 bits) | more }
    // Little room is filled frame by frame, so that a slow function sends evenly.
    val tight = limited && mostLeft < (batchBytes << fractionBits)
    val limit = RegNext(tight ? U(1, 6 bits) | batches)
    val batch = RegNext((io.pending > limit) ? limit | io.pending.resize(6 bits))

    val wants = RegNextWhen(some && ownerRight && room && (open || urgent) && !io.grant.valid, visits(9))
    val strange = RegNextWhen(some && !ownerRight, visits(9))
    val rest = RegNext(io.rest)
    lists.io.advance := visits(11) && (wants || strange)
    lists.io.keep := rest && !strange
    when(visits(0))(granted := 0)
    when(visits(10) && wants && io.taken)(granted := batch)
  }
  val looks = visits(2) || activates(0)
  io.look.valid := looks
  io.look.payload := (phase === Phase.visit) ? lists.io.head | queue
  io.owner.query.valid := looks
  io.owner.query.payload := io.look.payload.resized
  when(visits(2))(queue := lists.io.head)
  io.commit.valid := visits(10) && decide.wants || activation.forgets
  io.commit.payload := (phase === Phase.visit) ? decide.batch.resize(16 bits) | io.pending

  val grant = new Area {
    val valid = RegInit(False)
    val payload = Reg(DescriptorGrant(queueBits, 16))
    when(io.grant.ready)(valid := False)
    when(visits(11) && granted =/= 0) {
      valid := True
      payload.queue := queue
      payload.amount := granted.resized
    }
    io.grant.valid := valid
    io.grant.payload := payload
  }

  // A queue that has to be told as active again.
  val back = new Area {
    val valid = RegInit(False)
    val payload = Reg(UInt(queueBits bits))
    when(io.back.ready)(valid := False)
    when(visits(11) && decide.strange || activation.forgets && io.rest) {
      valid := True
      payload := queue
    }
    io.back.valid := valid
    io.back.payload := payload
  }

  // Step 15: kept until the next visit.
  val keep = new Area {
    val ends = visits(15)
    val next = cloneOf(account)
    next.most := settle.most.next
    next.least := settle.least.next
    next.frames := settle.arrived.frames
    next.bytes := settle.arrived.bytes
    next.outstanding := outstanding
    next.quiet := settle.quiet
    val clear = Reg(UInt(functionBits + 1 bits)) init 0
    when(!clear.msb)(clear := clear + 1)
    val data = cloneOf(next)
    data.assignFromBits(next.asBits.andMask(clear.msb))
    accounts.write(clear.msb ? function | clear.resized, data, ends || !clear.msb)
    when(ends) {
      flags.room(function) := decide.room
      flags.urgent(function) := decide.urgent
      phase := Phase.rest
    }
  }
  when(visits(0))(flags.arrived(function) := False)
  when(visits(8) && settle.left === 0)(flags.settling(function) := False)
  when(io.news.valid)(flags.arrived(io.news.payload) := True)
  when(io.drained.valid)(flags.settling(io.drained.payload) := True)

  for (i <- 0 until p.ports) {
    val here = RegNext(Vec(ports.map(_ === i)).asBits)
    flags.guard(i) := (lists.io.some & flags.urgent & here).orR
    // A visit takes its function out of the total until its end.
    when(phase =/= Phase.visit) {
      flags.open(i) := totals(i) < (flags.guard(i) ? U(guardBytes) | U(windowBytes, log2Up(windowBytes + 1) bits))
    }
  }

  // Not idle either while a bucket fills: a simulation that skips idle time would let it fill too slowly.
  val filling = Reg(UInt(functionBits + 1 bits)) init 0
  when(visits(15) && start.refill) {
    when(!settle.full && p.below(function, p.functions)) {
      filling.setAll()
    } elsewhen (filling =/= 0) {
      filling := filling - 1
    }
  }
  val works = phase === Phase.activate || phase === Phase.visit && !start.refill
  io.idle := RegNext(
    !works && !flags.arrived.orR && !lists.io.some.orR && totals.map(_ === 0).andR && filling === 0 && !io.active.valid
  ) init True
}
