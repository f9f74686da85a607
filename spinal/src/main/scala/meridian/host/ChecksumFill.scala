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
  val packet = new PacketSums(p, shaper)
  val mask = packet.mask
  val header = packet.header(mask.header & ~mask.headerChecksum)
  val l4 = packet.l4(mask.l4 & ~mask.l4Checksum)

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
    val covers = RegNext(RegNext(packet.shape.end) <= bytes && !RegNext(zero))
  }

  // With the sums.
  val end = new Area {
    val has = packet.end
    val covers = Delay(length.covers, has.cycles - 2)
    val ip = covers && has.ip
    val l4 = covers && has.longEnough && (has.tcp || has.udp && has.rightLength)
  }

  /** Three cycles: the first carries, the last one, and what is left to say. */
  def value(sum: ChecksumSum, isUdp: Bool): Bits = {
    val folded = RegNext(sum.folded)
    val complement = RegNext(~(folded.take(16).asUInt + folded.msb.asUInt.resize(16)))
    RegNext(Mux(isUdp && complement === 0, B(0xffff, 16 bits), complement.asBits))
  }
  val shape = packet.shape
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
