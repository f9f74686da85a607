// SPDX-License-Identifier: Apache-2.0
package meridian.host

import spinal.core._
import spinal.lib._

object ChecksumSum {

  /** Cycles from a beat to the sum with it. */
  val latency = 3

  /** Cycles from a beat to when the sum starts from `start`, if it is the first. */
  val atStart = 2
}

/** The sum of the words of a frame that a mask names, for an Internet checksum (RFC 1071): ready ChecksumSum.latency
  * cycles after its last beat. One beat a cycle.
  *
  * @param words   of the beat, as on the wire: the first byte above the second
  * @param mask    the words that count, with the beat
  * @param half    of these, the one whose second byte does not count
  * @param start   what the sum starts from, ChecksumSum.atStart cycles after the first beat
  * @param sumBits bits that hold the largest sum
  */
class ChecksumSum(
    valid: Bool,
    first: Bool,
    words: Seq[Bits],
    mask: Bits,
    half: Bits,
    start: UInt,
    sumBits: Int
) extends Area {
  val terms = words.zipWithIndex.map { case (x, w) =>
    (x.dropLow(8).andMask(mask(w)) ## x.take(8).andMask(mask(w) && !half(w))).asUInt
  }
  val pairs = Vec(terms.grouped(2).map(_.reduce(_ +^ _)).toSeq.map(RegNext(_)))
  val fours = Vec(pairs.grouped(4).map(_.reduceBalancedTree(_ +^ _)).toSeq.map(RegNext(_)))
  val sum = Reg(UInt(sumBits bits))
  val begins = Delay(first, ChecksumSum.atStart)
  when(Delay(valid, ChecksumSum.atStart, init = False)) {
    sum := Mux(begins, start.resize(sumBits), sum) + fours.reduceBalancedTree(_ +^ _).resize(sumBits)
  }

  /** With its carries added once; adding the last one cannot carry again. */
  def folded: UInt = sum.dropLow(16).asUInt.resize(17) + sum.take(16).asUInt
}
