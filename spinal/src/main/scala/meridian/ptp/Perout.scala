// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** A span of time, normalised: nanoseconds below 1e9. */
case class PtpSpan() extends Bundle {
  val nanoseconds = UInt(30 bits)
  val seconds = UInt(32 bits)
}

/** Of the periodic output. start, period and width do not change while enable is set. */
case class PeroutConfig() extends Bundle {
  val enable = Bool()
  val start = PtpTime() // the first rising edge, in the future
  val period = PtpSpan() // from rise to rise
  val width = PtpSpan() // from rise to fall, less than the period
}

/** A periodic output, for PTP_CLK_REQ_PEROUT: rises at start and every period after it, falls a width later.
  *
  * An edge comes with the clock edge that takes io.time to its instant, to one cycle: the latency of three cycles is
  * taken off at the nominal rate. High and low last 16 cycles or more each; an edge whose instant is already past when
  * its turn comes is given at once.
  *
  * Setting enable arms the output; clearing it, or a step of the clock, ends it: after a step the start has to be
  * chosen anew. io.running tells.
  *
  * @param frequency nominal clock
  */
class Perout(frequency: HertzNumber = 250 MHz) extends Component {
  private val lead = ((3 * Phc.increment(frequency) + (BigInt(1) << 31)) >> 32).toInt // ns
  require(lead >= 1 && lead < 1000000, s"frequency is $frequency: choose 10 kHz to 1 GHz")

  val io = new Bundle {
    val config = in(PeroutConfig())
    val time = in(PtpFineTime())
    val stepped = in Bool ()
    val output = out Bool ()
    val running = out Bool ()
    val target = out(PtpTime()) // the next edge, at the latest
  }

  private def instant(): PtpTime = {
    val ret = PtpTime()
    ret.nanoseconds := 0
    ret.seconds := 0
    Reg(PtpTime()) init ret
  }

  /** The last rise, less `lead`, and the instant waited for, less `lead`. */
  val rise = instant()
  val target = instant()
  val high = RegInit(False)

  val compare = new Area {
    val later = RegNext(io.time.seconds > target.seconds) init False
    val same = RegNext(io.time.seconds === target.seconds) init False
    val nanoseconds = RegNext(io.time.nanoseconds(29 downto 0) >= target.nanoseconds(29 downto 0)) init False
    val reached = RegNext(later || same && nanoseconds) init False
  }

  /** rise + span, two cycles later. */
  val sum = new Area {
    val span = Reg(PtpSpan())
    val nanoseconds = RegNext(rise.nanoseconds.resize(31 bits) + span.nanoseconds.resize(31 bits))
    val seconds = RegNext(rise.seconds + span.seconds.resized)
    val over = nanoseconds.resize(32 bits).asSInt - S(Phc.second, 32 bits)
    val time = PtpTime()
    time.nanoseconds := Mux(over.msb, nanoseconds, over.asUInt.resize(31 bits)).resized
    time.seconds := seconds + (!over.msb).asUInt.resized
  }

  val fsm = new StateMachine {
    val off, arming, aiming, waiting, choosing, adding, summed, ended = new State
    setEntry(off)
    val settling = Reg(UInt(2 bits)) init 0

    off.whenIsActive {
      when(io.config.enable) {
        goto(arming)
      }
    }
    arming.whenIsActive {
      rise.nanoseconds := io.config.start.nanoseconds - lead
      rise.seconds := io.config.start.seconds
      when(io.config.start.nanoseconds < lead) {
        rise.nanoseconds := io.config.start.nanoseconds + (Phc.second - lead)
        rise.seconds := io.config.start.seconds - 1
      }
      goto(aiming)
    }
    aiming.whenIsActive {
      target := rise
      goto(waiting)
    }
    // The compare sees a new target two cycles later.
    waiting.onEntry(settling := 0)
    waiting.whenIsActive {
      when(settling =/= 3) {
        settling := settling + 1
      } elsewhen (compare.reached) {
        high := !high
        goto(choosing)
      }
    }
    choosing.whenIsActive {
      sum.span := Mux(high, io.config.width, io.config.period)
      goto(adding)
    }
    adding.whenIsActive(goto(summed))
    summed.whenIsActive {
      target := sum.time
      when(!high) {
        rise := sum.time
      }
      goto(waiting)
    }

    always {
      when(io.stepped && !isActive(off)) {
        high := False
        goto(ended)
      }
      when(!io.config.enable) {
        high := False
        goto(off)
      }
    }
  }
  io.output := high
  io.target := target
  io.running := !fsm.isActive(fsm.off) && !fsm.isActive(fsm.ended)
}
