// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import meridian.dma.completion.CompletionRow.{Bell, Error, IrqState}
import meridian.dma.descriptor.{ErrorTree, Owed}
import spinal.core._

/** What may happen to a completion ring: the last of these is that what it owes may be told. */
object CompletionEvent extends SpinalEnum {
  val bell, hold, change, timer, add, notice = newElement()
}

/** A completion ring as the engine knows it. */
case class CompletionState() extends Bundle {
  val row = Bits(CompletionRow.bits bits)
  // What a status entry says of the interrupt: its state behind the last event, before that event's own interrupt.
  val told = UInt(2 bits)

  /** The status entry. */
  def word: Bits = wordWith(told)

  /** The same, with the interrupt in another state. */
  def wordWith(interrupt: UInt): Bits =
    B(0, 27 bits) ## CompletionRow(row, CompletionRow.error) ## interrupt ## row(CompletionRow.colour) ##
      CompletionRow(row, CompletionRow.cidx) ## CompletionRow(row, CompletionRow.pidx)
}

/** What an event finds at a ring. */
case class CompletionMeasure() extends Bundle {
  val isRead = Bool() // no entry is unread then
  // By the mode behind the event: there is a timer; a new entry triggers, or an update of CIDX that leaves entries unread.
  val isTimed, addTriggers, bellTriggers = Bool()
  val nextPidx = UInt(16 bits)
  val wraps = Bool() // to the ring's first place
  val isFull = Bool() // there is no place for an entry
  val isWrong = Bool() // there is no such CIDX
}

/** What an event does to a ring, in the same cycle.
  *
  * Modes (PG302, "C2H Completion Trigger Modes"). Every: with each entry. User count: when the unread entries reach the
  * threshold. User timer: when the timer has run, which an entry starts. User timer and count: the sooner of both. In mode
  * user nothing but a doorbell triggers, as no stream has a wish of its own here.
  *
  * An update of CIDX that leaves entries unread writes the status entry and, if it arms the interrupt, sends it, in the timed
  * modes when the timer has run. A ring that is full, or whose CIDX is wrong, ends with an error.
  */
class CompletionDecision extends Component {
  val io = new Bundle {
    val event = in(CompletionEvent())
    val ring = in(CompletionState())
    val measure = in(CompletionMeasure())
    val row = in Bits (CompletionRow.bits bits) // of a change
    val bell = in Bits (32 bits)
    val isLive = in Bool () // the doorbell was not taken back; the buffers' ring is that of the completion
    val failed = in Bool () // the completion tells of a bad descriptor
    val next = out(CompletionState())
    val writes = out Bool () // else the ring stays as it is
    val entry = out Bool () // of the completion
    val owed = out(Owed())
    val raises = out Bool ()
    val error = out UInt (4 bits) // bit of the error register
    val starts, stops = out Bool () // the timer
  }

  val row = io.ring.row
  val measure = io.measure
  private def of(at: (Int, Int)): UInt = CompletionRow(row, at)
  private def bell(at: (Int, Int)): UInt = CompletionRow(io.bell, at)
  private def set(at: (Int, Int), value: UInt): Unit = io.next.row(at._1, at._2 bits) := value.resize(at._2 bits).asBits
  private def setIrqState(state: Int): Unit = set(CompletionRow.irqState, U(state, 2 bits))
  import measure.isTimed
  val mayInterrupt = !(row(CompletionRow.noVfInterrupt) && of(CompletionRow.function) >= DmaParam.firstVf)

  io.next := io.ring
  io.error := ErrorTree.completionCidx
  Seq(io.writes, io.entry, io.owed.status, io.owed.interrupt, io.raises, io.starts, io.stops).foreach(_ := False)

  private def startTimer(): Unit = when(!row(CompletionRow.timerRunning)) {
    io.next.row(CompletionRow.timerRunning) := True
    io.starts := True
  }
  private def stopTimer(): Unit = {
    io.next.row(CompletionRow.timerRunning) := False
    io.stops := True
  }

  /** The status entry, and the interrupt unless it is being serviced. */
  private def trigger(irqEnable: Bool, irqState: UInt): Unit = {
    stopTimer()
    io.owed.status := True
    when(irqEnable && irqState =/= IrqState.serviced) {
      setIrqState(IrqState.serviced)
      io.owed.interrupt := mayInterrupt
    }
  }

  private def fail(error: Int): Unit = {
    set(CompletionRow.error, U(error, 2 bits))
    io.next.row(CompletionRow.valid) := False
    stopTimer()
    io.owed.status := True
    io.owed.interrupt := row(CompletionRow.irqEnable) && mayInterrupt
  }

  switch(io.event) {
    is(CompletionEvent.change) {
      io.writes := True
      io.next.row := io.row
      stopTimer()
    }
    is(CompletionEvent.timer) {
      when(row(CompletionRow.timerRunning)) {
        io.writes := True
        io.next.told := of(CompletionRow.irqState)
        io.next.row(CompletionRow.timerRunning) := False
        when(row(CompletionRow.valid) && !measure.isRead) {
          trigger(row(CompletionRow.irqEnable), of(CompletionRow.irqState))
        }
      }
    }
    is(CompletionEvent.bell) {
      when(row(CompletionRow.valid) && io.isLive) {
        io.writes := True
        io.next.told := of(CompletionRow.irqState)
        when(measure.isWrong) {
          io.raises := True
          fail(Error.badCidx)
        } otherwise {
          set(CompletionRow.cidx, bell(Bell.cidx))
          when(row(CompletionRow.fullUpdate)) {
            set(CompletionRow.counter, bell(Bell.counter))
            set(CompletionRow.timer, bell(Bell.timer))
            set(CompletionRow.mode, bell(Bell.mode))
            io.next.row(CompletionRow.statusEnable) := io.bell(Bell.statusEnable)
            io.next.row(CompletionRow.irqEnable) := io.bell(Bell.irqEnable)
          }
          val arms = io.bell(Bell.irqEnable) && (row(CompletionRow.fullUpdate) || row(CompletionRow.irqEnable))
          when(arms) {
            val state = measure.isRead ? U(IrqState.armed, 2 bits) | U(IrqState.triggered, 2 bits)
            set(CompletionRow.irqState, state)
            io.next.told := state
          }
          when(measure.isRead)(stopTimer()) elsewhen (arms && measure.bellTriggers) {
            trigger(True, U(IrqState.triggered, 2 bits))
          } otherwise {
            io.owed.status := True
            when(isTimed)(startTimer())
          }
        }
      }
    }
    is(CompletionEvent.add) {
      when(row(CompletionRow.valid) && io.isLive) {
        io.writes := True
        io.next.told := of(CompletionRow.irqState)
        when(measure.isFull) {
          io.raises := True
          io.error := ErrorTree.completionFull
          fail(Error.overflow)
        } otherwise {
          io.entry := True
          set(CompletionRow.pidx, measure.nextPidx)
          io.next.row(CompletionRow.colour) := row(CompletionRow.colour) ^ measure.wraps
          when(io.failed)(fail(Error.badDescriptor)) elsewhen (measure.addTriggers)(
            trigger(row(CompletionRow.irqEnable), of(CompletionRow.irqState))
          ) elsewhen (isTimed)(startTimer())
        }
      }
    }
  }
}
