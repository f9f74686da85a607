// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

/** What the filter decides by: destination, and the VLAN of an 802.1Q tag (0x8100; vid 0 without one). */
case class RxHeader(p: ShellParam) extends Bundle {
  val port = p.portType()
  val length = p.lengthType()
  val address = Bits(48 bits)
  val vid = UInt(12 bits)
  val vlan = Bool()
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
  * The hash input is that of OpenNIC: the low nibble of the first TCI byte, then of an IPv4 packet its protocol, source
  * and destination address and the 4 bytes behind its header, whatever the protocol, each in wire order with the least
  * significant bit of a byte first. A field that is not there is 0: all but the nibble for a tagged frame that is not
  * IPv4, the 4 bytes for a header length below 5 words, any byte behind the end of the frame. Frames are at least 60
  * bytes, so the addresses are always there.
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
  val isIp = Mux(header.vlan, bytes(16 * 8, 16 bits), bytes(12 * 8, 16 bits)) === B"16'x0008"
  val ihl = ip(0, 1)(3 downto 0).asUInt

  // Words behind byte 14 at which the ports start; 0 to 4 cannot be.
  val position = ihl.resize(5) + U(header.vlan)
  val portsAt = Vec((0 to 16).map(i => if (i < 5) B(0, 32 bits) else bytes((14 + 4 * i) * 8, 32 bits)))

  val fields = new Area {
    val nibble = RegNext(bytes(14 * 8, 4 bits).andMask(header.vlan))
    val address = RegNext((ip(16, 4) ## ip(12, 4) ## ip(9, 1)).andMask(isIp))
    val ports = RegNext(portsAt(position.min(16)).andMask(isIp && ihl >= 5))
    val isIp4 = RegNext(isIp)
    val fragment = RegNext((ip(6, 1) & 0x3f).orR || ip(7, 1).orR)
    val tcp = RegNext(ip(9, 1) === 6 && ihl >= 5)
    val udp = RegNext(ip(9, 1) === 17 && ihl >= 5)
    val start = RegNext((position << 2) +^ U(14, 7 bits))
    val length = RegNext(header.length)
  }
  val there = (0 until 4).map(i => fields.length > fields.start + i)
  val ports = Cat((0 until 4).map(i => fields.ports(8 * i, 8 bits).andMask(there(i))))
  val input = HashInput()
  input.bits := ports ## fields.address ## fields.nibble
  input.kind := HashType.none
  when(fields.isIp4) {
    input.kind := HashType.ipv4
    when(there.last && !fields.fragment) {
      when(fields.tcp)(input.kind := HashType.ipv4Tcp)
      when(fields.udp)(input.kind := HashType.ipv4Udp)
    }
  }
  io.hashInput := RegNext(input)
}
