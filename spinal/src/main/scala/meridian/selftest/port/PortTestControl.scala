// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

object PortTestControl {

  /** Cycles that a port is watched for traffic: a millisecond. */
  val watchCycles = 1 << 18

  /** Cycles from the end of a run to idle: the largest frame has ended, and its record has come. */
  val restCycles = 1 << 12

  /** Cycles after which a generator that does not answer is given up: 16 ms. */
  val answerCycles = 1 << 22

  /** Cycles that a checker is armed before the generator of its port begins, if that is delayed: 131 us. */
  val delayCycles = 1 << 15
}

/** Starts and ends the test of a port (ps clock).
  *
  * A start takes over the settings, and is refused with a code if they cannot be, if the transmit side of the MAC does
  * not answer, or if there is no link. Then the port is watched for `watchCycles`: a frame of host or PS that is sent, and
  * a good received one for them, is traffic, and refuses the start, with a code of its own for those of the PS, whose clock
  * may follow them. `force` starts without link and without watching. A start while a test is under way is refused, and the test goes on. A start that is refused
  * leaves the counters and the end of the last test. It also leaves the settings while the generator still has a frame.
  *
  * With `delay` the checker is armed for `delayCycles` before the generator begins. The state tells it, so that software
  * can start the two ends of a cable one after the other: no frame has gone yet if the first is armed when the second is.
  *
  * The generator runs until stop or off, until all frames have been sent, until the link is lost (unless forced), or
  * until the MAC is reset. Then the checker waits for frames for `patience` us, which a second stop, or off, cuts short.
  *
  * `run` and `armed` are registers, for synchronisers. Latency: from start to run 60 cycles, and watchCycles; from stop to
  * the fall of run 1 cycle. A delayed run rises `delayCycles` behind `armed`.
  */
class PortTestControl(
    p: ShellParam,
    watchCycles: Int = PortTestControl.watchCycles,
    answerCycles: Int = PortTestControl.answerCycles
) extends Component {
  val io = new Bundle {
    val start, stop, off = in Bool () // pulses
    val settings = in(PortTestSettings(p))
    val link, traffic, psTraffic = in Bool () // traffic: of the host
    val ready, going, complete = in Bool () // of the generator, in this clock
    val sentFrames = in UInt (64 bits)
    val run, armed = out Bool ()
    val plan = out(PortTestPlan(p))
    val counts, restart = out Bool ()
    val state = out(PortTestState())
    val refusal = out(PortTestRefusal())
    val end = out(PortTestEnd())
    val cut = out UInt (32 bits) // frames that were planned and not sent, once a test is over
  }
  val settings = Reg(PortTestSettings(p))
  val plan = settings.plan
  val refusal = RegInit(PortTestRefusal.none)
  val end = RegInit(PortTestEnd.none)
  val run, armed, counts = RegInit(False)
  val cut = Reg(UInt(32 bits)) init 0
  io.plan := plan
  io.refusal := refusal
  io.end := end
  io.run := run
  io.armed := armed
  io.counts := counts
  io.cut := cut
  io.restart := False

  /** What is wrong with the settings, the first of a list. */
  val judged = new Area {
    val s = plan
    val nothing = !(settings.generate || settings.check)
    val range =
      s.sizeFirst < p.minFrame || s.sizeLast < p.minFrame || s.sizeFirst > p.maxFrame || s.sizeLast > p.maxFrame
    val endless = s.sizeFirst > s.sizeLast || s.sizeStep === 0 && s.sizeFirst =/= s.sizeLast
    val noSender = s.frames =/= 0 && !settings.generate
    val tooSlow = s.interval > U(p.macFrequency.toBigDecimal.toBigInt, 32 bits)
    val noMac = settings.generate && !io.ready
    val noLink = !settings.force && !io.link
    val ofSizes = Vec(range, endless).asBits.andMask(settings.generate)
    val wrong = RegNext(noLink ## noMac ## tooSlow ## noSender ## ofSizes ## nothing)

    /** In the order of `wrong`; a def, as an enum element takes the name of a val. */
    private def codes = {
      import PortTestRefusal._
      Seq(PortTestRefusal.nothing, sizeRange, sizeSequence, frames, interval, mac, linkDown)
    }
    val code = PortTestRefusal()
    code := PortTestRefusal.none
    for ((refusal, i) <- codes.zipWithIndex.reverse) when(wrong(i))(code := refusal)
  }

  val cycles = Reg(UInt(log2Up(answerCycles.max(watchCycles).max(PortTestControl.delayCycles)) + 1 bits)) init 0
  val microseconds = Reg(UInt(16 bits))
  val cyclesPerMicrosecond = (p.psFrequency.toBigDecimal / 1000000).toInt
  val launched = RegInit(False)
  val stops = io.stop || io.off

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val judge, watch, clear, running, waiting, ending, delaying = new State

    idle.whenIsActive {
      when(io.start) {
        refusal := PortTestRefusal.none
        cycles := 0
        // A frame of the last test that still waits for the wire keeps its plan.
        when(io.going) {
          refusal := PortTestRefusal.mac
        } otherwise {
          settings := io.settings
          goto(judge)
        }
      }
    }
    // The plan stands still long enough for the clocks of the MAC.
    judge.whenIsActive {
      cycles := cycles + 1
      when(cycles === 31) {
        refusal := judged.code
        cycles := 0
        goto(watch)
        when(judged.wrong.orR)(goto(idle))
      }
    }
    watch.whenIsActive {
      cycles := cycles + 1
      when(stops) {
        refuse(PortTestRefusal.stopped)
      } elsewhen (settings.force || cycles === watchCycles) {
        io.restart := True
        counts := False
        end := PortTestEnd.none
        cut := 0
        launched := False
        cycles := 0
        goto(clear)
      } elsewhen (io.traffic) {
        refuse(PortTestRefusal.traffic)
      } elsewhen (io.psTraffic) {
        refuse(PortTestRefusal.psTraffic)
      } elsewhen (!io.link) {
        refuse(PortTestRefusal.linkDown)
      }
    }
    clear.whenIsActive {
      cycles := cycles + 1
      when(cycles === 31) {
        counts := True
        armed := settings.check
        run := settings.generate && !settings.delay
        cycles := 0
        goto(running)
        when(settings.delay)(goto(delaying))
      }
    }
    delaying.whenIsActive {
      cycles := cycles + 1
      when(cycles === PortTestControl.delayCycles - 1) {
        run := settings.generate
        cycles := 0
        goto(running)
      }
      when(!settings.force && !io.link)(over(PortTestEnd.linkDown))
    }
    running.whenIsActive {
      when(!launched)(cycles := cycles + 1)
      when(io.going)(launched := True)
      val gone = Mux(launched, !io.going, cycles === PortTestControl.restCycles)
      when(settings.generate && gone)(over(PortTestEnd.mac))
      when(!settings.force && !io.link)(over(PortTestEnd.linkDown))
      when(settings.generate && io.complete)(over(PortTestEnd.complete))
    }
    waiting.whenIsActive {
      cycles := cycles + 1
      when(cycles === cyclesPerMicrosecond - 1) {
        cycles := 0
        microseconds := microseconds - 1
      }
      when(microseconds === 0 || !settings.check)(goto(ending))
    }
    ending.onEntry {
      armed := False
      cycles := 0
    }
    ending.whenIsActive {
      cycles := cycles + 1
      val rested = cycles >= PortTestControl.restCycles && !io.going
      when(rested || cycles === answerCycles) {
        counts := False
        when(settings.generate && plan.frames =/= 0)(cut := plan.frames - io.sentFrames.resized)
        goto(idle)
      }
    }
    // The last of several that meet counts.
    always {
      when(stops) {
        when(isActive(judge))(refuse(PortTestRefusal.stopped))
        when(isActive(clear) || isActive(running) || isActive(delaying))(over(PortTestEnd.command))
        when(isActive(waiting))(forceGoto(ending))
      }
      when(io.off && (isActive(clear) || isActive(running) || isActive(delaying)))(microseconds := 0)
      when(io.start && !isActive(idle))(refusal := PortTestRefusal.running)
    }
    def refuse(code: SpinalEnumElement[PortTestRefusal.type]): Unit = {
      refusal := code
      forceGoto(idle)
    }
    def over(why: SpinalEnumElement[PortTestEnd.type]): Unit = {
      end := why
      run := False
      cycles := 0
      microseconds := settings.patience
      forceGoto(waiting)
    }
  }
  private def is(states: State*) = states.map(control.isActive(_)).orR
  io.state := PortTestState.idle
  when(is(control.judge, control.watch, control.clear))(io.state := PortTestState.starting)
  when(is(control.running))(io.state := PortTestState.running)
  when(is(control.waiting))(io.state := PortTestState.waiting)
  when(is(control.ending))(io.state := PortTestState.ending)
  when(is(control.delaying))(io.state := PortTestState.armed)
}
