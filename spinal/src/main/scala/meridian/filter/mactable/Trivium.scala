// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core._
import spinal.lib._

/** The stream cipher Trivium (De Cannière and Preneel; ISO/IEC 29192-3), as software. */
object Trivium {
  val keyBits = 80

  /** Steps from a new key to the first bit of the keystream. */
  val warmUp = 4 * 288

  /** Lengths of the three shift registers. */
  val lengths = Seq(93, 84, 111)

  /** The state under a new key, of which only the key is not known: bit i of the key is bit i of the first register. */
  def initial(key: BigInt): Seq[BigInt] = {
    require(key >= 0 && key.bitLength <= keyBits, s"the key has ${key.bitLength} bits: choose at most $keyBits")
    Seq(key, BigInt(0), BigInt(7) << 108)
  }

  /** The keystream behind the warm-up, with the vector of initialization 0. */
  def keystream(key: BigInt): Iterator[Boolean] = {
    val state = initial(key).zip(lengths).map { case (value, n) => Array.tabulate(n)(value.testBit) }.toArray
    def step(): Boolean = {
      val Array(a, b, c) = state
      val sums = Seq(a(65) ^ a(92), b(68) ^ b(83), c(65) ^ c(110))
      val next = Seq(
        sums(2) ^ (c(108) && c(109)) ^ a(68),
        sums(0) ^ (a(90) && a(91)) ^ b(77),
        sums(1) ^ (b(81) && b(82)) ^ c(86)
      )
      for ((bit, i) <- next.zipWithIndex) state(i) = bit +: state(i).init
      sums.reduce(_ ^ _)
    }
    for (_ <- 0 until warmUp) step()
    Iterator.continually(step())
  }
}

/** A part of a key. */
case class KeyWord() extends Bundle {
  val word = UInt(2 bits) // 2: the last 16 bits
  val data = Bits(32 bits)
}

/** Trivium in hardware: `steps` bits of its keystream in every cycle with `step`, the first of them in bit 0.
  *
  * A key is written in words of 32 bits, and taken by `start`; the first Trivium.warmUp steps behind it are to be thrown
  * away. The key has no register of its own: what the state holds is gone with the next word.
  *
  * @param steps 1 to 64
  */
class Trivium(steps: Int) extends Component {
  require(steps >= 1 && steps <= 64, s"steps is $steps: choose 1 to 64")
  val io = new Bundle {
    val key = slave(Flow(KeyWord()))
    val start, step = in Bool ()
    val bits = out Bits (steps bits)
  }
  val Seq(a, b, c) = Trivium.lengths.map(length => Reg(Bits(length bits)))

  /** The bit that step j finds at a place. */
  private case class Step(j: Int) {
    def at(register: Bits, place: Int): Bool = register(place - j)
    val sums = Seq(at(a, 65) ^ at(a, 92), at(b, 68) ^ at(b, 83), at(c, 65) ^ at(c, 110))
    val toA = sums(2) ^ (at(c, 108) && at(c, 109)) ^ at(a, 68)
    val toB = sums(0) ^ (at(a, 90) && at(a, 91)) ^ at(b, 77)
    val toC = sums(1) ^ (at(b, 81) && at(b, 82)) ^ at(c, 86)
    val bit = sums.reduce(_ ^ _)
  }
  private val all = (0 until steps).map(Step(_))
  io.bits := Vec(all.map(_.bit)).asBits

  def shifted(register: Bits, bits: Seq[Bool]): Bits =
    register.dropHigh(steps) ## Vec(bits.reverse).asBits
  when(io.step) {
    a := shifted(a, all.map(_.toA))
    b := shifted(b, all.map(_.toB))
    c := shifted(c, all.map(_.toC))
  }
  when(io.key.valid) {
    for ((low, word) <- (0 until Trivium.keyBits by 32).zipWithIndex) when(io.key.word === word) {
      val bits = 32.min(Trivium.keyBits - low)
      a(low, bits bits) := io.key.data.take(bits)
    }
  }
  when(io.start) {
    a.drop(Trivium.keyBits) := 0
    b := 0
    c := B(BigInt(7) << 108, 111 bits)
  }
}
