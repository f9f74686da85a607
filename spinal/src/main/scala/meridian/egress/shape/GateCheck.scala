// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** How long each class stays open behind an entry, in ns: GateList.leftBits of each, all ones for as long or longer. */
case class GateRuns() extends Bundle {
  val after = Vec(UInt(GateList.leftBits bits), GateList.classes)
}

/** What an entry is while it holds. */
case class GateState() extends Bundle {
  val entry = GateEntry()
  val runs = GateRuns()
}

/** Checks the entries of a schedule, works out how long each class stays open behind each entry, and finds when the
  * schedule begins.
  *
  * It goes through the entries once forward, adding up their intervals, and twice backward, as a class that is open at the
  * end of a cycle is closed by an entry of the next. The last entry is made as long as the cycle needs. The schedule begins
  * at its base time, or if that is over, with the first of its cycles that begins at least GateCheck.margin after the check,
  * in step with the base time, however long ago that was.
  *
  * Latency: 9 cycles an entry and about 80.
  */
class GateCheck(period: TimeNumber) extends Component {
  import GateList._
  val io = new Bundle {
    val start = in Bool () // io.schedule is there from now on
    val stop = in Bool () // goes back to where it waits for start
    val schedule = in(GateSchedule())
    val now = in UInt (64 bits)

    /** A cycle after the index, the entry. */
    val index = out UInt (log2Up(entries) bits)
    val entry = in(GateEntry())
    val runs = master(Flow(GateRuns())) // of the entry at io.runsIndex
    val runsIndex = out UInt (log2Up(entries) bits)

    /** With done: what was found. */
    val done = out Bool ()
    val code = out(GateCode())
    val begin = out UInt (64 bits)
    val first = out(GateState())
    val lastInterval = out UInt (intervalBits bits)
    val busy = out Bool ()
  }
  val most = U(leftBits bits, default -> True)
  def plus(a: UInt, b: UInt): UInt = {
    val sum = a +^ b
    Mux(sum > (1 << leftBits) - 1, most, sum.resize(leftBits))
  }

  val index = Reg(UInt(log2Up(entries) bits)) init 0
  val phase = Reg(UInt(2 bits)) init 0
  val sum = Reg(UInt(intervalBits + 1 bits)) init 0
  val lastInterval, firstInterval = Reg(UInt(intervalBits bits)) init 0
  val steady = Reg(Bits(classes bits)) init 0
  val run = Vec(Reg(UInt(leftBits bits)) init 0, classes) // from the start of the entry behind on
  val code = Reg(GateCode()) init GateCode.none
  val done = RegInit(False)
  val first = Reg(GateState())
  val last = (io.schedule.length - 1).resize(log2Up(entries))
  val isLast = index === last
  val second = RegInit(False) // the second time backward
  val entry = RegNext(io.entry)
  val interval = Mux(isLast, lastInterval, entry.interval)

  io.index := index
  io.runsIndex := index
  io.runs.valid := False
  for (i <- 0 until classes) io.runs.after(i) := Mux(steady(i), most, run(i))
  done := False

  // 64 bits of a time, highest first: what is left of them by the cycle.
  val reference = Reg(UInt(64 bits))
  val dividend = Reg(UInt(64 bits))
  val rest = Reg(UInt(intervalBits + 1 bits))
  val steps = Reg(UInt(7 bits))
  val begin = Reg(UInt(64 bits)) init 0

  val fsm = new StateMachine {
    val waiting, forward, closing, backward, timing, early, dividing, summing = new State
    setEntry(waiting)
    waiting.whenIsActive {
      index := 0
      phase := 0
      sum := 0
      steady.setAll()
      second := False
      for (i <- 0 until classes) run(i) := 0
      when(io.start) {
        code := GateCode.accepted
        when(io.schedule.length === 0 || io.schedule.length > entries) {
          code := GateCode.badLength
          done := True
        } otherwise goto(forward)
      }
    }
    // An entry is there two cycles behind its index.
    forward.whenIsActive {
      phase := phase + 1
      when(phase === 2) {
        phase := 0
        sum := sum + entry.interval
        steady := steady & entry.gates
        lastInterval := entry.interval
        index := index + 1
        when(entry.interval < minimum(period)) {
          code := GateCode.shortInterval
          done := True
          goto(waiting)
        } elsewhen (sum + entry.interval > io.schedule.cycle) {
          code := GateCode.longList
          done := True
          goto(waiting)
        } elsewhen (isLast) {
          index := last
          goto(closing)
        }
      }
    }
    closing.whenIsActive {
      lastInterval := (lastInterval + io.schedule.cycle - sum).resize(intervalBits)
      goto(backward)
    }
    backward.whenIsActive {
      phase := phase + 1
      when(phase === 2) {
        phase := 0
        io.runs.valid := second
        for (i <- 0 until classes)
          run(i) := Mux(
            entry.gates(i),
            plus(run(i), Mux((interval >> leftBits).orR, most, interval.resize(leftBits))),
            U(0)
          )
        index := index - 1
        when(index === 0) {
          first.entry.gates := entry.gates
          first.entry.interval := interval
          first.runs := io.runs.payload
          index := last
          second := True
          when(second)(goto(timing))
        }
      }
    }
    timing.whenIsActive {
      reference := io.now + GateCheck.margin
      goto(early)
    }
    early.whenIsActive {
      dividend := reference - io.schedule.base
      rest := 0
      steps := 0
      when(io.schedule.base >= reference) {
        begin := io.schedule.base
        done := True
        goto(waiting)
      } otherwise goto(dividing)
    }
    dividing.whenIsActive {
      val more = (rest(intervalBits - 1 downto 0) ## dividend.msb).asUInt
      rest := Mux(more >= io.schedule.cycle, more - io.schedule.cycle, more).resized
      dividend := dividend |<< 1
      steps := steps + 1
      when(steps === 63)(goto(summing))
    }
    summing.whenIsActive {
      begin := Mux(rest === 0, reference, reference + (io.schedule.cycle - rest))
      done := True
      goto(waiting)
    }
    always(when(io.stop) {
      goto(waiting)
      done := False
    })
  }
  io.done := done
  io.code := code
  io.begin := begin
  io.first := first
  io.lastInterval := lastInterval
  io.busy := !fsm.isActive(fsm.waiting) || done
}

object GateCheck {

  /** ns: the longest time until a gate closes that may have been told, so that each frame that begins by it ends before the
    * schedule does begin; and what the division takes.
    */
  val margin = (1 << GateList.leftBits) + 1024
}
