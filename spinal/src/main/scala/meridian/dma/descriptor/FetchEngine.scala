// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.DmaParam
import meridian.dma.pcie.ReadCommand
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The rings of all H2C queues, or of a direction's memory-mapped ones: it takes doorbells, fetches descriptors of queues in turn, up to 16 and up to the ring's end
  * in a turn, counts those that have ended, and writes status entries, the last of each ring. Descriptors of a queue that
  * end while it is at something else are counted as one event, but for those beyond a status entry.
  *
  * One event at a time, 7 cycles, and up to 8 more for a message: doorbells first, which so are taken within 40 cycles, then
  * contexts, ended descriptors, credits and turns. A context's change is taken when nothing of the queue's past can reach
  * the stream any more, but for a frame that has begun. A doorbell that the ring cannot have stops the queue.
  *
  * If a doorbell's first descriptor is the only one of its ring that has not ended, and its frame has been pushed whole,
  * the descriptor is not fetched: PushSender sends the frame, at once or when the ring has credit.
  *
  * A queue is held 4 cycles after the event before; its change may come then, or it is let go.
  *
  * No event waits until the host has been told of the one before. A notice leaves at once if nothing waits. Else what the
  * ring owes is kept, and its notice is an event of its own later, at least every other one: it tells the ring as it is then.
  *
  * After reset no event is taken until all rings are empty, a cycle for each.
  *
  * @param isMemory  it has memory-mapped queues: what has failed as malformed and not on its descriptor has failed in the
  *                  card's memory
  */
class FetchEngine(p: DmaParam, isMemory: Boolean = false) extends Component {
  private val hasPush = p.pushSlots > 0 && !isMemory
  val io = new Bundle {
    val hold = slave(RingHold())
    val change = slave(Stream(RingChange()))
    val done = slave(Stream(RingDones()))
    val taken = out UInt (DoneMerge.bits bits) // of these
    val doorbell = slave(Stream(RingDoorbell()))
    val slots = hasPush generate master(PushPort(p))
    val push = hasPush generate master(Stream(PushStart(p)))
    val function = out(DmaParam.functionType()) // of the ring
    val isMaster = hasPush generate in(Bool()) // it may access memory, a cycle later
    val changed = master(Flow(DmaParam.queueType())) // the queue's epoch has changed
    val credit = slave(Stream(RingCredit()))
    val ringSizes = in Vec (UInt(16 bits), 16) // entries, with the status entry
    val statusInterval = in UInt (10 bits) // frames
    val read = master(Stream(ReadCommand()))
    val fetch = master(Stream(DescriptorFetch())) // beside each read
    val notice = master(Stream(RingNotice()))
    val forget = master(Flow(DmaParam.queueType())) // a notice of this queue is not to leave any more
    val message = master(Stream(QueueMessage()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val queue = in(DmaParam.queueType()) // whose epoch is asked for
    val epoch = out(RingEpoch())
    val nextQueue = in(DmaParam.queueType()) // likewise
    val nextEpoch = out(RingEpoch())
    val quiet = out Bool () // no ring has a turn or a notice to come
  }

  val place = log2Up(p.queues)
  val rings = Mem(RingState(), p.queues)
  val epochs = Mem(RingEpoch(), p.queues)
  val turns = StreamFifo(UInt(place bits), p.queues)
  io.epoch := epochs.readAsync(io.queue.resize(place))
  io.nextEpoch := epochs.readAsync(io.nextQueue.resize(place))

  val filled = RegInit(U(0, place + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  object Event extends SpinalEnum {
    val doorbell, hold, change, done, credit, notice, turn = newElement()
  }
  val event = Reg(Event())
  val queue = Reg(UInt(place bits))
  val ring = Reg(RingState())
  val epoch = Reg(RingEpoch())
  val entries = Reg(UInt(16 bits)) // without the status entry
  val added, used, number = Reg(UInt(17 bits))
  val refused = Reg(Bool())
  // Of descriptors that have ended: as many as to the next status entry.
  val isCurrent, isInterval, drains = Reg(Bool())
  val ended = Reg(UInt(DoneMerge.bits bits))
  val toEnd = Reg(UInt(17 bits)) // of the ring, from CIDX on
  val nextCidx = Reg(UInt(16 bits))
  // Of a turn: what it fetches goes to the ring's end, or is fewer than there are; where the next one begins.
  val toRingEnd = Reg(Bool())
  val nextFetched = Reg(UInt(16 bits))
  // Of a doorbell: the frame of its first descriptor has been pushed, and nothing of the ring is under way. Of credit:
  // this was so, and is.
  val isFirst, pushes, keeps = Reg(Bool())
  val behindFirst = Reg(UInt(16 bits)) // the descriptor after it
  // Beside each ring: the slot that is kept for its next frame.
  case class Keeping() extends Bundle {
    val is = Bool()
    val slot = PushWindow.slotType(p)
  }
  val keepings = hasPush generate Mem(Keeping(), p.queues)
  val keeping, nextKeeping = hasPush generate Keeping()
  io.taken := ended
  val writes = False
  val old = rings.readSync(queue)
  val oldEpoch = epochs.readAsync(queue)
  val next = RingState()
  val nextEpoch = RingEpoch()
  next := ring
  nextEpoch := epoch
  val empty = RingState().getZero
  rings.write(fills ? filled.resize(place) | queue, fills ? empty | next, fills || writes)
  if (hasPush) {
    keeping := keepings.readSync(queue)
    nextKeeping := keeping
    keepings.write(fills ? filled.resize(place) | queue, fills ? Keeping().getZero | nextKeeping, fills || writes)
  }
  epochs.write(fills ? filled.resize(place) | queue, fills ? U(0, 16 bits) | nextEpoch, fills || writes)

  val isRung = RegNext(io.doorbell.valid)

  private def distance(from: UInt, to: UInt): UInt =
    ((to >= from) ? (to - from).resize(17 bits) | (to.resize(17 bits) + entries - from)).resize(17 bits)

  // What is taken in `act`, which follows `decide`.
  val takesDone, takesDoorbell, takesCredit = RegInit(False)
  Seq(takesDone, takesDoorbell, takesCredit).foreach(_ := False)
  io.change.ready := False
  io.done.ready := takesDone
  io.doorbell.ready := takesDoorbell
  io.credit.ready := takesCredit
  turns.io.pop.ready := False
  turns.io.push.valid := False
  turns.io.push.payload := queue
  io.read.valid := False
  io.read.function := ring.context.function
  io.read.address := ring.descriptor(ring.fetched)
  io.read.bytes := ring.span(number).resized
  io.read.place := 0
  io.fetch.valid := False
  io.fetch.payload.queue := queue.resized
  io.fetch.epoch := epoch
  io.fetch.function := ring.context.function
  io.fetch.count := number.resized
  io.fetch.stride := ring.context.stride
  if (hasPush) {
    io.push.valid := False
    io.push.payload.queue := queue.resized
    io.push.epoch := epoch
    io.push.slot := (event === Event.credit) ? keeping.slot | io.slots.offer.slot
    io.slots.keep.valid := False
    io.slots.keep.payload.queue := queue.resized
    io.slots.keep.slot := io.slots.offer.slot
    io.slots.kept.queue := queue.resized
    io.slots.kept.slot := keeping.slot
    io.slots.claims := False
  }
  private def claim(): Unit = if (hasPush) io.slots.claims := event === Event.credit && keeping.is
  io.function := ring.context.function
  io.changed.valid := False
  io.changed.payload := queue.resized
  io.hold.held := False
  io.hold.state := ring

  val report = Reg(RingReport())
  val reporter = new RingReporter
  reporter.io.report.valid := False
  reporter.io.report.payload := report
  reporter.io.queue := queue.resized
  reporter.io.ring := ring
  reporter.io.entries := entries
  io.message << reporter.io.message
  io.raise << reporter.io.raise
  io.failure << reporter.io.failure

  val notices = new Notices(p.queues)
  notices.io.queue := fills ? filled.resize(place) | queue
  notices.io.clear := fills
  notices.io.next.ready := False
  notices.io.take := False
  notices.io.forget := False
  notices.io.add.valid := reporter.io.notice.valid && !report.direct
  notices.io.add.status := report.status
  notices.io.add.interrupt := report.interrupt
  io.notice.valid := reporter.io.notice.valid && report.direct
  io.notice.payload := reporter.io.notice.payload
  reporter.io.notice.ready := io.notice.ready || !report.direct
  io.forget.valid := notices.io.forget
  io.forget.payload := queue.resized

  /** The queue's interrupt is sent, if software has armed it, or else as soon as it does. */
  private def sendInterrupt(): Unit = {
    next.context.irqArm := False
    next.context.irqRequest := False
    report.interrupt := !(ring.context.noVfInterrupt && ring.context.function >= DmaParam.firstVf)
  }
  private def interrupt(): Unit = when(ring.context.irqEnable) {
    when(ring.context.irqArm)(sendInterrupt()) otherwise (next.context.irqRequest := True)
  }

  /** Stops the queue. */
  private def fail(kind: Int, bits: Bits): Unit = {
    next.context.error(kind) := True
    next.context.enable := False
    next.told := False
    nextEpoch := epoch + 1
    io.changed.valid := True
    when(ring.context.enable && !ring.context.errorSent) {
      next.context.errorSent := True
      report.status := ring.context.statusEnable
      interrupt()
    }
    report.error := True
    report.errorBits := bits
    report.message := True
    report.invalid := True
    report.failed := True
  }

  io.quiet := !turns.io.pop.valid && !notices.io.next.valid

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val read, look, held, measure, decide, act, settle, send = new State

    // The first that there is; notices have the second place every other time.
    val isDue = notices.io.next.valid && io.notice.ready
    val choices = Seq(
      (Event.doorbell, io.doorbell.valid, io.doorbell.payload.queue),
      (Event.hold, io.hold.queue.valid, io.hold.queue.payload),
      (Event.change, io.change.valid, io.change.payload.queue),
      (Event.notice, isDue && event =/= Event.notice, notices.io.next.payload),
      (Event.done, io.done.valid, io.done.done.queue),
      (Event.credit, io.credit.valid, io.credit.payload.queue),
      (Event.notice, isDue, notices.io.next.payload),
      (Event.turn, turns.io.pop.valid, turns.io.pop.payload)
    )
    idle.whenIsActive {
      for ((kind, isThere, of) <- choices.reverse) when(isThere) {
        event := kind
        queue := of.resized
      }
      when(choices.map(_._2).orR && !fills)(goto(read))
    }
    read.whenIsActive {
      turns.io.pop.ready := event === Event.turn
      notices.io.next.ready := event === Event.notice
      goto(look)
    }
    look.whenIsActive {
      ring := old
      epoch := oldEpoch
      val size = io.ringSizes(old.context.size)
      entries := (size >> 1 =/= 0) ? (size - 1) | U(1, 16 bits)
      when(event === Event.hold)(goto(held)) otherwise (goto(measure))
    }
    held.whenIsActive {
      io.hold.held := True
      when(io.change.valid) {
        event := Event.change
        goto(act)
      } elsewhen (!io.hold.queue.valid)(goto(idle))
    }
    measure.whenIsActive {
      // Posted by software: of a doorbell, what it adds; of a turn, up to the ring's end.
      val reached = (event === Event.doorbell) ? io.doorbell.pidx | ring.pidx
      added := distance(ring.pidx, reached)
      used := distance(ring.cidx, ring.pidx)
      val row = ((ring.pidx >= ring.fetched) ? ring.pidx | entries) - ring.fetched
      number := row.resized
      toRingEnd := ring.pidx < ring.fetched
      toEnd := entries.resize(17 bits) - ring.cidx
      isCurrent := io.done.done.epoch === epoch && ring.context.enable
      val untilStatus = io.statusInterval.resize(11 bits) - ring.frames
      val isDue = ring.frames + 1 >= io.statusInterval
      val reaches = ring.context.statusInterval && (isDue || untilStatus <= io.done.count)
      isInterval := reaches
      ended := io.done.count
      when(reaches)(ended := isDue ? U(1, DoneMerge.bits bits) | untilStatus.resize(DoneMerge.bits bits))
      refused := ring.context.wrong || entries < 2 || reached >= entries || ring.pidx >= entries || ring.cidx >= entries
      claim()
      if (hasPush) {
        val hasEnded = ring.cidx === ring.fetched && ring.pidx === ring.fetched
        val isOffered = io.slots.offer.complete && io.slots.offer.index === ring.fetched && hasEnded
        isFirst := (event === Event.doorbell) ? isOffered | (keeping.is && io.slots.isKept)
        behindFirst := (ring.fetched + 1 === entries) ? U(0, 16 bits) | (ring.fetched + 1)
      }
      goto(decide)
    }
    decide.whenIsActive {
      val limit = (ring.context.creditEnable && ring.credits < 16) ? ring.credits | U(16, 16 bits)
      nextFetched := toRingEnd ? U(0, 16 bits) | ring.pidx
      when(number > limit) {
        number := limit.resized
        nextFetched := ring.fetched + limit.resize(16 bits)
      }
      drains := used === ended && ring.pidx < entries && ring.cidx < entries
      nextCidx := (ended < toEnd) ? (ring.cidx + ended) | (ended - toEnd).resize(16 bits)
      when(used + added >= entries)(refused := True)
      // A context that is written with descriptors makes such a ring without a doorbell, which would be refused.
      val isNone = ring.context.wrong || ring.pidx >= entries || ring.fetched >= entries
      when(event === Event.turn && isNone)(number := 0)
      claim()
      if (hasPush) {
        val mayFetch = !ring.context.creditEnable || ring.credits =/= 0
        val may = (event === Event.doorbell) ? (added =/= 0 && mayFetch) | (io.credit.count =/= 0)
        pushes := isFirst && may && io.push.ready && io.isMaster
        keeps := isFirst && added =/= 0 && !mayFetch
      }
      takesDone := event === Event.done
      takesDoorbell := event === Event.doorbell
      takesCredit := event === Event.credit
      goto(act)
    }
    act.whenIsActive {
      claim()
      report.added := added.resized
      report.newPidx := ring.pidx
      Seq(report.status, report.message, report.error, report.interrupt).foreach(_ := False)
      report.invalid := False
      report.failed := False
      report.direct := io.notice.ready && !notices.io.next.valid
      goto(send)
      switch(event) {
        is(Event.change) {
          writes := True
          notices.io.forget := io.change.forgets
          next.credits := io.change.credits
          when(!io.change.creditsAlone) {
            goto(settle)
            next.context := io.change.context
            next.pidx := io.change.pidx
            next.cidx := io.change.cidx
            next.pending := io.change.pending
            next.fetched := io.change.cidx
            next.frames := 0
            next.told := False
            if (hasPush) nextKeeping.is := False
            nextEpoch := epoch + 1
            io.changed.valid := True
            report.message := ring.told
            report.invalid := True
            // Its turn is for whether there is work to do.
            when(io.change.context.enable && !ring.listed) {
              next.listed := True
              turns.io.push.valid := True
            }
          }
        }
        is(Event.done) {
          assert(ended =/= 0 && ended <= io.done.count, "more descriptors are taken than have ended, or none", FAILURE)
          when(isCurrent) {
            writes := True
            when(io.done.done.failed) {
              val malformed = io.done.done.malformed
              val ofDescriptor = if (isMemory) malformed && io.done.done.onDescriptor else malformed
              val ofPayload = B((1 << 20) | (1 << 2), 32 bits)
              when(ofDescriptor)(fail(0, B(1 << 4, 32 bits))) elsewhen (io.done.done.onDescriptor) {
                fail(0, B((1 << 21) | (1 << 2), 32 bits))
              } otherwise fail(1, if (isMemory) malformed ? B(1 << 20, 32 bits) | ofPayload else ofPayload)
            } otherwise {
              next.cidx := nextCidx
              next.frames := ring.frames + ended
              when(drains)(next.pending := False)
              when(drains || isInterval) {
                next.frames := 0
                report.status := ring.context.statusEnable
                interrupt()
              }
            }
          }
        }
        is(Event.doorbell) {
          // One that was taken back before has no effect.
          when(ring.context.enable && isRung) {
            writes := True
            report.newPidx := io.doorbell.pidx
            when(refused)(fail(0, B(1 << 4, 32 bits))) otherwise {
              next.pidx := io.doorbell.pidx
              report.message := added =/= 0
              when(added =/= 0) {
                next.told := True
                next.pending := True
              }
              when(io.doorbell.arm) {
                next.context.irqArm := True
                when(ring.context.irqRequest && ring.context.irqEnable)(sendInterrupt())
              }
              when(!ring.listed) {
                next.listed := True
                turns.io.push.valid := True
              }
              if (hasPush) {
                nextKeeping.is := keeps
                nextKeeping.slot := io.slots.offer.slot
                io.slots.keep.valid := keeps
                when(pushes) {
                  io.push.valid := True
                  next.fetched := behindFirst
                  when(ring.context.creditEnable)(next.credits := ring.credits - 1)
                }
              }
            }
          }
        }
        is(Event.credit) {
          when(ring.context.enable && ring.context.creditEnable) {
            writes := True
            next.credits := ring.credits +| io.credit.count
            if (hasPush) when(pushes) {
              io.push.valid := True
              next.fetched := behindFirst
              next.credits := (ring.credits +| io.credit.count) - 1
              nextKeeping.is := False
            }
            when(!ring.listed) {
              next.listed := True
              turns.io.push.valid := True
            }
          }
        }
        is(Event.notice) {
          notices.io.take := True
          report.status := notices.io.owed.status
          report.interrupt := notices.io.owed.interrupt
          report.direct := True
        }
        is(Event.turn) {
          when(number === 0 || !ring.context.enable) {
            writes := True
            next.listed := False
          } otherwise {
            // Both take it, or none.
            val both = io.read.ready && io.fetch.ready
            io.read.valid := io.fetch.ready
            io.fetch.valid := io.read.ready
            writes := both
            next.fetched := nextFetched
            if (hasPush) nextKeeping.is := False
            when(ring.context.creditEnable)(next.credits := ring.credits - number.resize(16 bits))
            // While reads wait, other events do not.
            turns.io.push.valid := True
          }
        }
      }
      when(writes)(ring := next)
    }
    settle.whenIsActive(goto(send)) // until the new epoch is seen where frames begin
    send.whenIsActive {
      reporter.io.report.valid := True
      when(reporter.io.report.ready) {
        io.change.ready := event === Event.change
        goto(idle)
      }
    }
  }
}
