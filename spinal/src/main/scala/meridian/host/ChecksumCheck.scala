// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

object ChecksumCheck {

  /** Cycles from a frame's last beat to its verdict. */
  val latency = 8
}

/** Sums the Internet checksums of each frame as its beats pass (RFC 1071): of an IPv4 header, and of TCP or UDP over IPv4
  * or IPv6 with the pseudo header. Ethernet padding behind the packet is not summed.
  *
  * Not checked: a packet whose lengths contradict each other or the frame, an IPv4 fragment, IPv6 with an extension
  * header, more than one tag, a TCP segment below 20 bytes, a UDP datagram whose length is not that of the packet, and
  * one with checksum 0, which says that it has none.
  *
  * The verdict comes ChecksumCheck.latency cycles after the frame's last beat, one a frame. One beat a cycle; nothing can
  * hold it up.
  */
class ChecksumCheck(p: ShellParam) extends Component {
  val io = new Bundle {
    val beat = slave(Flow(Fragment(FrameWord(p.hostBytes, p.lengthType()))))
    val verdict = master(Flow(ChecksumVerdict()))
  }
  val words = p.hostBytes / 2
  val shaper = new PacketShaper(p)
  shaper.io.beat << io.beat
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
  val word = (0 until words).map(w => beat.fragment(16 * w, 8 bits) ## beat.fragment(16 * w + 8, 8 bits))

  def chosen(mask: Bits): Bits = word.zipWithIndex.map { case (x, w) => x.andMask(mask(w)) }.reduceBalancedTree(_ | _)
  val udpLength = RegNext(chosen(mask.udpLength))
  val udpChecksum = RegNext(chosen(mask.l4Checksum).orR)

  val protocol = Mux(shape.tcp, U(6, 5 bits), U(17, 5 bits))
  def sum(mask: Bits, half: Bits, start: UInt, bits: Int) =
    new ChecksumSum(beat.valid, first, word, mask, half, start, bits)
  val header = sum(mask.header, B(0, words bits), U(0, 1 bits), 21)
  val l4 = sum(mask.l4, mask.half, Delay(shape.l4Length +^ protocol, 1 + ChecksumSum.atStart), 30)

  /** A sum that holds its own complement; a second carry cannot arise of so few words. */
  def isGood(sum: ChecksumSum): Bool = sum.folded === 0xffff

  // What the frame's beats have said so far of a datagram's own length and checksum.
  val udp = new Area {
    val valid = Delay(beat.valid, 1, init = False)
    val begins = Delay(first, 1)
    val rightLength, hasChecksum = Reg(Bool())
    val expected = Delay(shape.l4Length, 2)
    when(valid) {
      rightLength := (rightLength && !begins) || udpLength.asUInt === expected
      hasChecksum := (hasChecksum && !begins) || udpChecksum
    }
  }

  // With the sums.
  val end = new Area {
    val cycles = 1 + ChecksumSum.latency
    val ended = Delay(beat.valid && beat.last, 3, init = False)
    val ip = Delay(shape.v4 && shape.whole, cycles)
    val tcp = Delay(shape.tcp && shape.whole, cycles)
    val udpHere = Delay(shape.udp && shape.whole, cycles)
    val longEnough = Delay(Mux(shape.tcp, shape.l4Length >= 20, shape.l4Length >= 8), cycles)
    val summed = longEnough && (tcp || udpHere && RegNext(udp.rightLength) && RegNext(udp.hasChecksum))

    def verdict(checked: Bool, isGood: Bool) = {
      val verdict = Checksum()
      verdict := Checksum.notChecked
      when(checked)(verdict := Mux(isGood, Checksum.good(), Checksum.bad()))
      verdict
    }
    val now = ChecksumVerdict()
    now.ip := verdict(ip, isGood(header))
    now.l4 := verdict(summed, isGood(l4))
    now.kind := L4Kind.other
    when(tcp)(now.kind := L4Kind.tcp)
    when(udpHere)(now.kind := L4Kind.udp)
    io.verdict.valid := RegNext(ended) init False
    io.verdict.payload := RegNext(now)
  }
}
