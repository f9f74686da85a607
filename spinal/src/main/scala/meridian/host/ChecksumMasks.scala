// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** Which of a beat's 16-bit words belong to what; the first word on the wire is bit 0. */
case class WordMasks(words: Int) extends Bundle {
  val header = Bits(words bits) // of the IPv4 header
  val l4 = Bits(words bits) // of TCP or UDP with its pseudo header
  val headerChecksum, udpLength = Bits(words bits)
  val l4Checksum = Bits(words bits) // of TCP or UDP

  /** The one word whose second byte is behind the packet. */
  val half = Bits(words bits)
}

/** Tells for each beat of a frame which words its checksums are over, from the frame's shape.
  *
  * No cycle from the beat to its masks; the places in the frame are counted down from beat to beat.
  */
class ChecksumMasks(p: ShellParam) extends Component {
  val io = new Bundle {
    val valid, first = in(Bool())
    val shape = in(PacketShape(p))
    val masks = out(WordMasks(p.hostBytes / 2))
  }
  val beatBits = log2Up(p.hostBytes)
  val shape = io.shape

  /** A place in the frame, counted from the beat at hand; 0 once it is passed. */
  class Place(of: UInt) extends Area {
    val rest = Reg(UInt(widthOf(of) bits))
    val passed = Reg(Bool())
    val now = Mux(io.first, of, rest)
    val beyond = now.dropLow(beatBits).orR // in a later beat
    val here = !beyond && (io.first || !passed)
    when(io.valid) {
      rest := Mux(beyond, now - p.hostBytes, U(0).resized)
      passed := !beyond
    }
    def low: UInt = now(beatBits - 1 downto 0)

    /** The byte of this beat is before the place. */
    def isAfter(byte: Int): Bool = beyond || low > byte
    def isAt(byte: Int): Bool = here && low === byte
  }
  val second = RegNextWhen(io.first, io.valid)
  val l4 = new Place(shape.l4Start)
  val udpLength = new Place((shape.l4Start + 4).resize(7))
  val l4Checksum = new Place(shape.l4Start + Mux(shape.tcp, U(16, 7 bits), U(6, 7 bits)))
  val end = new Place(shape.end)

  /** The byte of this beat is from to until to behind the start of the IP header, which a tag moves. */
  def within(byte: Int, from: Int, to: Int): Bool = {
    def at(tag: Int): Bool = {
      val start = PacketShape.l3Start + tag
      def in(beat: Int) = {
        val here = p.hostBytes * beat + byte
        Bool(here >= start + from && here < start + to)
      }
      io.first && in(0) || !io.first && second && in(1)
    }
    Mux(shape.tagged, at(4), at(0))
  }

  for (w <- 0 until p.hostBytes / 2) {
    val byte = 2 * w
    val inL4 = !l4.isAfter(byte) && end.isAfter(byte)
    val address = Mux(shape.v4, within(byte, 12, 20), within(byte, 8, 40))
    io.masks.header(w) := (!io.first || within(byte, 0, p.hostBytes)) && l4.isAfter(byte)
    io.masks.l4(w) := inL4 || address
    io.masks.half(w) := end.isAt(byte + 1)
    io.masks.udpLength(w) := udpLength.isAt(byte)
    io.masks.l4Checksum(w) := l4Checksum.isAt(byte)
    io.masks.headerChecksum(w) := within(byte, 10, 12)
  }
}
