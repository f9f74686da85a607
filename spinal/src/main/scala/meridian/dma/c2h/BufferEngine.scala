// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import meridian.dma.interrupt.RingInterrupt
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The rings of buffers of all C2H queues: it takes doorbells, fetches descriptors ahead from the doorbell on, tells
  * the shell of those that have come, and gives each frame the buffers that it needs, in the order of the ring. So a
  * shell that sends frames only for what it was told of never waits for a descriptor.
  *
  * A frame is dropped if its queue is not there or was another when it began to come, or if it needs more buffers than
  * 31 or than its ring has. One whose descriptors have not come waits, and the stream behind it, as long as FrameWait
  * allows; then it is dropped, and those of its ring behind it are at once, until there is a doorbell or descriptors
  * come. What a frame would have used is told to the shell again. CIDX moves when a frame gets its buffers.
  *
  * An event takes 5 cycles, one more if its ring is to fetch or owes an interrupt, and 3 more for each buffer of a frame
  * behind its first: contexts first, then descriptors that have come, doorbells, interrupts, turns to fetch and frames.
  * After descriptors, a doorbell, a turn or a frame with one buffer, the next of descriptors, doorbells and frames is read
  * while that event is told, so it takes 4. No event waits for RQ or for interrupts. After a change of a context no request
  * of the queue's past begins; it is `late` until those that have begun have left.
  *
  * After reset no event is taken until all rings are empty, a cycle for each.
  */
class BufferEngine(p: DmaParam, frameWait: Int) extends Component {
  val io = new Bundle {
    val hold = slave(RingHold())
    val change = slave(Stream(RingChange()))
    val prefetch = slave(Flow(PrefetchWrite()))
    val doorbell = slave(Stream(RingDoorbell()))
    val ringSizes = in Vec (UInt(16 bits), 16) // entries, with the status entry
    val bufferSizes = in Vec (UInt(17 bits), 16)
    val isWide = in Bool () // reads of 256 bytes are allowed
    val frame = slave(Stream(FrameHeader()))
    val read = master(Stream(DescriptorRead()))
    val function = out(DmaParam.functionType()) // of the ring that an event is about
    val mayRead = in Bool () // that function, 2 cycles later
    val arrival = slave(Stream(CacheArrival()))
    val cacheQueue = out(DmaParam.queueType())
    val cachePlace = out UInt (DescriptorCache.bits bits)
    val address = in UInt (64 bits) // of the buffer there, a cycle later
    val grant = master(Flow(BufferGrant()))
    val mayGrant = in Bool () // there is room for the buffers of a frame
    val message = master(Stream(QueueMessage()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val interrupt = master(Stream(RingInterrupt()))
    val issued, left = in UInt (8 bits) // see PayloadWriter
    val late = out Bool ()
    val queues = in Vec (DmaParam.queueType(), 3) // whose epochs are asked for
    val epochs = out Vec (RingEpoch(), 3)
    val quiet = out Bool () // no ring has a turn to come, and no frame's time runs
  }

  val place = log2Up(p.queues)
  val event = Reg(BufferEvent())
  val queue = Reg(UInt(place bits))
  val frame = Reg(FrameHeader()) // the first frame, once its turn has come
  val isTaken = RegInit(False)
  // The event that was decided last, which is told while the next one is read.
  val toldQueue = Reg(UInt(place bits))
  val isChange = Reg(Bool())
  val chosen = Reg(Bool()) // the next one was chosen while this one was decided
  val isSame = Reg(Bool()) // and is of the same ring
  val ring = Reg(C2hRing())
  val prefetch = Reg(PrefetchContext())
  val size = Reg(UInt(17 bits)) // of a buffer
  val entries = Reg(UInt(16 bits)) // without the status entry
  val ofWhole = Reg(Bool()) // the list of the turn
  val outcome = Reg(RingOutcome())
  val isFrameLeft = Reg(Bool()) // the event was a frame's, which is still there
  val choice = UInt(place bits)
  choice := queue
  val next = C2hRing()
  next := ring
  val writes = False

  val rings = new BufferRings(p)
  rings.io.next := choice
  rings.io.queue := queue
  rings.io.written := queue
  rings.io.ring.valid := writes
  rings.io.ring.payload := next
  rings.io.changes := False
  rings.io.prefetchWrite << io.prefetch
  rings.io.asked := io.queues
  io.epochs := rings.io.epochs
  val fills = rings.io.fills
  val epoch = RegNext(rings.io.epoch) // there with the ring

  // What is taken in `act`, which follows `decide`.
  val takesArrival, takesDoorbell = RegInit(False)
  Seq(takesArrival, takesDoorbell).foreach(_ := False)
  Seq(io.change, io.frame).foreach(_.ready := False)
  io.arrival.ready := takesArrival
  io.doorbell.ready := takesDoorbell
  io.hold.held := False
  io.hold.state := ring.state

  val measure = new RingMeasure(p)
  measure.io.ring := ring
  measure.io.entries := entries
  measure.io.doorbell.valid := event === BufferEvent.doorbell
  measure.io.doorbell.payload := io.doorbell.pidx
  measure.io.start := False
  measure.io.epoch := epoch
  measure.io.frame.valid := event === BufferEvent.frame
  measure.io.frame.payload := frame
  measure.io.arrival := io.arrival.payload
  measure.io.isPrefetched := prefetch.valid
  measure.io.size := size
  measure.io.isWide := io.isWide

  val turns = new FetchTurns(p.queues)
  turns.io.add.valid := False
  turns.io.add.payload := toldQueue
  turns.io.isWhole := False
  turns.io.take.valid := False
  turns.io.take.payload := ofWhole
  turns.io.served := False
  io.read.valid := False
  io.read.payload.queue := queue.resized
  io.read.epoch := epoch
  io.read.function := ring.context.function
  io.read.address := measure.io.measured.readAddress
  io.read.place := measure.io.measured.readPlace
  io.read.count := measure.io.measured.fetches
  io.function := ring.context.function

  val grants = new FrameGrants
  grants.io.start := measure.io.start
  Seq(grants.io.give, grants.io.drop).foreach(_ := False)
  grants.io.frame := frame
  grants.io.ring := ring
  grants.io.epoch := epoch
  grants.io.size := size
  io.cacheQueue := queue.resized
  io.cachePlace := grants.io.place
  grants.io.address := io.address
  io.grant << grants.io.grant
  val waiting = new FrameWait(frameWait)
  waiting.io.starve := False
  waiting.io.wake := io.prefetch.valid
  waiting.io.leaves := False

  io.quiet := !turns.io.turn.valid && waiting.io.idle && !isTaken

  val step = new RingStep
  step.io.event := event
  step.io.ring := ring
  step.io.entries := entries
  step.io.measured := measure.io.measured
  step.io.change := io.change.payload
  step.io.arrival := io.arrival.payload
  step.io.doorbell << io.doorbell.asFlow
  step.io.mayRead := io.mayRead
  step.io.ofWhole := ofWhole
  step.io.lastBuffer := grants.io.last
  step.io.mayWait := waiting.io.mayWait
  val now = step.io.outcome
  grants.io.failed := now.failed

  val interrupts = new BufferInterrupts(p)
  interrupts.io.queue := fills ? rings.io.filled | queue
  interrupts.io.ring := ring
  interrupts.io.clear := fills
  interrupts.io.forget := rings.io.changes
  Seq(interrupts.io.add, interrupts.io.take, interrupts.io.turn.ready).foreach(_ := False)
  io.interrupt << interrupts.io.interrupt
  when(interrupts.io.turn.valid)(io.quiet := False)

  val reporter = new BufferReporter
  reporter.io.report.valid := False
  reporter.io.report.payload := outcome.report
  reporter.io.queue := toldQueue.resized
  reporter.io.ring := ring
  io.message << reporter.io.message
  io.raise << reporter.io.raise
  io.failure << reporter.io.failure

  val late = new LateRequests
  late.io.change := rings.io.changes
  late.io.issued := io.issued
  late.io.left := io.left
  io.late := late.io.late

  // The first that there is.
  val takesFrame = (isTaken || io.frame.valid) && !waiting.io.waits && io.mayGrant
  val frameQueue = isTaken ? frame.queue | io.frame.payload.queue
  // Only a read that is taken ends it, so what was true a cycle ago is true.
  val mayRead = RegNext(io.read.ready && !io.read.valid) init False
  val takesTurn = turns.io.turn.valid && mayRead
  assert(!io.read.valid || io.read.ready, "a read of descriptors is lost", FAILURE)
  val choices = Seq(
    (BufferEvent.hold, io.hold.queue.valid, io.hold.queue.payload),
    (BufferEvent.change, io.change.valid, io.change.payload.queue),
    (BufferEvent.arrival, io.arrival.valid, io.arrival.payload.queue),
    (BufferEvent.doorbell, io.doorbell.valid, io.doorbell.payload.queue),
    (BufferEvent.notice, interrupts.io.turn.valid, interrupts.io.turn.payload),
    (BufferEvent.turn, takesTurn && turns.io.first, turns.io.turn.payload),
    (BufferEvent.frame, takesFrame, frameQueue),
    (BufferEvent.turn, takesTurn, turns.io.turn.payload)
  )
  val kind = BufferEvent()
  kind := BufferEvent.frame

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val look, held, count, decide, act, again, settle, send = new State

    private def choose(from: Seq[(SpinalEnumElement[BufferEvent.type], Bool, UInt)]): Unit = {
      for ((what, isThere, _) <- from.reverse) when(isThere)(kind := what)
      when(from.map(_._2).orR)(choice := FirstOf(from.map { case (_, isThere, of) => isThere -> of }, place bits))
    }
    private def take(): Unit = {
      event := kind
      queue := choice
      ofWhole := turns.io.ofWhole
    }
    private def start(mayBegin: Bool): Unit = {
      take()
      when(mayBegin && choices.map(_._2).orR && !fills)(goto(look))
    }

    /** The same while an event is decided: only what can be left again, and what nothing else goes before. */
    private def chooseNext(): Unit = {
      val isFrame = event === BufferEvent.frame
      val next = Seq(
        (BufferEvent.arrival, io.arrival.valid && event =/= BufferEvent.arrival, io.arrival.payload.queue),
        (BufferEvent.doorbell, io.doorbell.valid && event =/= BufferEvent.doorbell, io.doorbell.payload.queue),
        (
          BufferEvent.frame,
          isFrame ? (io.frame.valid && io.mayGrant) | takesFrame,
          isFrame ? io.frame.payload.queue | frameQueue
        )
      )
      val others = io.hold.queue.valid || io.change.valid || interrupts.io.turn.valid || (takesTurn && turns.io.first)
      val isSimple = Seq(BufferEvent.arrival, BufferEvent.doorbell, BufferEvent.turn).map(event === _).orR ||
        (isFrame && measure.io.measured.need === 1)
      choose(next)
      isSame := next.map { case (_, isThere, of) => isThere -> (of.resize(place) === queue) }.reverse.foldLeft(False) {
        case (before, (isThere, isIt)) => isThere ? isIt | before
      }
      when(isSimple && !others) {
        chosen := next.map(_._2).orR
        take()
      }
    }
    // One multiplexer chooses the ring, because its size is looked up behind it in the same cycle.
    val isNext = RegInit(False) // an event may be read that was chosen while the one before was decided
    isNext := False
    val found = CombInit(rings.io.old)
    when(isNext && isSame)(found := next)
    private def read(): Unit = {
      ring := found
      prefetch := rings.io.prefetch
      val size = io.ringSizes(found.context.size)
      entries := (size >> 1 =/= 0) ? (size - 1) | U(1, 16 bits)
      when(event === BufferEvent.frame && !isTaken) {
        io.frame.ready := True
        frame := io.frame.payload
        isTaken := True
      }
      when(event === BufferEvent.hold)(goto(held)) otherwise (goto(count))
    }
    idle.whenIsActive {
      choose(choices)
      start(True)
    }
    look.whenIsActive {
      interrupts.io.turn.ready := event === BufferEvent.notice
      turns.io.take.valid := event === BufferEvent.turn
      read()
    }
    held.whenIsActive {
      io.hold.held := True
      when(io.change.valid) {
        event := BufferEvent.change
        goto(act)
      } elsewhen (!io.hold.queue.valid)(goto(idle))
    }
    count.whenIsActive {
      size := io.bufferSizes(prefetch.size)
      measure.io.start := True
      goto(decide)
    }
    decide.whenIsActive {
      when(measure.io.counted) {
        takesArrival := event === BufferEvent.arrival
        takesDoorbell := event === BufferEvent.doorbell
        goto(act)
      }
    }
    act.whenIsActive {
      outcome := now
      ring := now.ring
      next := now.ring
      writes := now.writes
      rings.io.changes := now.changes
      interrupts.io.take := event === BufferEvent.notice
      io.read.valid := now.reads
      grants.io.give := now.gives
      grants.io.drop := now.drops
      when(now.drops || (now.gives && grants.io.last)) {
        isTaken := False
        waiting.io.leaves := True
        turns.io.served := True
      }
      waiting.io.starve := now.starves
      when(now.wakes && frame.queue === queue)(waiting.io.wake := True)
      toldQueue := queue
      isChange := event === BufferEvent.change
      isFrameLeft := event === BufferEvent.frame && !now.drops && !now.gives
      chosen := False
      isNext := True
      chooseNext()
      goto(send)
      when(now.changes)(goto(settle))
      when(now.gives && !grants.io.last)(goto(again))
    }
    again.whenIsActive(goto(act)) // until the next address is there
    settle.whenIsActive(when(late.io.settled)(goto(send)))
    send.whenIsActive {
      rings.io.written := toldQueue
      interrupts.io.queue := toldQueue
      reporter.io.report.valid := True
      choose(choices)
      // The choice holds for this cycle only. A frame is not read ahead of one that still waits.
      val goesOn = chosen && !(event === BufferEvent.frame && isFrameLeft)
      chosen := False
      when(reporter.io.report.ready) {
        io.change.ready := isChange
        interrupts.io.add := outcome.interrupt
        val hasMore = ring.context.enable && ring.pidx =/= ring.fetched && !outcome.isVain
        val isWhole = ring.hasPlaces && ring.reads < 2 && !outcome.isHeld
        val isPart = (ring.hasPlace && ring.reads === 0) || outcome.isHeld
        val waits = hasMore && ((isWhole && !ring.inWhole) || (!isWhole && isPart && !ring.inPart))
        turns.io.isWhole := isWhole
        turns.io.add.valid := waits
        when(waits) {
          writes := True
          when(isWhole)(next.inWhole := True) otherwise (next.inPart := True)
        }
        when(goesOn)(read()) otherwise {
          goto(idle)
          start(!waits && !isChange && !outcome.interrupt) // else something is written in this cycle
        }
      }
    }
  }
}
