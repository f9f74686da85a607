// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._

/** A running time in carry-save form: the value is seconds, nanoseconds + carry and fraction. */
case class CarriedTime() extends Bundle {
  val fraction = UInt(32 bits)
  val carry = Bool()
  val nanoseconds = UInt(30 bits)
  val seconds = UInt(48 bits)
}

/** A time counter for the MAC clocks (390.625 MHz): it adds io.step a cycle and can be loaded. The carry from the
  * fraction into the nanoseconds waits a cycle in a register, and both outcomes of the turn of a second are computed
  * side by side, so that no path is longer than one 32-bit carry chain and a multiplexer.
  *
  * io.now is the counter, io.rounded is what io.now was 2 cycles before, to the nearest nanosecond. io.step acts on
  * io.now 2 cycles later (it is at least 0: the time never runs back but by a load), io.load 1 cycle later.
  * io.skip: number of cycles an edge stands for, see [[Phc]]; the cycles beyond the first add io.pace each.
  *
  * @param increment step after reset, in 2^-32 ns
  */
class SteeredClock(increment: BigInt) extends Component {
  require(increment > 0 && increment < (BigInt(1) << 40), s"increment is $increment: choose below 256 ns")

  val io = new Bundle {
    val step = in UInt (40 bits)
    val pace = in UInt (40 bits)
    val load = slave(Flow(PtpFineTime()))
    val skip = in UInt (32 bits)
    val now = out(CarriedTime())
    val rounded = out(PtpTime())
  }

  private val now = Reg(CarriedTime())
  now.fraction init 0
  now.carry init False
  now.nanoseconds init 0
  now.seconds init 0
  io.now := now

  val accumulate = new Area {
    val step = RegNext(io.step) init increment
    val stepOver = RegNext((io.step >> 32).resize(32 bits).asSInt - S(Phc.second, 32 bits))
    stepOver init (increment >> 32).toInt - Phc.second.toInt

    // The pending carry comes in below the lowest bit, where it costs no second adder.
    private val held = now.nanoseconds @@ U"1"
    val stay = (held.resize(32 bits) + (step(39 downto 32) @@ now.carry.asUInt).resize(32 bits)) >> 1
    val over = (held.resize(34 bits).asSInt + (stepOver @@ now.carry.asSInt).resize(34 bits)) >> 1
    val wraps = !over.msb

    val fraction = now.fraction +^ step(31 downto 0)
    now.fraction := fraction(31 downto 0)
    now.carry := fraction.msb
    now.nanoseconds := Mux(wraps, over.asUInt.resize(30 bits), stay.resize(30 bits))
    when(wraps) {
      now.seconds := now.seconds + 1
    }
    when(io.load.valid) {
      now.fraction := io.load.fraction
      now.carry := False
      now.nanoseconds := io.load.nanoseconds.resized
      now.seconds := io.load.seconds
    }
  }

  /** io.rounded in two stages of its own. */
  val round = new Area {
    val nearest = Reg(UInt(31 bits)) init 0
    val seconds = Reg(UInt(48 bits)) init 0
    val time = Reg(PtpTime())
    time.nanoseconds init 0
    time.seconds init 0

    // At most 1e9 + 1, as nanoseconds is below 1e9. 1e9 is even, so beyond it only the lowest bit is left.
    nearest := now.nanoseconds +^ (now.carry.asUInt +^ now.fraction.msb.asUInt)
    seconds := now.seconds
    time.nanoseconds := nearest.resized
    time.seconds := seconds
    when((nearest >> 1) === Phc.second / 2) {
      time.nanoseconds := nearest(0).asUInt.resized
      time.seconds := seconds + 1
    }
  }
  io.rounded := round.time

  /** What the edges of a skip leave behind: the counter, and in the stages of the rounding the counter of one and two
    * cycles before.
    */
  val idle = new Area {
    private val more = io.pace * (io.skip - 1)
    private val before = (now.nanoseconds @@ now.fraction).resize(66 bits) + (now.carry.asUInt << 32)
    private val total = before + accumulate.step + more

    /** Seconds beyond now.seconds, and nanoseconds. */
    private def split(time: UInt) = {
      val seconds = UInt(2 bits)
      val nanoseconds = UInt(40 bits)
      seconds := 0
      nanoseconds := time >> 32
      for (carry <- 1 to 2) when((time >> 32) >= carry * Phc.second) {
        seconds := carry
        nanoseconds := (time >> 32) - carry * Phc.second
      }
      (seconds, nanoseconds)
    }
    private val half = BigInt(1) << 31
    private val (seconds, nanoseconds) = split(total)
    private val (seconds1, nanoseconds1) = split(total - io.pace + half)
    private val (seconds2, nanoseconds2) = split(Mux(io.skip === 2, before, total - (io.pace << 1)) + half)
    when(io.skip =/= 1) {
      now.fraction := total(31 downto 0)
      now.carry := False
      now.nanoseconds := nanoseconds.resized
      now.seconds := now.seconds + seconds
      round.nearest := nanoseconds1.resized
      round.seconds := now.seconds + seconds1
      round.time.nanoseconds := nanoseconds2.resized
      round.time.seconds := now.seconds + seconds2
    }
    assert(
      io.skip === 1 || (io.skip =/= 0 && (more >> 32) < Phc.second),
      "SteeredClock: skip must be 1 or more and stand for less than a second",
      FAILURE
    )
  }
}
