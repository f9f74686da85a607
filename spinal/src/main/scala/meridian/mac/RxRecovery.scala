// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import spinal.core._
import spinal.lib._

object RxRecovery {

  /** Waiting times of a receiver without lock, and how long it is then held in reset. */
  case class Timing(interval: BigInt, pulse: BigInt) {
    require(pulse >= 1 && interval > pulse, s"interval is $interval, pulse $pulse cycles: the pulse is the shorter")

    /** The longest waiting time. */
    def longest: BigInt = interval << maxDoublings
  }

  /** So many resets come with the same waiting time between them, then it doubles, so many times at most. */
  val tries = 8
  val maxDoublings = 3

  /** 100 ms, then up to 800 ms; 1 us of reset, which a clock of 100 MHz samples 100 times. */
  def timing(frequency: HertzNumber): Timing =
    Timing((frequency.toBigDecimal / 10).toBigInt, (frequency.toBigDecimal / 1000000).toBigInt)
}

/** Resets the receiver of one port as long as it has no lock. The equaliser of a receiver may have adapted to noise,
  * while there was no cable or a module was changed, and may then not find the signal that comes later. A reset of its
  * data path makes it adapt again.
  *
  * Without a link, io.reset rises `interval` cycles after the link was lost or after the last reset, and falls `pulse`
  * cycles later. After every 8 resets without a link the interval doubles, 3 times at most, for receivers that need
  * longer to adapt. When a link comes up, the interval starts again at its first value; a pulse that has begun keeps
  * its length.
  *
  * io.link is in the clock of the component. Latency: one cycle from io.link to the timer. io.skip is the number of
  * cycles that an edge counts for, 1 in hardware. io.quietCycles tells a simulation how many cycles it may skip; all
  * ones: any number.
  */
class RxRecovery(timing: RxRecovery.Timing) extends Component {
  val io = new Bundle {
    val link = in Bool ()
    val skip = in UInt (32 bits)
    val reset = out Bool ()

    /** Resets since the clock domain's own reset; wraps. */
    val resets = out UInt (24 bits)
    val quietCycles = out UInt (32 bits)
  }
  private val bits = timing.longest.bitLength
  require(bits < 32, s"the longest waiting time is ${timing.longest} cycles: choose less than 2^31")

  val reset = RegInit(False)
  val resets = Reg(UInt(24 bits)) init 0
  val tried = Reg(UInt(log2Up(RxRecovery.tries * RxRecovery.maxDoublings + 1) bits)) init 0
  val left = Reg(UInt(bits bits)) init timing.interval - 1

  val doublings = tried >> log2Up(RxRecovery.tries)
  val interval =
    Vec((0 to RxRecovery.maxDoublings).map(n => U((timing.interval << n) - 1, bits bits)))(doublings.resized)
  val over = left.resize(32 bits) < io.skip
  left := left - io.skip.resized
  when(reset) {
    when(over) {
      reset := False
      left := interval
    }
  } elsewhen (io.link) {
    left := timing.interval - 1
  } elsewhen (over) {
    reset := True
    resets := resets + 1
    left := timing.pulse - 1
    when(tried =/= RxRecovery.tries * RxRecovery.maxDoublings)(tried := tried + 1)
  }
  when(io.link)(tried := 0)

  io.reset := reset
  io.resets := resets
  io.quietCycles := Mux(io.link && !reset, U(32 bits, default -> True), left.resize(32 bits))
}
