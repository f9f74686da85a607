// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.{DmaParam, InterruptRequest}
import meridian.dma.context.{ErrorEvent, ErrorTree}
import meridian.dma.descriptor._
import meridian.dma.pcie.ReadCommand
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The rings of buffers of all C2H queues: it takes doorbells, fetches descriptors ahead for queues that have frames, and
  * gives each frame the buffers that it needs, in the order of the ring.
  *
  * A frame whose queue is not there, or which needs more buffers than 31 or than its ring has, is dropped. One whose ring has
  * too few posted waits, and the stream behind it. CIDX moves when a frame gets its buffers.
  *
  * One event at a time, 5 cycles, and 3 more for each buffer of a frame behind its first: contexts first, then descriptors
  * that have come, doorbells, turns to fetch and frames. A context's change ends when nothing is written to buffers of the
  * queue's past any more; it waits for RQ.
  *
  * After reset no event is taken until all rings are empty, a cycle for each.
  */
class BufferEngine(p: DmaParam) extends Component {
  val io = new Bundle {
    val hold = slave(RingHold())
    val change = slave(Stream(RingChange()))
    val prefetch = slave(Flow(PrefetchWrite()))
    val doorbell = slave(Stream(RingDoorbell()))
    val ringSizes = in Vec (UInt(16 bits), 16) // entries, with the status entry
    val bufferSizes = in Vec (UInt(17 bits), 16)
    val frame = slave(Stream(FrameHeader()))
    val read = master(Stream(ReadCommand()))
    val fetch = master(Stream(CacheFetch())) // beside each read
    val arrival = slave(Stream(CacheArrival()))
    val cacheQueue = out(DmaParam.queueType())
    val cachePlace = out UInt (DescriptorCache.bits bits)
    val address = in UInt (64 bits) // of the buffer there, a cycle later
    val grant = master(Stream(BufferGrant()))
    val mayGrant = in Bool () // there is room for the buffers of a frame
    val message = master(Stream(QueueMessage()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val interrupt = master(Stream(InterruptRequest()))
    val issued, left = in UInt (8 bits) // see PayloadWriter
    val queues = in Vec (DmaParam.queueType(), 2) // whose epochs are asked for
    val epochs = out Vec (RingEpoch(), 2)
  }

  val place = log2Up(p.queues)
  val rings = Mem(C2hRing(), p.queues)
  val epochs = Mem(RingEpoch(), p.queues)
  val prefetches = Mem(PrefetchContext(), p.queues)
  prefetches.write(io.prefetch.payload.queue.resize(place), io.prefetch.context, io.prefetch.valid)
  val turns = StreamFifo(UInt(place bits), p.queues)
  for ((queue, epoch) <- io.queues.zip(io.epochs)) epoch := epochs.readAsync(queue.resize(place))

  val filled = RegInit(U(0, place + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  object Event extends SpinalEnum {
    val hold, change, arrival, doorbell, turn, frame = newElement()
  }
  val event = Reg(Event())
  val queue = Reg(UInt(place bits))
  val ring = Reg(C2hRing())
  val epoch = Reg(RingEpoch())
  val prefetch = Reg(PrefetchContext())
  val size = Reg(UInt(17 bits)) // of a buffer
  val entries = Reg(UInt(16 bits)) // without the status entry
  val added, used = Reg(UInt(17 bits))
  val number = Reg(UInt(16 bits)) // descriptors in a row that may be fetched
  val fetches = Reg(UInt(5 bits)) // of those, in this turn
  val refused, hasMore = Reg(Bool())
  val need, given = Reg(UInt(6 bits)) // buffers of a frame
  val rest = Reg(UInt(16 bits)) // bytes of it
  val waits = RegInit(False) // the frame cannot be served before another event of its queue
  val writes = False
  val choice = UInt(place bits)
  choice := queue
  val old = rings.readSync(choice)
  val oldEpoch = epochs.readAsync(queue)
  val oldPrefetch = prefetches.readAsync(queue)
  val next = C2hRing()
  val nextEpoch = RingEpoch()
  next := ring
  nextEpoch := epoch
  rings.write(fills ? filled.resize(place) | queue, fills ? C2hRing().getZero | next, fills || writes)
  epochs.write(fills ? filled.resize(place) | queue, fills ? U(0, 16 bits) | nextEpoch, fills || writes)

  private def distance(from: UInt, to: UInt): UInt =
    ((to >= from) ? (to - from).resize(17 bits) | (to.resize(17 bits) + entries - from)).resize(17 bits)

  Seq(io.change, io.arrival, io.doorbell, io.frame).foreach(_.ready := False)
  turns.io.pop.ready := False
  turns.io.push.valid := False
  turns.io.push.payload := queue
  io.read.valid := False
  io.read.function := ring.context.function
  io.read.address := ring.context.base + (ring.fetched << 3)
  io.read.bytes := (fetches << 3).resized
  io.fetch.valid := False
  io.fetch.payload.queue := queue.resized
  io.fetch.epoch := epoch
  io.fetch.place := ring.head + (ring.cached + ring.fetching).resize(DescriptorCache.bits bits)
  io.fetch.count := fetches
  io.cacheQueue := queue.resized
  io.cachePlace := ring.head + given.resize(DescriptorCache.bits bits)
  io.hold.held := False
  io.hold.state.allowOverride()
  io.hold.state := RingState().getZero
  io.hold.state.context := ring.context
  io.hold.state.pidx := ring.pidx
  io.hold.state.cidx := ring.cidx
  io.hold.state.pending := ring.pending
  io.grant.valid := False
  io.grant.payload.queue := io.frame.payload.queue
  io.grant.epoch := epoch
  io.grant.function := ring.context.function
  io.grant.address := io.address
  io.grant.bytes := (rest <= size) ? rest | size.resize(16 bits)
  io.grant.discard := False
  io.grant.failed := False
  io.grant.last := rest <= size

  val report = Reg(BufferReport())
  val reporter = new BufferReporter
  reporter.io.report.valid := False
  reporter.io.report.payload := report
  reporter.io.queue := queue.resized
  reporter.io.ring := ring
  io.message << reporter.io.message
  io.raise << reporter.io.raise
  io.failure << reporter.io.failure
  io.interrupt << reporter.io.interrupt

  private def sendInterrupt(): Unit = {
    next.context.irqArm := False
    next.context.irqRequest := False
    report.interrupt := !(ring.context.noVfInterrupt && ring.context.function >= DmaParam.firstVf)
  }

  /** Stops the queue; a frame that waits for its descriptors gets a completion that says so. */
  private def fail(bits: Bits, onFetch: Boolean): Unit = {
    writes := True
    next.context.error(0) := True
    next.context.enable := False
    next.told := False
    when(ring.context.enable && !ring.context.errorSent) {
      next.context.errorSent := True
      when(ring.context.irqEnable) {
        when(ring.context.irqArm)(sendInterrupt()) otherwise (next.context.irqRequest := True)
      }
    }
    report.error := True
    report.errorBits := bits
    report.message := True
    report.invalid := True
    report.failed := True
    if (onFetch) {
      report.streamError := True
      report.streamBits := 1 << ErrorTree.descriptorResponse
      next.owes := io.frame.valid && io.frame.payload.queue === queue
    }
  }

  /** Drops the frame. */
  private def refuse(): Unit = {
    io.grant.valid := True
    io.grant.bytes := (io.frame.length === 0) ? U(1, 16 bits) | io.frame.length
    io.grant.discard := True
    io.grant.last := True
    io.frame.ready := True
  }

  /** The ring waits for its turn. */
  private def list(): Unit = {
    next.listed := True
    turns.io.push.valid := True
  }
  val isRoomy = ring.free >= DescriptorCache.fetchLimit
  val target = Reg(UInt(8 bits))
  val pause = Reg(UInt(3 bits))

  // Whatever else happens to a frame's queue may be what it waits for.
  private def wake(): Unit = when(io.frame.payload.queue === queue)(waits := False)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val look, held, measure, decide, act, again, flush, send = new State

    idle.whenIsActive {
      val takesTurn = turns.io.pop.valid && io.read.ready && io.fetch.ready
      val takesFrame = io.frame.valid && !waits && io.mayGrant
      when(io.hold.queue.valid) {
        event := Event.hold
        choice := io.hold.queue.payload.resized
      } elsewhen (io.change.valid) {
        event := Event.change
        choice := io.change.payload.queue.resized
      } elsewhen (io.arrival.valid) {
        event := Event.arrival
        choice := io.arrival.payload.queue.resized
      } elsewhen (io.doorbell.valid) {
        event := Event.doorbell
        choice := io.doorbell.payload.queue.resized
      } elsewhen (takesTurn) {
        event := Event.turn
        choice := turns.io.pop.payload
        turns.io.pop.ready := !fills
      } otherwise {
        event := Event.frame
        choice := io.frame.payload.queue.resized
      }
      queue := choice
      val any =
        io.hold.queue.valid || io.change.valid || io.arrival.valid || io.doorbell.valid || takesTurn || takesFrame
      when(any && !fills)(goto(look))
    }
    look.whenIsActive {
      ring := old
      epoch := oldEpoch
      prefetch := oldPrefetch
      val size = io.ringSizes(old.context.size)
      entries := (size > 1) ? (size - 1) | U(1, 16 bits)
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
      size := io.bufferSizes(prefetch.size)
      val reached = (event === Event.doorbell) ? io.doorbell.pidx | ring.pidx
      added := distance(ring.pidx, reached)
      used := distance(ring.cidx, ring.pidx)
      number := ((ring.pidx >= ring.fetched) ? ring.pidx | entries) - ring.fetched
      when(ring.pidx >= entries || ring.fetched >= entries)(number := 0)
      hasMore := ring.pidx =/= ring.fetched
      refused := ring.context.wrong || entries < 2 || reached >= entries || ring.pidx >= entries || ring.cidx >= entries
      rest := io.frame.length
      need := 1
      given := 0
      goto(decide)
    }
    decide.whenIsActive {
      when(used + added >= entries)(refused := True)
      val room = (ring.free >= DescriptorCache.fetchLimit) ? U(DescriptorCache.fetchLimit, 6 bits) | ring.free
      fetches := ((number < room) ? number | room.resize(16 bits)).resized
      // A frame's buffers are counted, one a cycle, up to one too many.
      when(event === Event.frame && rest > size && size =/= 0 && !need.msb) {
        rest := (rest - size).resized
        need := need + 1
      } otherwise {
        rest := io.frame.length
        goto(act)
      }
    }
    act.whenIsActive {
      report.added := added.resized
      report.newPidx := ring.pidx
      Seq(report.message, report.error, report.streamError, report.interrupt).foreach(_ := False)
      report.invalid := False
      report.failed := False
      goto(send)
      switch(event) {
        is(Event.change) {
          writes := True
          next.context := io.change.context
          next.pidx := io.change.pidx
          next.cidx := io.change.cidx
          next.pending := io.change.pending
          next.fetched := io.change.cidx
          Seq(next.told, next.active, next.owes).foreach(_ := False)
          next.head := 0
          next.cached := 0
          next.fetching := 0
          nextEpoch := epoch + 1
          report.message := ring.told
          report.invalid := True
          pause := 0
          wake()
          goto(flush)
        }
        is(Event.arrival) {
          io.arrival.ready := True
          when(io.arrival.epoch === epoch && ring.context.enable) {
            wake()
            when(io.arrival.failed)(fail(B((1 << 21) | (1 << 2), 32 bits), onFetch = true)) otherwise {
              writes := True
              next.cached := ring.cached + io.arrival.count
              next.fetching := ring.fetching - io.arrival.count
            }
          }
        }
        is(Event.doorbell) {
          io.doorbell.ready := True
          // One that is taken back meanwhile has no effect.
          when(ring.context.enable && io.doorbell.valid) {
            wake()
            writes := True
            report.newPidx := io.doorbell.pidx
            when(refused)(fail(B(1 << 4, 32 bits), onFetch = false)) otherwise {
              next.pidx := io.doorbell.pidx
              report.message := added =/= 0
              when(added =/= 0) {
                next.told := True
                next.pending := True
                when(ring.active && !ring.listed && isRoomy)(list())
              }
              when(io.doorbell.arm) {
                next.context.irqArm := True
                when(ring.context.irqRequest && ring.context.irqEnable)(sendInterrupt())
              }
            }
          }
        }
        is(Event.turn) {
          writes := True
          next.listed := False
          when(fetches =/= 0 && ring.context.enable) {
            io.read.valid := True
            io.fetch.valid := True
            val end = ring.fetched + fetches
            val after = (end === entries) ? U(0, 16 bits) | end
            next.fetched := after
            next.fetching := ring.fetching + fetches
            when(after =/= ring.pidx && ring.free - fetches >= DescriptorCache.fetchLimit)(list())
          }
        }
        is(Event.frame) {
          val isGone = io.frame.payload.queue >= p.queues || !ring.context.enable || !prefetch.valid || size === 0
          val isLong = need.msb || need >= entries
          when(isGone || io.frame.length === 0) {
            refuse()
            when(ring.owes && io.frame.payload.queue < p.queues) {
              io.grant.failed := True
              writes := True
              next.owes := False
            }
          } elsewhen (isLong) {
            refuse()
            report.streamError := True
            report.streamBits := 1 << ErrorTree.descriptorCount
          } elsewhen (used < need) {
            waits := True
          } elsewhen (ring.cached < need) {
            waits := True
            writes := True
            next.active := True
            when(!ring.listed) {
              // There is nothing to fetch, though it was posted: the table of ring sizes is another.
              when(number === 0 && ring.fetching === 0)(fail(B(1 << 4, 32 bits), onFetch = true)) elsewhen (
                number =/= 0
              )(list())
            }
            when(number === 0 && ring.fetching === 0 && !ring.listed)(waits := False)
          } otherwise {
            io.grant.valid := True
            rest := (rest - size).resized
            given := given + 1
            goto(again)
            when(rest <= size) {
              goto(send)
              io.frame.ready := True
              writes := True
              next.head := ring.head + need.resize(DescriptorCache.bits bits)
              next.cached := ring.cached - need
              val end = ring.cidx +^ need
              val cidx = ((end >= entries) ? (end - entries) | end).resize(16 bits)
              next.cidx := cidx
              when(cidx === ring.pidx)(next.pending := False)
              val free = ring.free + need
              when(hasMore && !ring.listed && free >= DescriptorCache.fetchLimit)(list())
            }
          }
        }
      }
      when(writes)(ring := next)
    }
    again.whenIsActive(goto(act)) // until the next address is there
    flush.whenIsActive {
      // Until PayloadWriter has seen the new epoch, and what it has begun has left.
      when(!pause.andR) {
        pause := pause + 1
        target := io.issued
      } elsewhen (!(io.left - target).msb) {
        goto(send)
      }
    }
    send.whenIsActive {
      reporter.io.report.valid := True
      when(reporter.io.report.ready) {
        io.change.ready := event === Event.change
        goto(idle)
      }
    }
  }

  // After the state machine: a prefetch context that is written in the cycle in which a frame begins to wait counts.
  when(io.prefetch.valid)(waits := False)
}
