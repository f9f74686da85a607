// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import spinal.core._
import spinal.lib._

/** Computes the bytes that a function may send under a rate: subtracts those that were spent, and adds those of a
  * refill.
  *
  * level is in bytes with fractionBits behind the point, so that a refill is the rate itself. It may be below zero:
  * bytes that were sent too early are paid for before others go, so the rate is exact over time. The level is at most
  * what the rate gives in 2^burstShift cycles plus baseBytes, at least floorBytes, and 0 without a rate.
  *
  * Latency: RateBucket.latency cycles. Throughput: one step a cycle.
  *
  * @param floorBytes the lowest level
  */
class RateBucket(fractionBits: Int, floorBytes: Int) extends Component {
  import RateBucket._
  require(fractionBits >= Pacing.rateShift - Pacing.burstShift, s"fractionBits is $fractionBits: a burst needs 3")
  val io = new Bundle {
    val level = in SInt (levelBits(fractionBits) bits)
    val spent = in UInt (Arrived.bytesBits bits)
    val rate = in UInt (Pacing.rateBits bits)
    val refill = in Bool ()
    val next = out SInt (levelBits(fractionBits) bits)
    val full = out Bool () // nothing more fits, or there is no rate
  }
  val width = levelBits(fractionBits) + 2
  def bytes(n: Int) = S(BigInt(n) << fractionBits, width bits)

  val spent = RegNext(io.level.resize(width) - (io.spent << fractionBits).resize(width).asSInt)
  val gain = RegNext(io.rate.andMask(io.refill))
  val filled = RegNext(spent + gain.resize(width).asSInt)
  val share = io.rate << (fractionBits - (Pacing.rateShift - Pacing.burstShift))
  val most = RegNext(RegNext(share.resize(width).asSInt + bytes(Pacing.baseBytes)))
  val none = RegNext(RegNext(io.rate === 0))

  val next = CombInit(filled)
  val full = filled >= most
  when(full)(next := most)
  when(filled < bytes(floorBytes))(next := bytes(floorBytes))
  when(none)(next := 0)
  io.next := RegNext(next.resize(levelBits(fractionBits)))
  io.full := RegNext(full || none)
}

object RateBucket {
  val latency = 3
  def levelBits(fractionBits: Int): Int = 26 + fractionBits
}
