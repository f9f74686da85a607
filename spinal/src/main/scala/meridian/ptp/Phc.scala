// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._

object Phc {

  /** Nanoseconds in a second. */
  val second = BigInt(1000000000)

  /** Increment of a clock that runs at this frequency: its period in 2^-32 ns, rounded. */
  def increment(frequency: HertzNumber): BigInt =
    (BigDecimal(second << 32) / frequency.toBigDecimal).setScale(0, BigDecimal.RoundingMode.HALF_UP).toBigInt
}

/** The PTP hardware clock: a 48-bit second, 32-bit nanosecond, 32-bit fraction counter that adds `increment` a cycle
  * and carries into the seconds at 1e9 ns in the very cycle it is reached.
  *
  * Latency: a set shows on io.time 1 cycle later, an adjust or a new increment 5 cycles later. One command a cycle of
  * each kind is taken; there is no back-pressure.
  *
  * io.stepped is high in the first cycle in which io.time shows the effect of a set or an adjust.
  *
  * io.skip is the number of cycles this clock edge stands for: tie it to 1 in hardware. A simulator that found nothing
  * to do may give n > 1: time then moves as n edges would have moved it. n is bounded by n * increment < 1 s. The
  * path for n > 1 (a multiplier and wide adders) disappears in synthesis when the input is the constant 1.
  *
  * @param frequency nominal clock, which gives the increment used until the first one comes in
  */
class Phc(frequency: HertzNumber = 250 MHz) extends Component {
  private val nominal = Phc.increment(frequency)
  require(nominal > 0 && nominal < (BigInt(1) << 40), s"frequency is $frequency: choose above 4 MHz")

  val io = new Bundle {
    val control = slave(PhcControl())
    val skip = in UInt (32 bits)
    val time = out(PtpFineTime())
    val stepped = out Bool ()
  }

  private val now = Reg(PtpFineTime())
  now.seconds init 0
  now.nanoseconds init 0
  now.fraction init 0
  private val control = io.control

  /** What the next edge adds: `amount` in 2^-32 ns below one second, and -1, 0 or +1 s. It is the increment, or
    * increment and adjust together, brought into that range over four cycles so that the accumulator stays short.
    */
  val step = new Area {
    private def kept(valid: Bool) = RegNext(valid && !control.set.valid) init False
    private val oneSecond = S(Phc.second << 32, 66 bits)

    val increment1 = RegNext(control.increment) init nominal
    val adjust1 = RegNext(control.adjust.nanoseconds @@ control.adjust.fraction)
    val valid1 = kept(control.adjust.valid)

    val increment2 = RegNext(increment1) init nominal
    val total2 = RegNext(adjust1.resize(66 bits) + increment1.resize(66 bits).asSInt)
    val valid2 = kept(valid1)

    val increment3 = RegNext(increment2) init nominal
    val amount3 = Reg(UInt(62 bits)) init nominal
    val secondsUp3, secondsDown3 = RegInit(False)
    val valid3 = kept(valid2)
    private val lower = total2 - oneSecond
    private val higher = total2 + oneSecond
    amount3 := increment2.resized
    secondsUp3 := False
    secondsDown3 := False
    when(valid2 && !control.set.valid) {
      secondsDown3 := total2.msb
      secondsUp3 := !lower.msb
      amount3 := Mux(total2.msb, higher, Mux(lower.msb, total2, lower)).asUInt.resized
    }

    // The last stage gives both forms that the accumulator needs, and falls back to the increment after a set.
    val increment = RegNext(increment3) init nominal
    val amount = Reg(UInt(62 bits)) init nominal
    val amountOver = Reg(SInt(63 bits)) init nominal - (Phc.second << 32)
    val secondsUp, secondsDown = RegInit(False)
    val stepping = kept(valid3)
    private val chosen = Mux(control.set.valid, increment3.resize(62 bits), amount3)
    amount := chosen
    amountOver := chosen.resize(63 bits).asSInt - S(Phc.second << 32, 63 bits)
    secondsUp := secondsUp3 && !control.set.valid
    secondsDown := secondsDown3 && !control.set.valid
  }

  /** Both outcomes, inside this second and beyond it, side by side; the sign of the second picks. */
  val accumulate = new Area {
    private val fine = now.nanoseconds(29 downto 0) @@ now.fraction
    val sum = fine +^ step.amount
    val over = fine.resize(64 bits).asSInt + step.amountOver.resize(64 bits)
    val wraps = !over.msb
    private val base = Mux(step.secondsUp, S(1, 48 bits), Mux(step.secondsDown, S(-1, 48 bits), S(0, 48 bits))).asUInt
    private val baseOver = Mux(step.secondsUp, U(2, 48 bits), Mux(step.secondsDown, U(0, 48 bits), U(1, 48 bits)))
    val stay = now.seconds + base
    val next = now.seconds + baseOver
    now.fraction := sum(31 downto 0)
    now.nanoseconds := Mux(wraps, over.asUInt, sum.resized)(61 downto 32).resized
    now.seconds := Mux(wraps, next, stay)
  }

  io.stepped := RegNext(control.set.valid || step.stepping) init False
  when(control.set.valid) {
    now := control.set.payload
  }

  val idle = new Area {
    private val more = step.increment * (io.skip - 1)
    private val base = PtpFineTime()
    base := now
    private val first = UInt(62 bits)
    first := step.amount
    private val seconds = UInt(48 bits)
    seconds := accumulate.stay
    when(control.set.valid) {
      base := control.set.payload
      first := 0
      seconds := control.set.seconds
    }
    private val total = (base.nanoseconds @@ base.fraction).resize(66 bits) + first + more
    private val nanoseconds = total >> 32
    when(io.skip =/= 1) {
      now.fraction := total(31 downto 0)
      now.nanoseconds := nanoseconds.resized
      now.seconds := seconds
      for (carry <- 1 to 2) when(nanoseconds >= carry * Phc.second) {
        now.nanoseconds := (nanoseconds - carry * Phc.second).resized
        now.seconds := seconds + carry
      }
    }
    assert(
      io.skip === 1 || (io.skip =/= 0 && (more >> 32) < Phc.second),
      "Phc: skip must be 1 or more and stand for less than a second",
      FAILURE
    )
  }

  io.time := now
}
