// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** Rates of the classes of a port: what each may have at most, and what each is to have at least.
  *
  * io.blocked: the class has had more than its highest rate, and may not begin a frame. io.urgent: it has had less than its
  * lowest rate, and goes before classes that have not. The scheduler tells of each frame when it begins, by io.charge, with
  * the bytes that it counts: with preamble, FCS and gap, if the rates are those of the line.
  *
  * Rates are in steps of ClassBuckets.unit: 381 kb/s at 25 Gb/s in the transmit clock, 488 kb/s at a host clock of 250 MHz;
  * 153 and 244 kb/s at 10 Gb/s. Bursts are in steps of 64 bytes, up to 4 MiB. A rate of 0: no bound, and none to have.
  *
  * Latency: 2 cycles from a charge to io.blocked, so a scheduler begins frames of a class at least 3 cycles apart, or lets
  * one more go than it should. Throughput: a charge a cycle. About 16 times 40 registers.
  *
  * @param clock    of the component
  * @param lineRate Gb/s
  */
class ClassRates(clock: HertzNumber, lineRate: Int) extends Component {
  import ClassBuckets.classes
  val io = new Bundle {
    val most, least = in Vec (ClassRate(), classes)
    val charge = slave(Flow(ClassCharge()))
    val skip = in UInt (32 bits) // see ClassBuckets
    val blocked, urgent = out Bits (classes bits)
  }
  val fraction = ClassBuckets.fractionBits(clock, lineRate)
  val most = new ClassBuckets(fraction, forgives = false)
  val least = new ClassBuckets(fraction, forgives = true)
  for ((buckets, rates) <- Seq(most -> io.most, least -> io.least)) {
    buckets.io.rates := rates
    buckets.io.charge << io.charge
    buckets.io.skip := io.skip
  }
  io.blocked := most.io.negative
  io.urgent := least.io.positive
}
