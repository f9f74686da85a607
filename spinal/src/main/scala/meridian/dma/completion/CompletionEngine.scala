// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.{DmaParam, InterruptRequest}
import meridian.dma.completion.CompletionRow.{Bell, Error, IrqState, Mode}
import meridian.dma.context.{ErrorEvent, ErrorTree}
import meridian.dma.descriptor.RingEpoch
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The completion rings of all queues: entries with their colour, the status entry, the interrupt, and when the last two are
  * due, by the ring's trigger mode. It has the one copy of the contexts.
  *
  * Modes (PG302, "C2H Completion Trigger Modes"). Every: with each entry. User count: when the unread entries reach the
  * threshold. User timer: when the timer has run, which an entry starts. User timer and count: the sooner of both. In mode
  * user nothing but a doorbell triggers, as no stream has a wish of its own here.
  *
  * An update of CIDX that leaves entries unread writes the status entry and, if it arms the interrupt, sends it, in the timed
  * modes when the timer has run. A ring that is full, or whose CIDX is wrong, ends with an error.
  *
  * One event at a time: contexts first, then timers, doorbells and completions; 5 cycles, and one more each for a status
  * entry, an error and an interrupt. All leave in that order, behind what came before. A change ends when what the ring has
  * written before has left.
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
    val action = master(Stream(RingAction()))
    val mayAdd = in Bool () // see RingActions
    val issued, left = in UInt (8 bits)
    val raise = master(Stream(ErrorEvent()))
  }

  val place = log2Up(p.queues)
  val rows = Mem(Bits(CompletionRow.bits bits), p.queues)
  val filled = RegInit(U(0, place + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  object Event extends SpinalEnum {
    val hold, change, timer, bell, add = newElement()
  }
  val event = Reg(Event())
  val queue = Reg(UInt(place bits))
  val choice = UInt(place bits)
  choice := queue
  val old = rows.readSync(choice)
  val row = Reg(Bits(CompletionRow.bits bits))
  val next = CombInit(row)
  val writes = False
  rows.write(
    address = fills ? filled.resize(place) | queue,
    data = next.andMask(!fills),
    enable = fills || writes
  )
  private def of(at: (Int, Int)): UInt = CompletionRow(row, at)
  private def bell(at: (Int, Int)): UInt = CompletionRow(io.bell.value, at)
  private def set(at: (Int, Int), value: UInt): Unit = next(at._1, at._2 bits) := value.resize(at._2 bits).asBits

  val entries = Reg(UInt(16 bits)) // without the status entry
  val unread, moved = Reg(UInt(17 bits))
  val threshold, ticks = Reg(UInt(16 bits))
  val cycles = Reg(UInt(32 bits))
  val after = Reg(UInt(17 bits)) // unread entries after the event
  val nextPidx = Reg(UInt(16 bits))
  val wraps, isFull, isWrong, reaches, isCurrent = Reg(Bool())
  val mode = Reg(UInt(3 bits)) // after the event
  val entryAddress, statusAddress = Reg(UInt(64 bits))
  val sendsStatus, sendsInterrupt, raises = Reg(Bool())
  val raised = Reg(UInt(4 bits)) // bit of the error register
  val statusWord = Reg(Bits(64 bits))
  val target = Reg(UInt(8 bits))
  val isTimed = mode === Mode.userTimer || mode === Mode.userTimerCount
  val isCounted = (mode === Mode.userCount || mode === Mode.userTimerCount) && reaches
  val isVf = of(CompletionRow.function) >= DmaParam.firstVf

  private def distance(from: UInt, to: UInt): UInt =
    ((to >= from) ? (to - from).resize(17 bits) | (to.resize(17 bits) + entries - from)).resize(17 bits)

  Seq(io.change, io.add, io.bell).foreach(_.ready := False)
  io.hold.held := False
  io.hold.row := row
  io.queue := io.add.payload.queue
  io.raise.valid := False
  io.raise.leaf := ErrorTree.c2h
  io.raise.bits := (B(1, 32 bits) |<< raised).resize(32 bits)
  io.action.valid := False
  io.action.function := of(CompletionRow.function)
  io.action.interrupt := False
  io.action.address := entryAddress
  io.action.data := io.add.data
  io.action.data(1) := row(CompletionRow.colour)
  io.action.data(2) := io.add.error
  io.action.size := of(CompletionRow.entrySize)
  io.action.vector := of(CompletionRow.vector)
  io.action.aggregate := row(CompletionRow.aggregate)
  when(of(CompletionRow.entrySize) === 0)(io.action.data(127 downto 64) := 0)

  val list = new TimerList(p)
  list.io.command.valid := False
  list.io.command.payload.queue := queue.resized
  list.io.command.run := False
  list.io.command.cycles := cycles
  list.io.expired.ready := False

  private def startTimer(): Unit = when(!row(CompletionRow.timerRunning)) {
    next(CompletionRow.timerRunning) := True
    list.io.command.valid := True
    list.io.command.run := True
  }
  private def stopTimer(): Unit = {
    next(CompletionRow.timerRunning) := False
    list.io.command.valid := True
  }

  /** The status entry, and the interrupt unless it is being serviced. */
  private def trigger(irqEnable: Bool, irqState: UInt): Unit = {
    stopTimer()
    sendsStatus := True
    when(irqEnable && irqState =/= IrqState.serviced) {
      set(CompletionRow.irqState, U(IrqState.serviced, 2 bits))
      sendsInterrupt := !(row(CompletionRow.noVfInterrupt) && isVf)
    }
  }

  private def fail(error: Int): Unit = {
    set(CompletionRow.error, U(error, 2 bits))
    next(CompletionRow.valid) := False
    stopTimer()
    sendsStatus := True
    sendsInterrupt := row(CompletionRow.irqEnable) && !(row(CompletionRow.noVfInterrupt) && isVf)
  }

  /** What the status entry will say: all but the state of the interrupt, which is the one before it is sent. */
  private def noteStatus(irqState: UInt): Unit = statusWord :=
    B(0, 27 bits) ## CompletionRow(next, CompletionRow.error) ## irqState ## next(CompletionRow.colour) ##
      CompletionRow(next, CompletionRow.cidx) ## CompletionRow(next, CompletionRow.pidx)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val look, held, measure, decide, act, status, error, interrupt, flush = new State

    idle.whenIsActive {
      when(io.hold.queue.valid) {
        event := Event.hold
        choice := io.hold.queue.payload.resized
      } elsewhen (io.change.valid) {
        event := Event.change
        choice := io.change.payload.queue.resized
      } elsewhen (list.io.expired.valid) {
        event := Event.timer
        choice := list.io.expired.payload.resized
      } elsewhen (io.bell.valid) {
        event := Event.bell
        choice := io.bell.payload.queue.resized
      } otherwise {
        event := Event.add
        choice := io.add.payload.queue.resized
      }
      queue := choice
      val sends = list.io.expired.valid || io.bell.valid || io.add.valid
      when(!fills && (io.hold.queue.valid || io.change.valid || (sends && io.mayAdd)))(goto(look))
    }
    look.whenIsActive {
      row := old
      val size = io.ringSizes(CompletionRow(old, CompletionRow.size))
      entries := (size > 1) ? (size - 1) | U(1, 16 bits)
      isCurrent := io.epoch === io.add.epoch
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
      val (cidx, pidx) = (of(CompletionRow.cidx), of(CompletionRow.pidx))
      val updates = event === Event.bell && row(CompletionRow.fullUpdate)
      unread := distance(cidx, pidx)
      moved := distance(cidx, bell(Bell.cidx))
      threshold := io.thresholds(updates ? bell(Bell.counter) | of(CompletionRow.counter))
      ticks := io.timers(updates ? bell(Bell.timer) | of(CompletionRow.timer))
      mode := updates ? bell(Bell.mode) | of(CompletionRow.mode)
      wraps := pidx + 1 >= entries
      nextPidx := (pidx + 1 >= entries) ? U(0, 16 bits) | pidx + 1
      // Its entry would be outside of the ring.
      isWrong := (event === Event.bell && bell(Bell.cidx) >= entries) || cidx >= entries || pidx >= entries
      val base = row(CompletionRow.base._1, CompletionRow.base._2 bits) ## B(0, 6 bits)
      def offset(index: UInt): UInt = (index << 3).resize(23 bits) |<< of(CompletionRow.entrySize)
      entryAddress := base.asUInt + offset(pidx)
      statusAddress := base.asUInt + offset(entries)
      goto(decide)
    }
    decide.whenIsActive {
      isFull := isWrong || (!row(CompletionRow.noOverflowCheck) && unread + 1 >= entries)
      when(moved > unread)(isWrong := True)
      val left = CombInit(unread)
      when(event === Event.add)(left := (unread + 1 === entries) ? U(0, 17 bits) | unread + 1)
      when(event === Event.bell)(left := unread - moved)
      after := left
      reaches := left >= threshold
      cycles := ticks * io.tick
      goto(act)
    }
    act.whenIsActive {
      sendsStatus := False
      sendsInterrupt := False
      raises := False
      goto(status)
      switch(event) {
        is(Event.change) {
          writes := True
          next := io.change.row
          next(CompletionRow.timerRunning) := False
          list.io.command.valid := True
          target := io.issued
          goto(flush)
        }
        is(Event.timer) {
          list.io.expired.ready := True
          when(row(CompletionRow.timerRunning)) {
            writes := True
            next(CompletionRow.timerRunning) := False
            when(row(CompletionRow.valid) && after =/= 0) {
              trigger(row(CompletionRow.irqEnable), of(CompletionRow.irqState))
            }
          }
        }
        is(Event.bell) {
          io.bell.ready := True
          when(row(CompletionRow.valid) && io.bell.valid) {
            writes := True
            when(isWrong) {
              raises := True
              raised := ErrorTree.completionCidx
              fail(Error.badCidx)
            } otherwise {
              set(CompletionRow.cidx, bell(Bell.cidx))
              val irqEnable = row(CompletionRow.fullUpdate) ? io.bell.value(Bell.irqEnable) | row(
                CompletionRow.irqEnable
              )
              when(row(CompletionRow.fullUpdate)) {
                set(CompletionRow.counter, bell(Bell.counter))
                set(CompletionRow.timer, bell(Bell.timer))
                set(CompletionRow.mode, bell(Bell.mode))
                next(CompletionRow.statusEnable) := io.bell.value(Bell.statusEnable)
                next(CompletionRow.irqEnable) := io.bell.value(Bell.irqEnable)
              }
              val arms = io.bell.value(Bell.irqEnable) && irqEnable
              when(after === 0) {
                stopTimer()
                when(arms)(set(CompletionRow.irqState, U(IrqState.armed, 2 bits)))
              } otherwise {
                when(arms)(set(CompletionRow.irqState, U(IrqState.triggered, 2 bits)))
                when(arms && mode =/= Mode.disabled && (!isTimed || isCounted)) {
                  trigger(True, U(IrqState.triggered, 2 bits))
                } otherwise {
                  sendsStatus := True
                  when(isTimed)(startTimer())
                }
              }
            }
          }
        }
        is(Event.add) {
          io.add.ready := True
          when(row(CompletionRow.valid) && isCurrent) {
            writes := True
            when(isFull) {
              raises := True
              raised := ErrorTree.completionFull
              fail(Error.overflow)
            } otherwise {
              io.action.valid := True
              set(CompletionRow.pidx, nextPidx)
              next(CompletionRow.colour) := row(CompletionRow.colour) ^ wraps
              when(io.add.error)(fail(Error.badDescriptor)) elsewhen (mode === Mode.every || isCounted)(
                trigger(row(CompletionRow.irqEnable), of(CompletionRow.irqState))
              ) elsewhen (isTimed)(startTimer())
            }
          }
        }
      }
      // The state of the interrupt in the status entry is that before this interrupt.
      val arms = event === Event.bell && io.bell.value(Bell.irqEnable) &&
        (row(CompletionRow.fullUpdate) || row(CompletionRow.irqEnable))
      noteStatus((arms && !isWrong) ? U(IrqState.triggered, 2 bits) | of(CompletionRow.irqState))
      when(writes)(row := next)
    }
    status.whenIsActive {
      io.action.valid := sendsStatus && row(CompletionRow.statusEnable)
      io.action.address := statusAddress
      io.action.data := B(0, 64 bits) ## statusWord
      io.action.size := 0
      when(raises)(goto(error)) elsewhen (sendsInterrupt)(goto(interrupt)) otherwise (goto(idle))
    }
    error.whenIsActive {
      io.raise.valid := True
      when(io.raise.ready) {
        when(sendsInterrupt)(goto(interrupt)) otherwise (goto(idle))
      }
    }
    interrupt.whenIsActive {
      io.action.valid := True
      io.action.interrupt := True
      goto(idle)
    }
    flush.whenIsActive(when(!(io.left - target).msb) {
      io.change.ready := True
      goto(idle)
    })
  }
}
