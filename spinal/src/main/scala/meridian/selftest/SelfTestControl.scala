// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.meta.{RxRecord, RxVerdict, TxRecord, TxVerdict}
import meridian.queue.{QueueLookup, QueueTable}
import meridian.settings.QueueRange
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

object SelfTestControl {

  /** Cycles of 4 ns that a function and its port are watched for traffic: a millisecond. */
  val watchCycles = 1 << 18
}

/** Starts and ends a test.
  *
  * A start takes over the settings, and is refused with a code if they cannot be. Then the queues are looked up one by
  * one: all have to be the function's, and the function the PF that starts or one of its VFs. They lose the numbers of the test before. Then function and port are watched for
  * `watchCycles`: a frame that a function gets or sends is traffic. `force` leaves that out. A start while a test is under
  * way is refused, and the test goes on.
  *
  * `go` falls with a stop, when all frames have been sent, with a reset of the function, with a write to the queues of
  * the function or a range that meets the test's, and when free buffers are no longer counted. In the last three cases
  * `checks` falls too, as the queues may be another's next; else it stays for frames under way until `off`, or the next
  * start. What would end a test refuses one that has not begun. Only a test that begins sets the counters to 0.
  *
  * `takes` are the queues whose frames from the host end at the checker. It stays those of the last test that has begun,
  * also while the next is being started or has been refused, as frames of the last may still come. It falls with `off`,
  * and when the queues may be another's.
  *
  * Latency: from start to go 20 cycles, QueueTable.writeCycles at most if a range is being written, one a queue, and
  * watchCycles. From a stop to the fall of go 1 cycle, from a reset 2.
  *
  * @param watchCycles cycles that traffic is watched for
  */
class SelfTestControl(p: ShellParam, watchCycles: Int = SelfTestControl.watchCycles) extends Component {
  val io = new Bundle {
    val start, stop, off = in Bool () // pulses
    val by = in(p.functionType()) // the PF that starts
    val settings = in(SelfTestSettings(p))
    val window = in UInt (64 bits)
    val enable = in Bits (p.functions bits)
    val ports = in Vec (p.portType(), p.functions)
    val functionReset = in Bits (p.functions bits)
    val enforce = in Bool () // free buffers are counted
    val range = slave(Flow(QueueRange(p))) // a write to the queue table begins
    val queuesIdle = in Bool () // none is under way
    val owner = master(QueueLookup(p))
    val rx, rxCopies = slave(Flow(RxRecord(p)))
    val tx = slave(Flow(TxRecord(p)))
    val complete, idle = in Bool () // of the generator

    val go, checks = out Bool ()
    val takes = master(Flow(QueueSpan(p))) // frames of these queues from the host end at the checker
    val run = out(SelfTestRun(p))
    val clear = master(Flow(p.queueType()))
    val restart = out Bool () // counters to 0
    val state = out(SelfTestState())
    val refusal = out(SelfTestRefusal())
    val end = out(SelfTestEnd())
  }
  val run = Reg(SelfTestRun(p))
  val settings = run.settings
  run.number.init(0)
  val refusal = RegInit(SelfTestRefusal.none)
  val end = RegInit(SelfTestEnd.none)
  val go, checks = RegInit(False)
  io.run := run
  io.refusal := refusal
  io.end := end
  io.go := go && !io.stop
  io.checks := checks

  val by = Reg(p.functionType()) // that start was by, while it is judged
  val isOwn = RegNext(p.isOf(settings.function, by)) init False
  val mayBe = RegNext(settings.function.resize(9 bits) < p.functions) init False
  val enabled = RegNext(mayBe && (io.enable.resize(256) >> settings.function).lsb) init False
  val port = RegNext(io.ports(settings.function.resize(log2Up(p.functions))))

  val range = io.range.stage()
  val rangeEnd = RegNext(io.range.base +^ io.range.count)

  /** What may make queues another's. */
  private class Loss(span: QueueSpan, mayBe: Bool) extends Area {
    val inReset = RegNext(mayBe && (io.functionReset.resize(256) >> span.function).lsb) init False
    val meets = range.base <= span.last && rangeEnd > span.first && range.count =/= 0
    val changed = RegNext(range.valid && (range.function === span.function || meets)) init False
    def now = inReset || changed
  }
  val span = QueueSpan(p)
  span.function := settings.function
  span.first := settings.first
  span.last := run.last
  private val loss = new Loss(span, mayBe)

  val takes = Reg(Flow(QueueSpan(p)))
  takes.valid.init(False)
  io.takes := takes
  private val takesLoss = new Loss(takes.payload, takes.valid)
  val begins = False // the test, in this cycle
  val noCredit = settings.generate && !io.enforce

  /** A frame of the function, or of a function of its port. */
  val traffic = new Area {
    private def rx(record: Flow[RxRecord]) = {
      val gets = record.verdict === RxVerdict.delivered || record.verdict === RxVerdict.copying
      val its = record.functionValid && record.function === settings.function
      RegNext(record.valid && gets && (record.port === port || its)) init False
    }
    val sends = Seq(TxVerdict.sent, TxVerdict.switched, TxVerdict.toPs).map(io.tx.verdict === _).orR
    val its = io.tx.functionValid && io.tx.function === settings.function
    val tx = RegNext(io.tx.valid && sends && (io.tx.port === port || its)) init False
    val now = rx(io.rx) || rx(io.rxCopies) || tx
  }

  /** What is wrong with the settings, the first of a list. */
  val judged = new Area {
    val s = settings
    val lastQueue = s.first +^ s.count
    val none = !(s.generate || s.check)
    val noSize = s.sizeFirst === 0
    val tooBig = s.sizeFirst > p.maxFrame || s.sizeLast > p.maxFrame
    val endless = s.sizeFirst > s.sizeLast || s.sizeStep === 0 && s.sizeFirst =/= s.sizeLast
    val badQueues = s.count === 0 || lastQueue > p.queues || !isOwn
    val noWindow = io.window === 0
    val ofGenerator = Vec(!io.enforce, noSize, tooBig, endless).asBits.andMask(s.generate)
    val wrong = RegNext(noWindow ## badQueues ## ofGenerator ## !enabled ## none)

    /** In the order of `wrong`; a def, as an enum element takes the name of a val. */
    private def codes = {
      import SelfTestRefusal._
      Seq(nothing, noFunction, credit, sizeZero, sizeTooBig, sizeSequence, queues, window)
    }
    val code = SelfTestRefusal()
    code := SelfTestRefusal.none
    for ((refusal, i) <- codes.zipWithIndex.reverse) when(wrong(i))(code := refusal)
  }

  val queue = Reg(p.queueType())
  val asking = RegInit(False)
  io.owner.query.valid := asking
  io.owner.query.payload := queue
  io.clear.valid := asking
  io.clear.payload := queue
  val owner = io.owner.result
  val another = RegInit(False) setWhen (owner.valid && !(owner.payload.valid && owner.function === settings.function))
  val cycles = Reg(UInt(log2Up((watchCycles max 16) + 1) bits))
  val watched = RegNext(cycles === watchCycles) init False
  io.restart := begins

  private def refuse(code: SpinalEnumElement[SelfTestRefusal.type]): Unit = refusal := code

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val judge, settle, walk, watch, running, ending = new State
    val starting = List(judge, settle, walk, watch)

    idle.whenIsActive {
      when(io.start) {
        settings := io.settings
        by := io.by
        run.last := (io.settings.first + io.settings.count - 1).resized
        refusal := SelfTestRefusal.none
        checks := False
        cycles := 0
        goto(judge)
      }
    }
    // What is derived of the settings is there, and the checker has judged all that had ended when checks fell.
    judge.whenIsActive {
      cycles := cycles + 1
      when(cycles === FrameChecker.stages + 5) {
        refusal := judged.code
        goto(settle)
        when(judged.wrong.orR)(goto(idle))
      }
    }
    settle.whenIsActive {
      queue := settings.first
      another := False
      cycles := 0
      when(io.queuesIdle) {
        asking := True
        goto(walk)
      }
    }
    walk.whenIsActive {
      queue := queue + 1
      when(queue === run.last)(asking := False)
      // The last answers.
      when(!asking)(cycles := cycles + 1)
      when(cycles === QueueTable.latency + 1) {
        cycles := 0
        goto(watch)
        when(another) {
          refuse(SelfTestRefusal.queues)
          goto(idle)
        }
      }
    }
    watch.whenIsActive {
      cycles := cycles + 1
      when(settings.force || watched) {
        when(!(noCredit || loss.now || io.stop)) {
          begins := True
          goto(running)
        }
      } elsewhen (traffic.now) {
        refuse(SelfTestRefusal.traffic)
        goto(idle)
      }
    }
    // What ends a test that has begun, and refuses one that is about to; the last of several that meet counts.
    always {
      val busy = starting.map(isActive(_)).orR || isActive(running)
      when(begins) {
        run.number := run.number + 1
        go := settings.generate
        checks := settings.check
        takes.valid := settings.check && settings.take
        takes.payload := span
        end := SelfTestEnd.none
      }
      when(isActive(running) && settings.generate && io.complete)(over(SelfTestEnd.complete, SelfTestRefusal.none))
      when(busy && !isActive(judge)) {
        when(noCredit) { over(SelfTestEnd.creditOff, SelfTestRefusal.credit); checks := False }
        when(loss.changed) { over(SelfTestEnd.queuesChanged, SelfTestRefusal.queues); checks := False }
        when(loss.inReset) { over(SelfTestEnd.functionReset, SelfTestRefusal.noFunction); checks := False }
      }
      when(busy && io.stop)(over(SelfTestEnd.command, SelfTestRefusal.stopped))
      when(!busy && loss.now)(checks := False)
      // What was lost in the cycle in which the test began was lost of the one before.
      when(takesLoss.now && !RegNext(begins, False) || isActive(running) && loss.now)(takes.valid := False)
      when(io.off) { checks := False; takes.valid := False }
      when(io.start && !isActive(idle))(refuse(SelfTestRefusal.running))
    }
    def over(why: SpinalEnumElement[SelfTestEnd.type], refused: SpinalEnumElement[SelfTestRefusal.type]): Unit = {
      go := False
      asking := False
      when(isActive(running))(end := why) otherwise (refuse(refused))
      forceGoto(ending)
    }
    // The fall of go shows in idle two cycles later.
    ending.onEntry(cycles := 0)
    ending.whenIsActive {
      when(!cycles(1))(cycles := cycles + 1)
      when(cycles(1) && io.idle)(goto(idle))
    }
  }
  io.state := SelfTestState.idle
  when(control.starting.map(control.isActive(_)).orR)(io.state := SelfTestState.starting)
  when(control.isActive(control.running))(io.state := SelfTestState.running)
  when(control.isActive(control.ending))(io.state := SelfTestState.ending)
}
