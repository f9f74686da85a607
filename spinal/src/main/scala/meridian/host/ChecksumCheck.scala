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
  val shaper = new PacketShaper(p)
  shaper.io.beat << io.beat
  val packet = new PacketSums(p, shaper)
  val header = packet.header(packet.mask.header)
  val l4 = packet.l4(packet.mask.l4)

  /** A sum that holds its own complement; a second carry cannot arise of so few words. */
  def isGood(sum: ChecksumSum): Bool = sum.folded === 0xffff

  // Whether the frame's beats so far had a checksum of UDP, with the sums.
  val hasChecksum = Reg(Bool())
  val udpChecksum = RegNext(packet.chosen(packet.mask.l4Checksum))
  when(RegNext(packet.udp.valid, init = False)) {
    hasChecksum := (hasChecksum && !RegNext(packet.udp.begins)) || RegNext(udpChecksum.orR)
  }

  // With the sums.
  val end = new Area {
    val ended = Delay(packet.beat.valid && packet.beat.last, 3, init = False)
    val has = packet.end
    val summed = has.longEnough && (has.tcp || has.udp && has.rightLength && hasChecksum)

    def verdict(checked: Bool, isGood: Bool) = {
      val verdict = Checksum()
      verdict := Checksum.notChecked
      when(checked)(verdict := Mux(isGood, Checksum.good(), Checksum.bad()))
      verdict
    }
    val now = ChecksumVerdict()
    now.ip := verdict(has.ip, isGood(header))
    now.l4 := verdict(summed, isGood(l4))
    now.kind := L4Kind.other
    when(has.tcp)(now.kind := L4Kind.tcp)
    when(has.udp)(now.kind := L4Kind.udp)
    io.verdict.valid := RegNext(ended) init False
    io.verdict.payload := RegNext(now)
  }
}
