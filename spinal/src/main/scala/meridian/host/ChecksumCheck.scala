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
  val udpChecksum = RegNext(chosen(mask.udpChecksum).orR)

  /** The sum of the words of a frame that a mask names, with what it starts from; ready two cycles after the beat. */
  class Sum(mask: Bits, half: Bits, start: UInt, sumBits: Int) extends Area {
    val terms = word.zipWithIndex.map { case (x, w) =>
      (x.dropLow(8).andMask(mask(w)) ## x.take(8).andMask(mask(w) && !half(w))).asUInt
    }
    val pairs = Vec(terms.grouped(2).map(_.reduce(_ +^ _)).toSeq.map(RegNext(_)))
    val fours = Vec(pairs.grouped(4).map(_.reduceBalancedTree(_ +^ _)).toSeq.map(RegNext(_)))
    val sum = Reg(UInt(sumBits bits))
    val begins = Delay(first, 2)
    when(Delay(beat.valid, 2, init = False)) {
      sum := Mux(begins, start.resize(sumBits), sum) + fours.reduceBalancedTree(_ +^ _).resize(sumBits)
    }

    /** A sum that holds its own complement; a second carry cannot arise of so few words. */
    val isGood = (sum.dropLow(16).asUInt.resize(17) + sum.take(16).asUInt) === 0xffff
  }
  val atSum = 3 // cycles from the masks to a beat's pairs and fours, where the sum starts

  val header = new Sum(mask.header, B(0, words bits), U(0, 1 bits), 21)
  val protocol = Mux(shape.tcp, U(6, 5 bits), U(17, 5 bits))
  val l4 = new Sum(mask.l4, mask.half, Delay(shape.l4Length +^ protocol, atSum), 30)

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
    val cycles = atSum + 1
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
    now.ip := verdict(ip, header.isGood)
    now.l4 := verdict(summed, l4.isGood)
    now.kind := L4Kind.other
    when(tcp)(now.kind := L4Kind.tcp)
    when(udpHere)(now.kind := L4Kind.udp)
    io.verdict.valid := RegNext(ended) init False
    io.verdict.payload := RegNext(now)
  }
}
