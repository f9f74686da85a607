// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** The frames of a self-test, which generator and checker compute alike. Numbers are little endian.
  *
  * | bytes | what |
  * | --- | --- |
  * | 0 to 11 | destination and source, from registers; the checker does not look at them, so a program may swap them |
  * | 12, 13 | EtherType 0x88B5, IEEE 802 local experimental 1, its upper byte first |
  * | 14, 15 | label: queue in bits 10:0, number of the run in 15:11 |
  * | 16 to 23 | number of the frame among those of its queue, from 0 on |
  * | 24 to 31 | time stamp: the cycle in which the generator made the first beat |
  * | 32, 33 | bytes of the frame |
  * | from 34 on | pattern |
  *
  * Byte n of the pattern is byte n % 8 of word k = n / 8. Word k is the frame's seed, rotated left by 7 * (k % 8), XOR
  * four times the 16 bits of k / 8. The seed is the number of the frame, XOR its time stamp rotated by 32, XOR the label
  * in bits 63:48, XOR a constant. So a bit error in one of the three makes the pattern wrong.
  *
  * A frame of fewer than 34 bytes carries the first of these bytes. It is counted, and nothing of it is checked. One of
  * 34 to 41 bytes has less than a word of pattern, so an error in its numbers may not show.
  */
object TestFrame {
  val etherType = 0x88b5
  val typeAt = 12
  val labelAt = 14
  val sequenceAt = 16
  val stampAt = 24
  val lengthAt = 32
  val headerBytes = 34
  val runBits = 5
  val constant = BigInt("9E3779B97F4A7C15", 16)

  def label(queue: UInt, run: UInt): Bits = run.asBits ## queue.resize(11).asBits

  /** The first 32 bytes, but for the length. */
  def header(destination: Bits, source: Bits, label: Bits, sequence: UInt, stamp: UInt): Bits = {
    val ether = B(etherType & 255, 8 bits) ## B(etherType >> 8, 8 bits)
    stamp.asBits ## sequence.asBits ## label ## ether ## source ## destination
  }

  def seed(sequence: UInt, stamp: UInt, label: Bits): Bits =
    sequence.asBits ^ stamp.asBits.rotateLeft(32) ^ (label ## B(0, 48 bits)) ^ B(constant, 64 bits)

  /** Beats of the largest frame, and one more. */
  def beatBits(p: ShellParam): Int = log2Up(p.maxFrame / p.hostBytes + 2)

  /** A beat of pattern. Depth: a LUT, as rotation is wiring. */
  def pattern(seed: Bits, beat: UInt, bytes: Int): Bits = {
    val words = bytes / 8
    val perChunk = 8 / words // beats
    val chunk = spread(beat >> log2Up(perChunk))
    Cat((0 until words).map { i =>
      val turned = (0 until perChunk).map(b => seed.rotateLeft(7 * (b * words + i)))
      val word = if (perChunk == 1) turned.head else Mux(beat.lsb, turned(1), turned(0))
      word ^ chunk
    })
  }

  private def spread(chunk: UInt): Bits = {
    val bits = chunk.resize(16).asBits
    bits ## bits ## bits ## bits
  }

  /** The same a word of 8 bytes at a time: the seed turned for word k, as `turn` hands it on from word to word. */
  def word(turned: Bits, k: UInt): Bits = turned ^ spread(k >> 3)

  /** The seed turned for the word behind word k. */
  def turn(turned: Bits, k: UInt): Bits =
    k(2 downto 0).andR ? turned.rotateLeft(64 - 7 * 7) | turned.rotateLeft(7)
}
