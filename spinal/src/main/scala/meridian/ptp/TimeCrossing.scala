// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import meridian.crossing.Crossing
import spinal.core._
import spinal.lib._

object TimeCrossing {

  /** Samples from a load, or a step, to io.locked. */
  val lockSamples = 32

  /** Samples from the load behind a reset to io.dstKnown: 1 us, more than what a MAC stamps takes to the first beat it
    * shows of it.
    */
  val knownSamples = 8

  /** Bits below a nanosecond of io.psAhead. */
  val aheadFraction = 16
}

/** Carries the time of the PHC into the clock of a MAC, as ctl_*_systemtimerin of the MAC IP wants it: every cycle, to
  * the nearest nanosecond, in step with the MAC's own clock.
  *
  * Every `sampleCycles` of ps the time is latched and a toggle sent. In dst, a [[SteeredClock]] runs on its own. When
  * the toggle arrives, the time that was latched, plus the mean time that the toggle took, is compared with it. The
  * toggle's arrival is known to one dst cycle only, so the error found is noise of up to half a cycle around the truth,
  * which a PI loop averages: proportional 1/4, then 1/8, then 1/16 while it settles, integral 1/4096 into the step a
  * cycle. An error of more than a dst cycle, as after a set of the PHC, loads the time outright.
  *
  * io.dstTime is the PHC's io.time extrapolated to the dst clock edge that io.dstTime changes with, and io.psAhead more:
  * a MAC stamps where it captures a frame, so its time is ahead, or behind, by what the frame takes between there and the
  * connector. io.dstTime never runs back but by a load. io.dstLocked says that 32 samples (4 us) passed since the last
  * load, step of the PHC, or change of io.psAhead, which counts as one.
  *
  * io.dstKnown says that since the last reset of dst the time was loaded where it had to be, and 8 samples in a row were
  * near it, or steps of the PHC: all that begins by then is stamped with the time of the PHC, to a dst cycle. It is high
  * 1.5 us after a reset at the latest, however often the PHC is stepped, and stays high until the next.
  *
  * io.dstSkip is the number of cycles a dst edge stands for (1 in hardware, see [[Phc]]). A sample that may have been
  * under way during a skip is not used. When 4095 or more cycles were skipped since the last sample used, the loop
  * settles anew, as the frequency is only known to some ppm; io.dstLocked then is low for 32 samples.
  *
  * @param psFrequency  nominal frequency of the clock of the PHC
  * @param dstFrequency nominal frequency of the clock of the MAC; the loop takes up to 1000 ppm off
  * @param sampleCycles ps cycles between samples. Choose it so that successive samples come in at well spread phases of
  *                     the dst clock: 31 does for 250 MHz to 390.625 MHz (7/16 of a cycle) and 156.25 MHz (3/8)
  */
class TimeCrossing(
    psCd: ClockDomain,
    dstCd: ClockDomain,
    psFrequency: HertzNumber,
    dstFrequency: HertzNumber,
    sampleCycles: Int = 31
) extends Component {
  private val psPeriod = BigDecimal(Phc.increment(psFrequency)) // in 2^-32 ns, as all that follows
  private val dstPeriod = BigDecimal(Phc.increment(dstFrequency))
  private val nanosecond = BigDecimal(BigInt(1) << 32)

  /** dst cycles from the first flip-flop of the synchroniser to the cycle in which the toggle is seen. */
  private val synchroniser = 3

  /** dst cycles from the cycle in which the toggle is seen to the one in which a load shows in the clock. */
  private val loadLatency = 8
  private val roundLatency = 2
  private val errorFraction = 16

  require(
    sampleCycles * psPeriod > (loadLatency + synchroniser + 3) * dstPeriod,
    s"sampleCycles is $sampleCycles: choose more, a sample has to last 14 cycles of $dstFrequency"
  )
  require(
    dstPeriod >= nanosecond && dstPeriod <= 100 * nanosecond,
    s"dstFrequency is $dstFrequency: choose 10 MHz to 1 GHz"
  )

  val io = new Bundle {
    val psTime = in(PtpFineTime())
    val psStepped = in Bool ()
    val psAhead = in SInt (32 bits) // 2^-16 ns
    val dstSkip = in UInt (32 bits)
    val dstTime = out(PtpTime())
    val dstLocked = out Bool ()
    val dstKnown = out Bool ()
  }

  /** Latch, add, then toggle a cycle after the sum: the words are stable before and long after the toggle is seen. */
  private val addCycles = 3
  val ps = new ClockingArea(psCd) {
    val count = Reg(UInt(log2Up(sampleCycles) bits)) init 0
    val toggle = RegInit(False)
    val stepped = RegInit(False)
    val sampleStepped = RegInit(False)
    stepped := stepped || io.psStepped
    count := count + 1
    val latched = new Area {
      val time = Reg(PtpFineTime())
      val ahead = Reg(SInt(32 bits)) init 0
      val stepped = Reg(Bool())
    }
    when(count === sampleCycles - 1 - addCycles) {
      latched.time := io.psTime
      latched.ahead := io.psAhead
      latched.stepped := stepped || io.psStepped || io.psAhead =/= latched.ahead
      stepped := False
    }

    // Less than a second is added or taken away.
    private val part = (latched.time.nanoseconds(29 downto 0) @@ latched.time.fraction).resize(64 bits).asSInt
    private val second = S(Phc.second << 32, 64 bits)
    val sum = RegNext(part + (latched.ahead << (32 - TimeCrossing.aheadFraction)).resize(64 bits))
    val next = RegNext(latched.time.seconds + 1)
    val previous = RegNext(latched.time.seconds - 1)
    val over = RegNext(sum - second)
    val under = RegNext(sum + second)
    val sample = Reg(PtpFineTime())
    when(count === sampleCycles - 1) {
      count := 0
      val fine = Mux(sum.msb, under, Mux(over.msb, sum, over)).asBits
      sample.fraction := fine(31 downto 0).asUInt
      sample.nanoseconds := fine(61 downto 32).asUInt.resized
      sample.seconds := Mux(sum.msb, previous, Mux(over.msb, latched.time.seconds, next))
      sampleStepped := latched.stepped
    }
    when(count === 0) {
      toggle := !toggle
    }
  }

  val dst = new ClockingArea(dstCd) {
    private def round(x: BigDecimal) = x.setScale(0, BigDecimal.RoundingMode.HALF_UP).toBigInt

    val clock = new SteeredClock(Phc.increment(dstFrequency))
    clock.io.skip := io.dstSkip
    val skipped = io.dstSkip =/= 1

    /** The cycle in which the toggle is seen is number 0; `after(n)` is high in cycle n. */
    val toggle = BufferCC(ps.toggle, init = False, bufferDepth = Some(synchroniser))
    // The first toggle that is seen behind a reset may be older than the reset, and its sample be changing in this very
    // cycle: it is not used.
    val ignore = RegInit(True) setWhen skipped
    val seen = toggle =/= (RegNext(toggle) init False)
    ignore clearWhen (seen && !skipped)
    val after = Vec(Reg(Bool()) init False, loadLatency)
    after(0) := False
    after(1) := seen && !ignore && !skipped
    for (n <- 2 until loadLatency) after(n) := after(n - 1) && !skipped

    // The PHC's time at the toggle, and the clock's when it was seen. The sample does not change within 25 ps cycles
    // of the toggle, and is used after three dst cycles.
    private val still =
      "A sample of the time stands still for 25 cycles of ps_clk after its toggle and is taken at the toggle."
    val psSample = Crossing.held(ps.sample, still)
    val psSampleStepped = Crossing.held(ps.sampleStepped, still)
    val sample = Reg(PtpFineTime())
    val sampleStepped = RegInit(False)
    val held = Reg(CarriedTime())
    when(seen) {
      sample := psSample
      sampleStepped := psSampleStepped
      held := clock.io.now
    }

    /** From the latch to what the clock should have held in cycle 0: the time from latch to toggle, from toggle to the
      * clock edge that begins cycle 0 (between synchroniser - 1 and synchroniser), and what the clock is ahead.
      */
    private val offset = (2 + addCycles) * psPeriod + (synchroniser - 0.5 + roundLatency) * dstPeriod

    /** How far the sample is ahead of the clock, in 2^-16 ns. Registers that settle one after the other from what is
      * held; the comments name the cycle from which each is right.
      */
    val error = new Area {
      private val bits = 52
      private def ns(x: BigDecimal) = S(round(x * BigDecimal(1 << errorFraction)), bits bits)
      private val late = offset / nanosecond
      val nanoseconds = RegNext(
        sample.nanoseconds(29 downto 0).resize(32 bits).asSInt - held.nanoseconds.resize(32 bits).asSInt
      ) // 2
      val fraction = RegNext(
        (sample.fraction >> (32 - errorFraction)).resize(errorFraction + 1 bits).asSInt -
          (held.fraction >> (32 - errorFraction)).resize(errorFraction + 1 bits).asSInt
      ) // 2
      val seconds = RegNext(sample.seconds - held.seconds) // 2
      val same = RegNext(seconds === 0) // 3
      val next = RegNext(seconds === 1) // 3
      val previous = RegNext(seconds.andR) // 3
      val difference = RegNext((nanoseconds << errorFraction).resize(bits bits) + fraction.resize(bits bits)) // 3
      val correction = Reg(SInt(bits bits)) // 4
      switch(next ## previous ## held.carry) {
        for (value <- 0 until 8) is(value) {
          val second = (if ((value & 4) != 0) 1 else 0) - (if ((value & 2) != 0) 1 else 0)
          correction := ns(late + BigDecimal(second) * BigDecimal(Phc.second) - (value & 1))
        }
      }
      val known = RegNext(same || next || previous) // 4
      val value = RegNext(difference + correction) // 5

      /** The range the loop works in, a power of two above 1.2 dst cycles: all that noise can make of no error. */
      val rangeBits = log2Up(round(dstPeriod * 1.2 / nanosecond) + 1)
      private val top = value >> (rangeBits + errorFraction)
      val near = RegNext(known && (top.andR || !top.orR)) // 6
      val small = RegNext(value.resize(rangeBits + errorFraction + 1 bits)) // 6
    }

    /** The sample as a time for the clock in the cycle in which a load shows. */
    val target = new Area {
      private val ahead = round(offset + loadLatency * dstPeriod)
      val fraction = RegNext(sample.fraction +^ (ahead & 0xffffffffL)) // 2
      val nanoseconds = RegNext(
        sample.nanoseconds(29 downto 0).resize(31 bits) + U(ahead >> 32, 31 bits) + fraction.msb.asUInt
      ) // 3
      val over = RegNext(nanoseconds.resize(32 bits).asSInt - S(Phc.second, 32 bits)) // 4
      val seconds = RegNext(sample.seconds + 1) // 2
      val time = Reg(PtpFineTime()) // 5
      time.fraction := fraction(31 downto 0)
      time.nanoseconds := Mux(over.msb, nanoseconds, over.asUInt.resize(31 bits)).resized
      time.seconds := Mux(over.msb, sample.seconds, seconds)
    }

    val loop = new Area {
      val count = Reg(UInt(6 bits)) init 0
      val pace = Reg(UInt(40 bits)) init Phc.increment(dstFrequency)

      val load = after(6) && (!error.near || sampleStepped)
      val steer = after(6) && error.near && !sampleStepped
      clock.io.load.valid := RegNext(load && !skipped) init False
      clock.io.load.payload := target.time

      private val scaled = error.small << (32 - errorFraction)
      val phase = RegNext(
        Mux(count < 4, scaled >> 2, Mux(count < 12, scaled >> 3, scaled >> 4)).resize(40 bits)
      )
      private val cyclesPerSample = sampleCycles * psPeriod / dstPeriod
      private val integral = 12 + log2Up(round(cyclesPerSample))
      val drift = RegNext((scaled >> integral).resize(40 bits))

      val step = Reg(UInt(40 bits)) init Phc.increment(dstFrequency)
      step := pace
      when(RegNext(steer && !skipped) init False) {
        step := (pace.asSInt + phase).asUInt
        pace := (pace.asSInt + drift).asUInt
      }
      clock.io.step := step
      clock.io.pace := pace

      val locked = RegNext(count === TimeCrossing.lockSamples) init False
      when(steer && count =/= TimeCrossing.lockSamples) {
        count := count + 1
      }
      // Cycles skipped since a sample was used: the clock ran free over them.
      val free = Reg(UInt(12 bits)) init 0
      when(skipped) {
        free := free.maxValue
        when(io.dstSkip < free.maxValue - free) {
          free := free + io.dstSkip.resized
        }
      }
      when(load || steer) {
        free := 0
      }
      when(load || free.andR) {
        count := 0
      }

      // A step of the PHC is loaded, and says nothing against the time before it.
      val loaded = RegInit(False) setWhen load
      val right = steer || load && sampleStepped && loaded
      val good = Reg(UInt(log2Up(TimeCrossing.knownSamples) bits)) init 0
      val known = RegInit(False) setWhen (right && good.andR)
      when(right)(good := good + 1) elsewhen (load)(good := 0)
    }

    io.dstTime := clock.io.rounded
    io.dstLocked := loop.locked
    io.dstKnown := loop.known
  }
}
