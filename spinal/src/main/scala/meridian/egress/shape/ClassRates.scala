// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** Bytes that a class was given. */
case class ClassCharge() extends Bundle {
  val trafficClass = UInt(3 bits)
  val bytes = UInt(16 bits)
}

/** Access to the rates of a port, a word at a time. */
case class ClassRateAccess() extends Bundle with IMasterSlave {
  val write = Flow(ClassRateWrite())
  val least = Bool() // of write and look: the rate that the class is to have at least
  val look = UInt(3 bits)
  val rate = UInt(ClassBuckets.rateBits bits)
  val burst = UInt(ClassBuckets.burstBits bits)

  override def asMaster(): Unit = {
    master(write)
    out(least, look)
    in(rate, burst)
  }
}

object ClassRates {

  /** Cycles between two charges at least: one is a step of the buckets in four cycles. */
  val chargeCycles = 2 * ClassBuckets.stepCycles
}

/** Rates of the classes of a port: what each may have at most, and what each is to have at least.
  *
  * io.blocked: the class has had more than its highest rate, and may not begin a frame. io.urgent: it has had less than its
  * lowest rate, and goes before classes that have not. The scheduler tells of each frame when it begins, by io.charge, with
  * the bytes that it counts: with preamble, FCS and gap, if the rates are those of the line.
  *
  * Rates are in steps of ClassBuckets.unit: 488 kb/s at 25 Gb/s and a clock of 250 MHz, 244 kb/s at 10 Gb/s. Bursts are in
  * steps of 64 bytes, up to 4 MiB. A rate of 0: no bound, and none to have.
  *
  * Latency: 7 cycles from a charge to io.blocked, so a scheduler that begins frames less than 8 cycles apart lets one more go
  * than it should. Throughput: a charge in 4 cycles. About 750 LUTs with its registers; settings and levels are in LUT RAM.
  *
  * @param clock    of the component
  * @param lineRate Gb/s
  */
class ClassRates(clock: HertzNumber, lineRate: Int) extends Component {
  import ClassBuckets._
  val io = new Bundle {
    val settings = slave(ClassRateAccess())
    val charge = slave(Flow(ClassCharge()))
    val blocked, urgent = out Bits (classes bits)
    val idle = out Bool () // each bucket is full
  }
  val fraction = fractionBits(clock, lineRate)
  val most = new ClassBuckets(fraction, forgives = false)
  val least = new ClassBuckets(fraction, forgives = true)

  /** One visit and one charge at most in four cycles. */
  val turn = Reg(UInt(log2Up(visitCycles) bits)) init 0
  turn := turn + 1
  val phase = turn.resize(2)
  val waits = RegInit(False) clearWhen (phase === 2) setWhen (io.charge.valid)
  val charge = RegNextWhen(io.charge.payload, io.charge.valid)
  val step = Flow(BucketStep())
  step.valid := phase === 0 || phase === 2 && waits
  step.gives := phase === 0
  step.trafficClass := Mux(step.gives, turn.takeHigh(log2Up(classes)).asUInt, charge.trafficClass)
  step.bytes := charge.bytes
  for ((buckets, mine) <- Seq(most -> !io.settings.least, least -> io.settings.least)) {
    buckets.io.write.valid := io.settings.write.valid && mine
    buckets.io.write.payload := io.settings.write.payload
    buckets.io.look := io.settings.look
    buckets.io.step << step
  }
  io.settings.rate := Mux(io.settings.least, least.io.rate, most.io.rate)
  io.settings.burst := Mux(io.settings.least, least.io.burst, most.io.burst)
  io.blocked := most.io.negative
  io.urgent := least.io.nonNegative
  io.idle := Seq(most, least).map(_.io.full).andR && !waits
}
