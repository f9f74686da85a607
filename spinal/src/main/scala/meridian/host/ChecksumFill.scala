// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

/** A checksum, and where in its frame it stands. */
case class ChecksumPatch() extends Bundle {
  val valid = Bool() // the frame has that field
  val place = UInt(6 bits) // in 16-bit words from the start of the frame
  val value = Bits(16 bits) // the first byte on the wire above
}

/** Both checksums of a frame. */
case class ChecksumPatches() extends Bundle {
  val ip = ChecksumPatch() // of the IPv4 header
  val l4 = ChecksumPatch() // of TCP or UDP
}

object ChecksumFill {

  /** Cycles from a frame's last beat to its checksums. */
  val latency = PacketShape.latency + 1 + ChecksumSum.latency + 3
}

/** Computes what the checksums of each frame ought to be, whatever their fields hold (RFC 1071): of an IPv4 header, and of
  * TCP or UDP over IPv4 or IPv6 with the pseudo header. A UDP checksum of 0 is told as 0xFFFF.
  *
  * There is none in a packet whose lengths contradict each other or the frame; no TCP or UDP in an IPv4 fragment, behind
  * an IPv6 extension header or a second tag, in a TCP segment below 20 bytes, or in a UDP datagram whose length is not
  * that of the packet.
  *
  * The patches come ChecksumFill.latency cycles after the frame's last beat, for each frame. `meta` of a beat: it is a
  * transfer without a byte. One beat a cycle; nothing can hold it up.
  */
class ChecksumFill(p: ShellParam) extends Component {
  val io = new Bundle {
    val beat = slave(Flow(Fragment(FrameWord(p.hostBytes, Bool()))))
    val patches = master(Flow(ChecksumPatches()))
  }
  val shaper = new PacketShaper(p)
  shaper.io.beat.valid := io.beat.valid
  shaper.io.beat.last := io.beat.last
  shaper.io.beat.fragment.data := io.beat.fragment.data
  shaper.io.beat.fragment.mty := io.beat.fragment.mty
  shaper.io.beat.fragment.meta := (1 << p.lengthBits) - 1 // how long it is, is known at its end
  val shape = shaper.io.shape
  val masks = new ChecksumMasks(p)
  masks.io.valid := shaper.io.passed.valid
  masks.io.first := shaper.io.first
  masks.io.shape := shape

  // One cycle later: the beat with the words of it that count.
  val beat = shaper.io.passed.stage()
  val first = RegNext(shaper.io.first)
  val mask = RegNext(masks.io.masks)
  val word = (0 until p.hostBytes / 2).map(w => beat.fragment(16 * w, 8 bits) ## beat.fragment(16 * w + 8, 8 bits))
  val udpLength = RegNext(
    word.zipWithIndex.map { case (x, w) => x.andMask(mask.udpLength(w)) }.reduceBalancedTree(_ | _)
  )

  def sum(mask: Bits, half: Bits, start: UInt, bits: Int) =
    new ChecksumSum(beat.valid, first, word, mask, half, start, bits)
  val none = B(0, p.hostBytes / 2 bits)
  val protocol = Mux(shape.tcp, U(6, 5 bits), U(17, 5 bits))
  val header = sum(mask.header & ~mask.headerChecksum, none, U(0, 1 bits), 21)
  val l4 = sum(mask.l4 & ~mask.l4Checksum, mask.half, Delay(shape.l4Length +^ protocol, 1 + ChecksumSum.atStart), 30)

  /** With the shape: bytes of the frame up to here, and then whether the packet is within them. */
  val length = new Area {
    val beats = Reg(UInt(17 - log2Up(p.hostBytes) bits)) init 0
    val full = beats.andR
    when(shaper.io.passed.valid) {
      when(shaper.io.passed.last)(beats := 0) elsewhen (!full)(beats := beats + 1)
    }
    val mty = Delay(io.beat.fragment.mty, PacketShape.latency)
    val zero = Delay(io.beat.fragment.meta, PacketShape.latency)
    val bytes = RegNext((beats << log2Up(p.hostBytes)) + (U(p.hostBytes) - mty))
    val covers = RegNext(RegNext(shape.end) <= bytes && !RegNext(zero))
  }

  // What the frame's beats have said so far of a datagram's own length.
  val udp = new Area {
    val begins = Delay(first, 1)
    val right = Reg(Bool())
    val expected = Delay(shape.l4Length, 2)
    when(Delay(beat.valid, 1, init = False))(right := (right && !begins) || udpLength.asUInt === expected)
  }

  // With the sums.
  val end = new Area {
    val cycles = 1 + ChecksumSum.latency
    val covers = Delay(length.covers, cycles - 2)
    val longEnough = Delay(Mux(shape.tcp, shape.l4Length >= 20, shape.l4Length >= 8), cycles)
    val ip = covers && Delay(shape.v4 && shape.whole, cycles)
    val l4 = covers && longEnough && Delay(shape.whole, cycles) &&
      (Delay(shape.tcp, cycles) || Delay(shape.udp, cycles) && RegNext(udp.right))
  }

  /** Three cycles: the first carries, the last one, and what is left to say. */
  def value(sum: ChecksumSum, isUdp: Bool): Bits = {
    val folded = RegNext(sum.folded)
    val complement = RegNext(~(folded.take(16).asUInt + folded.msb.asUInt.resize(16)))
    RegNext(Mux(isUdp && complement === 0, B(0xffff, 16 bits), complement.asBits))
  }
  val toEnd = ChecksumFill.latency - PacketShape.latency // from the shape
  val l3 = Mux(shape.tagged, U(PacketShape.l3Start + 4, 7 bits), U(PacketShape.l3Start, 7 bits))
  val tcpOrUdp = Mux(shape.tcp, U(16, 7 bits), U(6, 7 bits))
  io.patches.ip.valid := Delay(end.ip, 3)
  io.patches.ip.place := Delay((l3 + 10) >> 1, toEnd)
  io.patches.ip.value := value(header, False)
  io.patches.l4.valid := Delay(end.l4, 3)
  io.patches.l4.place := Delay((shape.l4Start + tcpOrUdp) >> 1, toEnd)
  io.patches.l4.value := value(l4, Delay(shape.udp, toEnd - 1))
  io.patches.valid := Delay(io.beat.valid && io.beat.last, ChecksumFill.latency, init = False)
}
