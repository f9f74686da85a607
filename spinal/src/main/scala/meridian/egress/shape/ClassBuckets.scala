// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** A rate of a class and what it may save up; may be set at any time. */
case class ClassRate() extends Bundle {
  val rate = UInt(ClassBuckets.rateBits bits) // in ClassBuckets.unit; 0: there is no bucket
  val burst = UInt(ClassBuckets.burstBits bits) // in ClassBuckets.burstUnit
}

/** Bytes that a class was given. */
case class ClassCharge() extends Bundle {
  val trafficClass = UInt(3 bits)
  val bytes = UInt(16 bits)
}

object ClassBuckets {
  val classes = 8
  val rateBits = 17
  val burstBits = 16
  val burstUnit = 64 // bytes

  /** A class is given its rate once in so many cycles. */
  val visitCycles = 8

  /** Bits behind a byte, as many as let a rate be the line's and some more. */
  def fractionBits(clock: HertzNumber, lineRate: Int): Int = {
    val linePerVisit = BigDecimal(lineRate) * 1000000000 / 8 * visitCycles / clock.toBigDecimal
    (0 to 16).reverse.find(n => linePerVisit * (1 << n) < (1 << (rateBits - 1)) + 1).get
  }

  /** Bits a second of a rate of 1. */
  def unit(clock: HertzNumber, lineRate: Int): BigDecimal =
    clock.toBigDecimal / visitCycles * 8 / (1 << fractionBits(clock, lineRate))
}

/** A token bucket a class, in bytes. Every 8 cycles it gets what its rate gives, until it holds its burst; a frame takes its
  * bytes out when it begins. It may go below zero and has to come back before it is positive again, so a rate is exact over
  * time.
  *
  * In any time t a class that begins frames only while its level is not negative is given no more than burst + rate * t and
  * the frame that was begun last; and what 8 cycles give, as a bucket may be so much above its burst. A burst that is made
  * smaller holds when what is over was used.
  *
  * Latency: 2 cycles from a charge to the level. Throughput: a charge a cycle.
  *
  * @param fractionBits behind a byte
  * @param forgives     what is taken out below zero is forgotten: for a rate that a class is to have at least
  */
class ClassBuckets(fractionBits: Int, forgives: Boolean) extends Component {
  import ClassBuckets._
  val io = new Bundle {
    val rates = in Vec (ClassRate(), classes)
    val charge = slave(Flow(ClassCharge()))

    /** Cycles that this clock edge stands for: 1, except in a simulation that skips idle time. */
    val skip = in UInt (32 bits)

    /** The level of a class that has a rate. */
    val negative, positive = out Bits (classes bits)
  }
  val bytesBits = 25 // signed: more than a burst above, and more than 2 MiB with a frame below
  val lowest = -(BigInt(1) << 21)
  val bits = bytesBits + fractionBits

  val turn = Reg(UInt(log2Up(visitCycles) bits)) init 0
  turn := turn + 1
  require(visitCycles == classes, "a class a cycle has its turn")
  val skips = RegNext(io.skip =/= 1) init False
  val skipped = RegNext(io.skip)

  val buckets = for (i <- 0 until classes) yield new Area {
    val rate = io.rates(i).rate
    val burst = (io.rates(i).burst << (log2Up(burstUnit) + fractionBits)).resize(bits).asSInt
    val level = Reg(SInt(bits bits)) init 0
    val full = RegNext(level >= burst) init True
    val closed = RegNext(if (forgives) level.msb else level < S(lowest << fractionBits, bits bits)) init False
    val gain = RegNext(rate.andMask(turn === i && !full)) init 0
    val spent = RegNext(io.charge.bytes.andMask(io.charge.valid && io.charge.trafficClass === i && !closed)) init 0
    val change = gain.resize(bits).asSInt - (spent << fractionBits).resize(bits).asSInt
    level := level + change
    when(skips) {
      val given = (skipped * rate) >> log2Up(visitCycles)
      val sum = level.resize(64) + given.resize(64).asSInt
      when(sum < burst.resize(64))(level := sum.resize(bits)) elsewhen (level < burst)(level := burst)
    }
    when(rate === 0)(level := 0)
    io.negative(i) := level.msb
    io.positive(i) := !level.msb && level =/= 0
  }
}
