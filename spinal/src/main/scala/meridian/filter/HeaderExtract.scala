// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.rss._
import meridian.frame.FrameWord
import meridian.meta.{HashType, RxMeta, RxSource}
import spinal.core._
import spinal.lib._

/** What the filter decides by: destination, and the VLAN of an 802.1Q tag (0x8100; vid 0 without one). */
case class RxHeader(p: ShellParam) extends Bundle {
  val port = p.portType()
  val length = p.lengthType()
  val address = Bits(48 bits)
  val vid = UInt(12 bits)
  val vlan = Bool()
  val source = RxSource(p)
}

object HeaderExtract {

  /** Last header byte looked at is the low byte of the destination port behind a tag and 60 bytes of IPv4 header. */
  val headerBytes = 14 + 4 + 60 + 4

  /** Cycles from a header to its hash input. */
  val hashInputLatency = 2
}

/** Collects the first bytes of each frame and tells its header and what RSS hashes of it.
  *
  * The header comes in the cycle after the last beat that can hold header bytes (the third at 32 bytes a beat, the
  * second at 64) or after the frame's last beat, whichever is first; the hash input 2 cycles after the header.
  * One beat a cycle, one header a frame, no bubble; nothing can hold it up.
  *
  * The hash input is the low nibble of the first TCI byte, then of an IPv4 packet its protocol, source and destination
  * address and the 4 bytes behind its header, whatever the protocol; of an IPv6 packet its addresses and, where TCP or
  * UDP follows at once, the 4 bytes behind its header. A field that is not there is 0: all but the nibble for a tagged
  * frame of another type, the 4 bytes for a header length below 5 words, any byte behind the end of the frame. Frames are
  * at least 60 bytes, so the addresses are always there.
  */
class HeaderExtract(p: ShellParam) extends Component {
  val io = new Bundle {
    val beat = slave(Flow(Fragment(FrameWord(p.hostBytes, RxMeta(p)))))
    val header = master(Flow(RxHeader(p)))
    val hashInput = out(HashInput())
  }

  val beats = (HeaderExtract.headerBytes + p.hostBytes - 1) / p.hostBytes
  val index = Reg(UInt(log2Up(beats + 1) bits)) init 0
  val slices = Vec(Reg(Bits(8 * p.hostBytes bits)), beats)
  val header = Reg(RxHeader(p))
  val data = io.beat.fragment.data

  when(io.beat.valid) {
    for (i <- 0 until beats) when(index === i)(slices(i) := data)
    when(index === 0) {
      val vlan = data(12 * 8, 16 bits) === B"16'x0081"
      header.port := io.beat.fragment.meta.port
      header.length := io.beat.fragment.meta.length
      header.address := data(0, 48 bits)
      header.vlan := vlan
      header.source := io.beat.fragment.meta.source
      header.vid := (data(14 * 8, 4 bits) ## data(15 * 8, 8 bits)).asUInt.andMask(vlan)
    }
    when(io.beat.last)(index := 0).elsewhen(index =/= beats)(index := index + 1)
  }
  io.header.valid := RegNext(io.beat.valid && index =/= beats && (io.beat.last || index === beats - 1)) init False
  io.header.payload := header

  // The bytes hold for one cycle only: a following frame may overwrite them in the next.
  val bytes = slices.asBits
  def ip(offset: Int, count: Int): Bits =
    Mux(header.vlan, bytes((18 + offset) * 8, 8 * count bits), bytes((14 + offset) * 8, 8 * count bits))
  val etherType = Mux(header.vlan, bytes(16 * 8, 16 bits), bytes(12 * 8, 16 bits))
  val isIpv4 = etherType === B"16'x0008"
  val isIpv6 = etherType === B"16'xdd86"
  val ihl = ip(0, 1)(3 downto 0).asUInt
  val headerWords = Mux(isIpv6, U(10, 4 bits), ihl)

  // Words behind byte 14 at which the ports start; 0 to 4 cannot be.
  val position = headerWords.resize(5) + U(header.vlan)
  val portsAt = Vec((0 to 16).map(i => if (i < 5) B(0, 32 bits) else bytes((14 + 4 * i) * 8, 32 bits)))

  val fields = new Area {
    val nibble = RegNext(bytes(14 * 8, 4 bits).andMask(header.vlan))
    val protocol = RegNext(ip(9, 1))
    val addresses = RegNext(ip(8, 32).andMask(isIpv6) | (ip(16, 4) ## ip(12, 4)).andMask(isIpv4).resize(256))
    val ports = RegNext(portsAt(position.min(16)).andMask(isIpv6 || isIpv4 && ihl >= 5))
    val v4 = RegNext(isIpv4)
    val v6 = RegNext(isIpv6)
    val fragment = RegNext((ip(6, 1) & 0x3f).orR || ip(7, 1).orR)
    val l4 = Mux(isIpv6, ip(6, 1), ip(9, 1))
    val tcp = RegNext(l4 === 6 && (isIpv6 || ihl >= 5))
    val udp = RegNext(l4 === 17 && (isIpv6 || ihl >= 5))
    val start = RegNext((position << 2) +^ U(14, 7 bits))
    val length = RegNext(header.length)
  }
  val there = (0 until 4).map(i => fields.length > fields.start + i)
  val ports = Cat((0 until 4).map(i => fields.ports(8 * i, 8 bits).andMask(there(i))))
  val input = HashInput()
  input.nibble := fields.nibble
  input.protocol := fields.protocol
  input.addresses := fields.addresses
  input.ports := ports
  input.kind := HashType.none
  when(fields.v6) {
    input.kind := HashType.ipv6
    when(there.last) {
      when(fields.tcp)(input.kind := HashType.ipv6Tcp)
      when(fields.udp)(input.kind := HashType.ipv6Udp)
    }
  }
  when(fields.v4) {
    input.kind := HashType.ipv4
    when(there.last && !fields.fragment) {
      when(fields.tcp)(input.kind := HashType.ipv4Tcp)
      when(fields.udp)(input.kind := HashType.ipv4Udp)
    }
  }
  io.hashInput := RegNext(input)
}
