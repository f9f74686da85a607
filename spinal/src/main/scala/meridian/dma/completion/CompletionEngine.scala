// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import meridian.dma.completion.CompletionRow.{Bell, Mode}
import meridian.dma.completion.{CompletionEvent => Event}
import meridian.dma.descriptor.{ErrorEvent, ErrorTree, FirstOf, Notices, Owed, RingEpoch}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The completion rings of all queues: entries with their colour, status entries and interrupts, when
  * [[CompletionDecision]] says. It has the one copy of the contexts.
  *
  * An event takes 5 cycles; one more for a change and for what is owed, two more for an error or an interrupt, and three for
  * both. Doorbells come first, then contexts, timers and completions. A doorbell or a completion that follows one of these
  * is read while that one is told, so it takes 4. Entry, status entry and interrupt leave in this order, behind what came
  * before.
  *
  * A completion waits until there is room for actions, and no other event does. So a doorbell is taken within 16 cycles,
  * whatever RQ and the port of interrupts do, and what the error registers take longer than a cycle for an error. Doorbells
  * are to be 8 cycles apart or more, as accesses are, so that other events have their turns. A queue is held 2 or 3
  * cycles after the event before; its change may come then, and ends 2 cycles later.
  *
  * While there is no room, what a ring is to tell is owed. It is told with the ring's next event when there is room, or as an
  * event of its own, in turn with timers and completions: one status entry as the ring is then, and one interrupt. A change
  * forgets what its ring owes, and what is told already and has not left.
  *
  * After reset no event is taken until all rings are empty, a cycle for each.
  */
class CompletionEngine(p: DmaParam) extends Component {
  val io = new Bundle {
    val hold = slave(CompletionHold())
    val change = slave(Stream(CompletionChange()))
    val add = slave(Stream(CompletionAdd()))
    val queue = out(DmaParam.queueType()) // whose epoch is asked for
    val epoch = in(RingEpoch()) // of its ring of buffers now
    val bell = slave(Stream(CompletionBell())) // it may be taken back
    val ringSizes = in Vec (UInt(16 bits), 16) // entries, with the status entry
    val thresholds = in Vec (UInt(16 bits), 16)
    val timers = in Vec (UInt(16 bits), 16) // in ticks
    val tick = in UInt (16 bits) // in cycles
    val action = master(Stream(RingAction())) // taken whenever there is room
    val hasRoom = in Bool () // see RingActions
    val forget = master(Flow(DmaParam.queueType())) // actions of this queue are not to leave any more
    val raise = master(Stream(ErrorEvent()))
    val idle = out Bool () // no ring owes anything, and no completion is under way
    val timersIdle = out Bool () // no timer has ended that was not told
    val skip = in UInt (32 bits) // see TimerList, as the next
    val quietCycles = out UInt (32 bits)
  }

  val place = log2Up(p.queues)
  val rings = Mem(CompletionState(), p.queues)
  val filled = RegInit(U(0, place + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  val event = Reg(Event())
  val queue = Reg(UInt(place bits))
  val choice = UInt(place bits)
  choice := queue
  val kind = Event()
  kind := event
  val old = rings.readSync(choice)
  val ring = Reg(CompletionState())
  val row = ring.row
  private def of(at: (Int, Int)): UInt = CompletionRow(row, at)
  private def bell(at: (Int, Int)): UInt = CompletionRow(io.bell.value, at)

  val entries = Reg(UInt(16 bits)) // without the status entry
  val unread, moved = Reg(UInt(17 bits))
  val threshold, ticks = Reg(UInt(16 bits))
  val mode = Reg(UInt(3 bits)) // behind the event
  val cycles = Reg(UInt(32 bits))
  val measure = Reg(CompletionMeasure())
  val isCurrent = Reg(Bool())
  val entryAddress, statusAddress = Reg(UInt(64 bits))
  val noticed = RegInit(False) // of timers, completions and notices, one of the last was the last event
  val direct = Reg(Bool()) // there is room for all that the event tells
  val taken = Reg(CompletionAdd()) // the completion of the event
  val isTaken = RegInit(False)
  // The event that was decided last, which is told while the next one is read.
  val toldQueue = Reg(UInt(place bits))
  val toldDirect = Reg(Bool())
  val chosen = Reg(Bool()) // the next one was chosen while this one was decided
  val isSame = Reg(Bool()) // and is of the same ring
  val sends = Reg(Owed())
  val raises = Reg(Bool())
  val error = Reg(UInt(4 bits))
  val statusWord = Reg(Bits(64 bits))

  private def distance(from: UInt, to: UInt): UInt =
    ((to >= from) ? (to - from).resize(17 bits) | (to.resize(17 bits) + entries - from)).resize(17 bits)

  // What is taken in `act` and in `tell`, which follow `decide`.
  val takesBell, takesAdded, takesTimer, takesChange = RegInit(False)
  Seq(takesBell, takesAdded, takesTimer, takesChange).foreach(_ := False)

  val decision = new CompletionDecision
  decision.io.event := event
  decision.io.ring := ring
  decision.io.measure := measure
  decision.io.row := io.change.row
  decision.io.bell := io.bell.value
  decision.io.isLive := (event === Event.bell) ? RegNext(io.bell.valid) | isCurrent
  decision.io.failed := taken.error
  val writes = False
  rings.write(
    address = fills ? filled.resize(place) | queue,
    data = fills ? CompletionState().getZero | decision.io.next,
    enable = fills || writes
  )

  /** The completion that an event adds to its ring, in the cycle in which it does. */
  val added = Flow(CompletionAdd())
  added.valid := takesAdded
  added.payload := taken

  val operated = CombInit(queue) // whose actions and notices these are
  io.change.ready := takesChange
  io.add.ready := False
  io.bell.ready := takesBell
  io.hold.held := False
  io.hold.row := row
  io.queue := io.add.payload.queue
  io.forget.valid := False
  io.forget.payload := queue.resized
  io.raise.valid := False
  io.raise.leaf := ErrorTree.c2h
  io.raise.bits := (B(1, 32 bits) |<< error).resize(32 bits)
  io.action.valid := False
  io.action.payload.queue := operated.resized
  io.action.function := of(CompletionRow.function)
  io.action.interrupt := False
  io.action.address := entryAddress
  io.action.data := taken.data
  io.action.data(1) := row(CompletionRow.colour)
  io.action.data(2) := taken.error
  io.action.size := of(CompletionRow.entrySize)
  io.action.vector := of(CompletionRow.vector)
  io.action.aggregate := row(CompletionRow.aggregate)
  when(of(CompletionRow.entrySize) === 0)(io.action.data(127 downto 64) := 0)

  val timerList = new TimerList(p)
  timerList.io.command.valid := False
  timerList.io.command.payload.queue := queue.resized
  timerList.io.command.run := decision.io.starts
  timerList.io.command.cycles := cycles
  timerList.io.expired.ready := takesTimer
  timerList.io.mayCome := False
  io.timersIdle := timerList.io.idle
  timerList.io.skip := io.skip
  io.quietCycles := timerList.io.quietCycles

  val notices = new Notices(p.queues)
  notices.io.queue := fills ? filled.resize(place) | operated
  notices.io.clear := fills
  notices.io.next.ready := False
  notices.io.take := False
  notices.io.forget := False
  notices.io.add.valid := False
  notices.io.add.payload := sends
  io.idle := !notices.io.next.valid && !isTaken

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val look, held, measured, decide, act, tell, failed, interrupt = new State

    // The first that there is. Notices take turns with timers and completions.
    val isDue = notices.io.next.valid && io.hasRoom
    val choices = Seq(
      (Event.bell, io.bell.valid, io.bell.payload.queue),
      (Event.hold, io.hold.queue.valid, io.hold.queue.payload),
      (Event.change, io.change.valid, io.change.payload.queue),
      (Event.notice, isDue && !noticed, notices.io.next.payload),
      (Event.timer, timerList.io.expired.valid, timerList.io.expired.payload),
      (Event.add, io.add.valid && io.hasRoom, io.add.payload.queue),
      (Event.notice, isDue, notices.io.next.payload)
    )
    private def choose(from: Seq[(SpinalEnumElement[Event.type], Bool, UInt)]): Unit = {
      for ((what, isThere, _) <- from.reverse) when(isThere)(kind := what)
      when(from.map(_._2).orR)(choice := FirstOf(from.map { case (_, isThere, of) => isThere -> of }, place bits))
    }
    private def take(): Unit = {
      event := kind
      queue := choice
      direct := io.hasRoom
    }
    private def start(mayBegin: Bool): Unit = {
      take()
      when(mayBegin && choices.map(_._2).orR && !fills)(goto(look))
    }

    /** The same while an event is decided: only what no outcome of it takes back, and what nothing else goes before. */
    private def chooseNext(): Unit = {
      val isBell = event === Event.bell
      val next = Seq(
        (Event.bell, io.bell.valid && !isBell, io.bell.payload.queue),
        (Event.add, io.add.valid && io.hasRoom, io.add.payload.queue)
      )
      val others = io.hold.queue.valid || io.change.valid || timerList.io.expired.valid || (isDue && !noticed)
      choose(next)
      isSame := next.map { case (_, isThere, of) => isThere -> (of.resize(place) === queue) }.reverse.foldLeft(False) {
        case (before, (isThere, isIt)) => isThere ? isIt | before
      }
      when((isBell || event === Event.add) && !others) {
        chosen := next.map(_._2).orR
        take()
      }
    }
    // One multiplexer chooses the ring, because its size is looked up behind it in the same cycle.
    val isNext = RegInit(False) // an event may be read that was chosen while the one before was decided
    isNext := False
    val found = CombInit(old)
    when(isNext && isSame)(found := ring)
    private def read(): Unit = {
      notices.io.next.ready := event === Event.notice
      when(event === Event.notice)(noticed := True)
      when(event === Event.timer || event === Event.add)(noticed := False)
      io.add.ready := event === Event.add
      isTaken := event === Event.add
      taken := io.add.payload
      ring := found
      val size = io.ringSizes(CompletionRow(found.row, CompletionRow.size))
      entries := (size >> 1 =/= 0) ? (size - 1) | U(1, 16 bits)
      isCurrent := io.epoch === io.add.epoch
      when(event === Event.hold)(goto(held)) otherwise (goto(measured))
    }
    idle.whenIsActive {
      choose(choices)
      start(True)
    }
    look.whenIsActive(read())
    held.whenIsActive {
      io.hold.held := True
      when(io.change.valid) {
        event := Event.change
        goto(act)
      } elsewhen (!io.hold.queue.valid)(goto(idle))
    }
    measured.whenIsActive {
      val (cidx, pidx) = (of(CompletionRow.cidx), of(CompletionRow.pidx))
      val updates = event === Event.bell && row(CompletionRow.fullUpdate)
      unread := distance(cidx, pidx)
      moved := distance(cidx, bell(Bell.cidx))
      threshold := io.thresholds(updates ? bell(Bell.counter) | of(CompletionRow.counter))
      ticks := io.timers(updates ? bell(Bell.timer) | of(CompletionRow.timer))
      mode := updates ? bell(Bell.mode) | of(CompletionRow.mode)
      measure.wraps := pidx + 1 >= entries
      measure.nextPidx := (pidx + 1 >= entries) ? U(0, 16 bits) | pidx + 1
      // Its entry would be outside of the ring.
      measure.isWrong := (event === Event.bell && bell(Bell.cidx) >= entries) || cidx >= entries || pidx >= entries
      val base = row(CompletionRow.base._1, CompletionRow.base._2 bits) ## B(0, 6 bits)
      def offset(index: UInt): UInt = (index << 3).resize(23 bits) |<< of(CompletionRow.entrySize)
      entryAddress := base.asUInt + offset(pidx)
      statusAddress := base.asUInt + offset(entries)
      goto(decide)
    }
    decide.whenIsActive {
      measure.isFull := measure.isWrong || (!row(CompletionRow.noOverflowCheck) && unread + 1 >= entries)
      when(moved > unread)(measure.isWrong := True)
      val left = CombInit(unread)
      when(event === Event.add)(left := (unread + 1 === entries) ? U(0, 17 bits) | unread + 1)
      when(event === Event.bell)(left := unread - moved)
      measure.isRead := (event === Event.bell) ? (unread === moved) | (unread === 0)
      val isTimed = mode === Mode.userTimer || mode === Mode.userTimerCount
      val isCounted = (mode === Mode.userCount || mode === Mode.userTimerCount) && left >= threshold
      measure.isTimed := isTimed
      measure.addTriggers := mode === Mode.every || isCounted
      measure.bellTriggers := mode =/= Mode.disabled && (!isTimed || isCounted)
      cycles := ticks * io.tick
      takesBell := event === Event.bell
      takesAdded := event === Event.add
      takesTimer := event === Event.timer
      goto(act)
    }
    act.whenIsActive {
      isTaken := False
      timerList.io.mayCome := True
      timerList.io.command.valid := decision.io.starts || decision.io.stops
      io.action.valid := decision.io.entry
      writes := decision.io.writes
      ring := decision.io.next
      statusWord := decision.io.next.word
      raises := decision.io.raises
      error := decision.io.error
      sends := decision.io.owed
      takesChange := event === Event.change
      when(event === Event.change) {
        notices.io.forget := True
        io.forget.valid := True
      } elsewhen (direct) {
        // What the ring owes is told with it.
        sends.status := decision.io.owed.status || notices.io.owed.status
        sends.interrupt := decision.io.owed.interrupt || notices.io.owed.interrupt
        notices.io.forget := event =/= Event.notice
      }
      notices.io.take := event === Event.notice
      toldQueue := queue
      toldDirect := direct
      chosen := False
      isNext := True
      chooseNext()
      goto(tell)
    }
    tell.whenIsActive {
      choose(choices)
      operated := toldQueue
      val status = sends.status && row(CompletionRow.statusEnable)
      io.action.valid := status && toldDirect
      io.action.address := statusAddress
      io.action.data := B(0, 64 bits) ## statusWord
      io.action.size := 0
      val adds = (status || sends.interrupt) && !toldDirect
      notices.io.add.valid := adds
      notices.io.add.status := status
      // Behind an error or an interrupt the next event is chosen anew.
      when(raises)(goto(failed)) elsewhen (sends.interrupt && toldDirect)(goto(interrupt)) elsewhen (chosen)(
        read()
      ) otherwise {
        goto(idle)
        start(event =/= Event.change && !adds)
      }
    }
    failed.whenIsActive {
      io.raise.valid := True
      when(io.raise.ready) {
        when(sends.interrupt && toldDirect)(goto(interrupt)) otherwise (goto(idle))
      }
    }
    interrupt.whenIsActive {
      operated := toldQueue
      io.action.valid := True
      io.action.interrupt := True
      // Its own interrupt shows in the state that an interrupt ring's entry tells.
      io.action.data := B(0, 64 bits) ## ring.wordWith(of(CompletionRow.irqState))
      goto(idle)
    }
  }
}
