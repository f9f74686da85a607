// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** What a packet's checksums are over, told from its beats as a shaper passes them: the words that count, sums over them,
  * and which of the sums mean something. One beat a cycle; nothing can hold it up.
  */
class PacketSums(p: ShellParam, shaper: PacketShaper) extends Area {
  val shape = shaper.io.shape
  val masks = new ChecksumMasks(p)
  masks.io.valid := shaper.io.passed.valid
  masks.io.first := shaper.io.first
  masks.io.shape := shape

  // One cycle later: the beat with the words of it that count.
  val beat = shaper.io.passed.stage()
  val first = RegNext(shaper.io.first)
  val mask = RegNext(masks.io.masks)
  // As on the wire, the first byte above the second.
  val word = (0 until p.hostBytes / 2).map(w => beat.fragment(16 * w, 8 bits) ## beat.fragment(16 * w + 8, 8 bits))

  /** The one word that a mask names. */
  def chosen(mask: Bits): Bits = word.zipWithIndex.map { case (x, w) => x.andMask(mask(w)) }.reduceBalancedTree(_ | _)

  private def sum(mask: Bits, half: Bits, start: UInt, bits: Int) =
    new ChecksumSum(beat.valid, first, word, mask, half, start, bits)

  /** Over words of the IPv4 header. */
  def header(words: Bits): ChecksumSum = sum(words, B(0, p.hostBytes / 2 bits), U(0, 1 bits), 21)

  /** Over words of TCP or UDP with its pseudo header. */
  def l4(words: Bits): ChecksumSum = {
    val protocol = Mux(shape.tcp, U(6, 5 bits), U(17, 5 bits))
    sum(words, mask.half, Delay(shape.l4Length +^ protocol, 1 + ChecksumSum.atStart), 30)
  }

  // What the frame's beats have said so far of a datagram's own length.
  val udp = new Area {
    val length = RegNext(chosen(mask.udpLength))
    val valid = Delay(beat.valid, 1, init = False)
    val begins = Delay(first, 1)
    val rightLength = Reg(Bool())
    val expected = Delay(shape.l4Length, 2)
    when(valid)(rightLength := (rightLength && !begins) || length.asUInt === expected)
  }

  // With the sums: what the frame has.
  val end = new Area {
    val cycles = 1 + ChecksumSum.latency
    val ip = Delay(shape.v4 && shape.whole, cycles)
    val tcp = Delay(shape.tcp && shape.whole, cycles)
    val udp = Delay(shape.udp && shape.whole, cycles)
    val longEnough = Delay(Mux(shape.tcp, shape.l4Length >= 20, shape.l4Length >= 8), cycles)
    val rightLength = RegNext(PacketSums.this.udp.rightLength)
  }
}
