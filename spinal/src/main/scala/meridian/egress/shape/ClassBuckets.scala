// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** A word of a rate, as software writes it. */
case class ClassRateWrite() extends Bundle {
  val trafficClass = UInt(3 bits)
  val isBurst = Bool() // in ClassBuckets.burstUnit; else the rate, in ClassBuckets.unit, and 0: there is no bucket
  val value = UInt(ClassBuckets.rateBits bits)
}

/** What happens to the bucket of a class: it gets what its rate gives, or the bytes of a frame are taken out. */
case class BucketStep() extends Bundle {
  val trafficClass = UInt(3 bits)
  val gives = Bool()
  val bytes = UInt(16 bits)
}

object ClassBuckets {
  val classes = 8
  val rateBits = 17
  val burstBits = 16
  val burstUnit = 64 // bytes

  /** Cycles between two steps, and after which the bucket of a class is given its rate again. */
  val stepCycles = 2
  val visitCycles = 2 * stepCycles * classes

  /** Bits behind a byte, as many as let a rate be the line's and some more. */
  def fractionBits(clock: HertzNumber, lineRate: Int): Int = {
    val linePerVisit = BigDecimal(lineRate) * 1000000000 / 8 * visitCycles / clock.toBigDecimal
    (0 to 16).reverse.find(n => linePerVisit * (1 << n) < (1 << (rateBits - 1)) + 1).get
  }

  /** Bits a second of a rate of 1. */
  def unit(clock: HertzNumber, lineRate: Int): BigDecimal =
    clock.toBigDecimal / visitCycles * 8 / (1 << fractionBits(clock, lineRate))
}

/** A token bucket a class, in bytes, all in one memory. A step gives a class what its rate gives, until it holds its burst;
  * or takes out the bytes of a frame. A bucket may go below zero and has to come back from there, so a rate is exact over
  * time. Rates and bursts may be written at any time, and are 0 after reset.
  *
  * In any time t a class that begins frames only while its level is not negative is given no more than burst + rate * t and
  * the frame that was begun last; and what a visit gives, as a bucket may be so much above its burst. A burst that is made
  * smaller holds when what is over was used.
  *
  * Latency: 3 cycles from a step to the level. Throughput: a step in 2 cycles. For 8 cycles after reset none counts.
  *
  * @param fractionBits behind a byte
  * @param forgives     what is taken out below zero is forgotten: for a rate that a class is to have at least
  */
class ClassBuckets(fractionBits: Int, forgives: Boolean) extends Component {
  import ClassBuckets._
  val io = new Bundle {
    val write = slave(Flow(ClassRateWrite()))
    val look = in UInt (3 bits) // whose settings are asked for
    val rate = out UInt (rateBits bits)
    val burst = out UInt (burstBits bits)
    val step = slave(Flow(BucketStep()))

    /** The level of a class that has a rate; and each of these is full. */
    val negative, nonNegative = out Bits (classes bits)
    val full = out Bool ()
  }
  val bytesBits = 25 // signed: more than a burst above, and more than 2 MiB with a frame below
  val lowest = -(BigInt(1) << 21)
  val bits = bytesBits + fractionBits

  /** After reset the memories are cleared, a class a cycle. */
  val clear = new Area {
    val count = Reg(UInt(log2Up(classes) + 1 bits)) init 0
    val done = count.msb
    when(!done)(count := count + 1)
    val place = count.resize(log2Up(classes))
  }
  private def kept(width: Int, isBurst: Boolean): Mem[UInt] = {
    val memory = Mem(UInt(width bits), classes)
    memory.write(
      Mux(clear.done, io.write.trafficClass, clear.place),
      io.write.value.resize(width).andMask(clear.done),
      !clear.done || io.write.valid && io.write.isBurst === Bool(isBurst)
    )
    memory
  }
  val rates = kept(rateBits, isBurst = false)
  val bursts = kept(burstBits, isBurst = true)
  val levels = Mem(SInt(bits bits), classes)
  io.rate := rates.readAsync(io.look)
  io.burst := bursts.readAsync(io.look)

  /** Of each class as its last step has left it. */
  val full = Reg(Bits(classes bits)) init B(classes bits, default -> true)
  val closed, negative, nonNegative = Reg(Bits(classes bits)) init 0

  val read = new Area {
    val step = io.step
    val at = step.trafficClass
    val rate = rates.readAsync(at)
    val gain = rate.andMask(!full(at)).resize(bits).asSInt
    val spent = (step.bytes.andMask(!closed(at)) << fractionBits).resize(bits).asSInt
  }
  val sum = new Area {
    val valid = RegNext(read.step.valid && clear.done) init False
    val at = RegNext(read.at)
    val has = RegNext(read.rate =/= 0)
    val burst = RegNext(bursts.readAsync(read.at))
    val level = RegNext(levels.readAsync(read.at))
    val change = RegNext(Mux(read.step.gives, read.gain, -read.spent))
    val result = Mux(has, level + change, S(0, bits bits))
    levels.write(Mux(clear.done, at, clear.place), result.andMask(clear.done), valid || !clear.done)
  }
  val judge = new Area {
    val valid = RegNext(sum.valid) init False
    val at = RegNext(sum.at)
    val has = RegNext(sum.has)
    val level = RegNext(sum.result)
    val burst = RegNext((sum.burst << (log2Up(burstUnit) + fractionBits)).resize(bits).asSInt)
    when(valid) {
      full(at) := !has || level >= burst
      closed(at) := (if (forgives) level.msb else level < S(lowest << fractionBits, bits bits))
      negative(at) := has && level.msb
      nonNegative(at) := has && !level.msb
    }
  }
  when(io.write.valid)(full(io.write.trafficClass) := False) // until its next step
  io.negative := negative
  io.nonNegative := nonNegative
  io.full := full.andR && !History(io.step.valid && !io.step.gives, 3, init = False).orR
}
