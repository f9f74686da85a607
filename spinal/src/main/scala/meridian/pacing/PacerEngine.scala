// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import meridian.queue.QueueLookup
import meridian.settings.PerPort
import spinal.core._
import spinal.lib._

/** Decides which queues may fetch descriptors. It visits one function at a time, charges the frames that have arrived,
  * adds what its rate gives, and if there is room grants its next queue a batch of about 8 KiB.
  *
  * Functions below their minimum go first, and all others follow in turn. A function has room while its bucket covers
  * its outstanding descriptors, estimated as frames of its mean length.
  *
  * No port is granted more than its transmit buffer holds. A port is open while fewer than windowBytes of paced frames
  * are on their way to it and in its buffer. So no paced frame waits at the head of the stream for a buffer that is
  * full of paced frames, whatever the port does. For functions above their minimum the port is also closed while
  * guardBytes are on their way and another function is below its minimum, because the DMA engine serves queues in turn.
  * Frames that are longer than the mean can exceed the window, by at most maxOutstanding frames of a function; the port
  * is then closed until they have left.
  *
  * With segmentation a function pays with its next turns for a frame that is longer than a batch. So its share of
  * a full port is about that of others, whatever the length of its frames.
  *
  * A visit takes 17 cycles, a queue that becomes active 10, and every 64 cycles the refill of a function takes one of
  * the visits. A grant on a full line takes two visits, as the first one finds that the line has room: at least 4
  * million grants a second, of up to 32 descriptors.
  */
class PacerEngine(p: ShellParam, queueBits: Int, functionBits: Int) extends Component {
  import Pacing._
  val functions = 1 << functionBits
  val turnBits = log2Up(250 / p.hostMhz) + log2Up(refillCycles) + functionBits // of a function's refills, in 4 ns
  val fractionBits = rateShift - turnBits
  val levelBits = RateBucket.levelBits(fractionBits)
  val quietBits = 18 - turnBits // about a millisecond
  val tightBytes = 8 * 1024 // less room than this is filled frame by frame
  val window = windowBytes(p)
  val shareBits = 24
  val totalBits = 32

  val io = new Bundle {
    val rate = slave(Flow(RateWrite(p)))
    val active = slave(Stream(UInt(queueBits bits)))
    val back = master(Stream(UInt(queueBits bits)))
    val look = master(Flow(UInt(queueBits bits)))
    val pending = in UInt (16 bits)
    val segments = p.segmentation generate (in Bool ()) // the queue's descriptors may be frames that are cut
    val commit = master(Flow(UInt(16 bits)))
    val taken, rest = in Bool ()
    val assign = master(Flow(QueueAssign(queueBits, functionBits)))
    val drained = slave(Flow(UInt(functionBits bits)))
    val owner = master(QueueLookup(p))
    val ports = in Vec (p.portType(), p.functions) // of each function
    val buffered = in Vec (p.txBeatsType(), p.ports) // beats of paced frames in the buffer of a port
    val sends = in Bits (p.ports bits) // the port takes frames
    val question = out UInt (functionBits bits)
    val arrived = in(Arrived(p))
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
  val onTheWay = new PortTotals(p, functionBits, shareBits, totalBits)
  onTheWay.io.function := function
  onTheWay.io.port := RegNext(Vec(ports)(function))
  onTheWay.io.begins := visits(3)
  onTheWay.io.ends := visits(15)
  val port = onTheWay.io.sampled
  val totals = onTheWay.io.totals

  // How many bytes may be on their way to a port. While it drops its frames they do not get to its buffer, and what is in
  // it does not count; a batch is granted at times then, or frames that are dropped would fill the stream.
  val rooms = for (i <- 0 until p.ports) yield new Area {
    val guard = Reg(Bool()) init False // a function on the port is below its minimum
    val dropping = Reg(UInt(log2Up(dropCycles) bits)) init 0 // cycles until the next batch of a port that drops
    when(dropping =/= 0)(dropping := dropping - 1)
    val waits = U(window, log2Up(p.txBufferBytes) + 1 bits).andMask(dropping =/= 0)
    val used = RegNext(io.sends(i) ? (io.buffered(i) << log2Up(p.hostBytes)) | waits)
    val all = RegNext((used < window) ? (window - used) | U(0)).resize(log2Up(window + 1))
    val narrow = guardBytes min window
    val others = RegNext((guard && all > narrow) ? U(narrow, widthOf(all) bits) | all)
  }

  /** What a frame of a mean length is taken to need in the buffer of its port. */
  def bufferSpace(mean: UInt): UInt = {
    val bits = log2Up(p.hostBytes)
    ((mean +^ (4 + p.hostBytes - 1)) >> bits) << bits
  }

  // A bit a function: what speaks for a visit.
  val flags = new Area {
    val arrived = Reg(Bits(functions bits)) init 0 // frames have come since the last visit
    val room = Reg(Bits(functions bits)) init 0
    val urgent = Reg(Bits(functions bits)) init 0 // below its minimum
    val settling = Reg(Bits(functions bits)) init 0 // a queue was drained: no grants until nothing is on its way
    val fits = Reg(Bits(p.ports bits)) init 0 // the port's buffer has room for another batch
    val open = Reg(Bits(p.ports bits)) init 0 // and functions above their minimum may use it
    val fitsTo = RegNext(Vec(ports.map(PerPort(fits.asBools, _))).asBits)
    val openTo = RegNext(Vec(ports.map(PerPort(open.asBools, _))).asBits)
    val worth = lists.io.some & (arrived | room)
    val first = new FunctionFinder(functionBits)
    first.io.wish := worth & urgent & fitsTo
    val others = new FunctionFinder(functionBits)
    others.io.wish := worth & openTo
    // Apart from those who may be granted something: whose frames come must not change whose turn it is.
    val settled = new FunctionFinder(functionBits)
    settled.io.wish := arrived & ~(worth & openTo)
  }

  val start = new Area {
    val cycles = Reg(UInt(log2Up(refillCycles) bits)) init 0
    val due = RegInit(False)
    val next = Reg(UInt(functionBits bits)) init 0
    val refill = Reg(Bool())
    val turn = Reg(Bool()) // the function is visited as its turn has come: only then it may be granted what is for all
    val activated = RegInit(False) // so that activations and visits take turns
    cycles := cycles + 1
    when(cycles.andR)(due := True)

    val settles = RegInit(False) // whoever only settles goes before the others, in every other visit
    val visits = Seq(flags.first, flags.others, flags.settled).map(_.io.found).orR
    val free = phase === Phase.rest && io.ready && onTheWay.io.ready && !io.back.valid
    val refills = free && due
    val activates = free && !due && io.active.valid && !(activated && visits)
    val urgent = free && !due && !activates && flags.first.io.found
    // The turn must not pass to somebody for room that the visit before has used: the finder sees that four cycles later.
    val rested = Reg(UInt(3 bits)) init 0
    when(phase === Phase.visit)(rested := 0) elsewhen (!rested.andR)(rested := rested + 1)
    val calm = free && !due && !activates && !urgent
    val settle = calm && flags.settled.io.found && (settles || !flags.others.io.found)
    val other = calm && flags.others.io.found && !settle && rested >= 4
    io.active.ready := activates
    flags.first.io.take := urgent
    flags.others.io.take := other
    flags.settled.io.take := settle
    when(free) {
      refill := refills
      turn := other
      function := flags.others.io.index
      when(settle)(function := flags.settled.io.index)
      when(flags.first.io.found)(function := flags.first.io.index)
      when(due)(function := next)
      queue := io.active.payload
    }
    when(refills) {
      next := next + 1
      due := cycles.andR
    }
    when(settle || other)(settles := other)
    when(refills || urgent || settle || other) { phase := Phase.visit; activated := False }
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

  val accounts = Mem(FunctionAccount(levelBits, quietBits, p.segmentation), functions)
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
    def here(rooms: Seq[UInt]) =
      RegNext(rooms.zipWithIndex.map { case (room, i) => room.andMask(port === i) }.reduce(_ | _))
    val room = here(rooms.map(_.all))
    val roomOfOthers = here(rooms.map(_.others))
  }

  // The bytes on their way, first of those left, then with those granted.
  val granted = Reg(UInt(6 bits))
  val outstanding = RegNext(settle.left + granted)
  val space = RegNext(bufferSpace(settle.arrived.mean))
  val reserved = Delay(outstanding * space, 2).resize(shareBits)
  onTheWay.io.share := reserved

  // A frame that is cut may be eight times what a turn is for: as many turns of its function are passed over behind it. So
  // functions get the same of a full line, whatever the length of their frames.
  val debt = p.segmentation generate new Area {
    import FunctionAccount.turn
    val now = RegNext(account.debt)
    val pays = RegNext(now >= turn)
    val frame = RegNext((space >> 10).resize(FunctionAccount.debtBits bits)) // KiB
    val after = RegNext((now + frame > turn) ? (now + frame - turn) | U(0, FunctionAccount.debtBits bits))
  }

  // Steps 7 to 11: whether there is room, and the grant.
  val decide = new Area {
    val ownerRight = RegNextWhen(
      io.owner.result.payload.valid && io.owner.result.function === function.resized,
      visits(4)
    )
    val some = RegNextWhen(lists.io.some(function), visits(4))
    val settling = RegNextWhen(flags.settling(function), visits(6))
    val bytes = (reserved << fractionBits).resize(levelBits + 2).asSInt
    val mostLeft = RegNextWhen(settle.most.next - bytes, visits(7))
    val leastLeft = RegNextWhen(settle.least.next - bytes, visits(7))
    val bytesToPort = RegNextWhen(settle.others + reserved, visits(7))
    val fits = RegNextWhen(bytesToPort < settle.room, visits(8))
    // Room that a visit finds, or the one before has found, is for whoever is next, or who sends now would keep all
    // others out.
    val ready = start.turn && bytesToPort < settle.roomOfOthers
    val open = RegNextWhen(if (p.segmentation) ready && !debt.pays else ready, visits(8))
    val urgent = RegNext(promised && !leastLeft.msb)
    def most(full: Int): UInt =
      if (p.segmentation) io.segments ? U(full min maxSegmented / 2, 8 bits) | U(full, 8 bits) else U(full, 8 bits)
    val room = RegNext(
      !(limited && mostLeft.msb) && settle.left <= most(maxOutstanding - batchMost) && !settling
    )

    val mean = settle.arrived.mean
    val whole = batches.foldRight(U(1, 8 bits)) { case ((below, n), more) => (mean < below) ? most(n) | more }
    // Little room is filled frame by frame, so that a slow function sends evenly.
    val tight = limited && mostLeft < (tightBytes << fractionBits)
    val limit = RegNext(tight ? U(1, 6 bits) | whole.resize(6))
    val batch = RegNext((io.pending > limit) ? limit | io.pending.resize(6 bits))

    val paid = p.segmentation generate RegNextWhen(ready && room && some, visits(9)) // a turn that it could have had
    val wants = RegNextWhen(some && ownerRight && room && (open || urgent && fits) && !io.grant.valid, visits(9))
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

  for ((room, i) <- rooms.zipWithIndex) when(visits(11) && granted =/= 0 && port === i && !io.sends(i)) {
    room.dropping.setAll()
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
    if (p.segmentation) {
      next.debt := debt.now
      when(start.turn && debt.pays && decide.paid)(next.debt := debt.now - FunctionAccount.turn)
      // Of shorter frames a batch is about a turn.
      when(start.turn && granted === 1)(next.debt := debt.after)
    }
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
    rooms(i).guard := (lists.io.some & flags.urgent & here).orR
    // A visit takes its function out of the total until its end.
    when(phase =/= Phase.visit) {
      flags.fits(i) := totals(i) < rooms(i).all
      flags.open(i) := totals(i) < rooms(i).others
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
