// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

/** Where the parts of a packet lie, in bytes from the start of its frame, and what it is. */
case class PacketShape(p: ShellParam) extends Bundle {
  val tagged = Bool()
  val v4, v6 = Bool()
  val l4Start = UInt(7 bits)
  val end = UInt(17 bits) // of the IP packet; Ethernet padding follows
  val l4Length = UInt(16 bits)
  val whole = Bool() // its lengths are in order and within the frame
  val tcp, udp = Bool() // and it is no fragment
}

object PacketShape {

  /** Cycles from the first beat to its frame's shape. */
  val latency = 3

  /** Where the IP header starts without a tag; a tag has 4 bytes. */
  val l3Start = 14
}

/** Tells the shape of each frame's IP packet from its first beat: IPv4, or IPv6 without extension headers, behind at most
  * one 802.1Q tag.
  *
  * `shape` and `passed`, the beat it belongs to, come PacketShape.latency cycles after the beat; the shape holds from the
  * frame's first beat to its last. One beat a cycle; nothing can hold it up.
  */
class PacketShaper(p: ShellParam) extends Component {
  val io = new Bundle {
    val beat = slave(Flow(Fragment(FrameWord(p.hostBytes, p.lengthType()))))
    val passed = master(Flow(Fragment(Bits(8 * p.hostBytes bits))))
    val first = out(Bool()) // of passed: it begins a frame
    val shape = out(PacketShape(p))
  }
  val starts = RegNextWhen(io.beat.last, io.beat.valid) init True
  val data = RegNext(io.beat.fragment.data)
  val valid = RegNext(io.beat.valid) init False
  val first = RegNext(starts)
  val last = RegNext(io.beat.last)
  val length = RegNext(io.beat.fragment.meta)

  def byte(at: Int): Bits = data(8 * at, 8 bits)
  def word(at: Int): Bits = byte(at) ## byte(at + 1)

  // The header as it stands in the first beat; IPv4 and IPv6 side by side.
  val header = new Area {
    val take = valid && first
    val isTagged = word(12) === 0x8100
    def ip(offset: Int): Bits = Mux(isTagged, word(18 + offset), word(14 + offset))
    val kind = Mux(isTagged, word(16), word(12))
    val version = ip(0)(15 downto 12)
    val words = ip(0)(11 downto 8).asUInt
    val tagged = RegNextWhen(isTagged, take)
    val v4 = RegNextWhen(kind === 0x0800 && version === 4 && words >= 5, take)
    val v6 = RegNextWhen(kind === 0x86dd && version === 6, take)
    val ihl = RegNextWhen(words, take)
    val bytes4 = RegNextWhen(ip(2).asUInt, take)
    val bytes6 = RegNextWhen(ip(4).asUInt, take)
    val fragment = RegNextWhen(ip(6)(13 downto 0).orR, take)
    val protocol4 = RegNextWhen(ip(8)(7 downto 0), take)
    val protocol6 = RegNextWhen(ip(6)(15 downto 8), take)
    val frame = RegNextWhen(length, take)
  }

  val shape = Reg(PacketShape(p))
  val bytes = Mux(header.v4, header.bytes4, header.bytes6)
  val headerBytes = Mux(header.v4, header.ihl << 2, U(40, 6 bits))
  val l3 = Mux(header.tagged, U(PacketShape.l3Start + 4, 7 bits), U(PacketShape.l3Start, 7 bits))
  val l3And6 = l3 + Mux(header.v4, U(0, 7 bits), U(40, 7 bits))
  val ends = bytes +^ l3And6
  val l4Length = bytes.resize(17) - Mux(header.v4, header.ihl << 2, U(0, 6 bits)).resize(17)
  val protocol = Mux(header.v4, header.protocol4, header.protocol6)
  shape.tagged := header.tagged
  shape.v4 := header.v4
  shape.v6 := header.v6
  shape.l4Start := l3 + headerBytes
  shape.end := ends
  shape.l4Length := l4Length.resized
  shape.whole := (header.v4 || header.v6) && !l4Length.msb && ends <= header.frame.resize(17)
  val unbroken = header.v6 || (header.v4 && !header.fragment)
  shape.tcp := unbroken && protocol === 6
  shape.udp := unbroken && protocol === 17

  io.shape := shape
  io.first := Delay(first, 2)
  io.passed.valid := Delay(valid, 2, init = False)
  io.passed.last := Delay(last, 2)
  io.passed.fragment := Delay(data, 2)
}
