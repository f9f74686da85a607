// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import meridian.ptp.PtpFinder
import spinal.core._
import spinal.lib._

/** What became of a frame that was to be marked; one of the three. */
case class EcnOutcome() extends Bundle {
  val marked = Bool() // it is CE now
  val already = Bool() // it was CE
  val notEct = Bool() // its sender does not do ECN, or it is no IP: it is as it was
}

/** A beat of a frame on its way to a memory. */
case class EcnBeat[M <: Data](bytes: Int, metaType: HardType[M]) extends Bundle {
  val first, last = Bool()
  val data = Bits(8 * bytes bits)
  val mty = UInt(log2Up(bytes) bits)
  val meta = metaType()
}

/** Marks frames as having met congestion (CE, RFC 3168): IPv4 with its header checksum (RFC 1624), and IPv6, behind at most
  * two VLAN tags. Only packets of senders that do ECN are changed.
  *
  * io.mark belongs to the first beat of a frame at io.input. A frame may be cut by the first beat of another.
  *
  * Latency: 2 cycles. Throughput: one beat a cycle, no bubble between frames, no back-pressure. About 150 LUTs beside two
  * registers of a beat.
  *
  * @param bytes in a beat: 32 or 64
  */
class EcnMarker[M <: Data](bytes: Int, metaType: HardType[M]) extends Component {
  require(bytes == 32 || bytes == 64, s"bytes is $bytes: choose 32 or 64")
  val io = new Bundle {
    val input = slave(Flow(EcnBeat(bytes, metaType)))
    val mark = in Bool ()
    val output = master(Flow(EcnBeat(bytes, metaType)))

    /** With the first beat at output of a frame that was to be marked. */
    val outcome = master(Flow(EcnOutcome()))
  }

  /** What is to be done with a beat. */
  case class Work() extends Bundle {
    val beat = EcnBeat(bytes, metaType)
    val mark = Bool() // the frame is to be marked, and this is its first beat
    val tags = Bits(3 bits) // of the first beat, one-hot: 0, 1 or 2
    val ipv4, ipv6 = Bool() // of the first beat, and what is to be changed is in it
  }
  def byte(n: Int): Bits = io.input.data(8 * n, 8 bits)
  def typeAt(n: Int): Bits = byte(n) ## byte(n + 1)
  val outer = PtpFinder.isTag(typeAt(12))
  val inner = PtpFinder.isTag(typeAt(16))
  val tags = (outer && inner) ## (outer && !inner) ## !outer
  val count = U(bytes, log2Up(bytes) + 1 bits) - io.input.mty
  val work = Work()
  work.beat := io.input.payload
  work.mark := io.mark && io.input.first
  work.tags := tags
  // The IPv4 checksum ends at byte 26 without tags, the class of IPv6 at byte 16. Two tags push the checksum to bytes 32
  // and 33: then all of the first beat has to be there.
  def is(etherType: Int, version: Int, end: Int): Bool = (0 to 2)
    .map(n =>
      tags(n) && typeAt(12 + 4 * n) === etherType && byte(14 + 4 * n)(7 downto 4) === version &&
        count >= (end + 4 * n).min(bytes)
    )
    .orR
  work.ipv4 := is(0x0800, 4, 26)
  work.ipv6 := is(0x86dd, 6, 16)
  val valid = RegNext(io.input.valid) init False
  val staged = RegNext(work)

  val patch = new Area {
    def byte(n: Int): Bits = staged.beat.data(8 * n, 8 bits)
    def chosen(of: Int => Bits): Bits = MuxOH(staged.tags, (0 to 2).map(of))
    val service = chosen(n => byte(15 + 4 * n))
    val ecn = Mux(staged.ipv6, service(5 downto 4), service(1 downto 0))
    val ip = staged.ipv4 || staged.ipv6
    val change = staged.mark && ip && ecn =/= 0 && ecn =/= 3
    val more = Mux(ecn === 1, U(2, 2 bits), U(1, 2 bits)) // what is added to the field
    // The field is in the lower byte of its 16-bit word, so the checksum is less by as much, in ones' complement.
    val wide = bytes > 32
    def sum(high: Bits, low: Bits, less: UInt): Bits = {
      val plain = (~(high ## low)).asUInt +^ less
      (~(plain(15 downto 0) + plain.msb.asUInt).asBits).resize(16)
    }
    val late = RegInit(False) // the checksum is at the beginning of the second beat
    val lateMore = RegNextWhen(more, valid && staged.beat.first)
    when(valid)(late := Bool(!wide) && change && staged.ipv4 && staged.tags(2) && !staged.beat.last)
  }
  val out = EcnBeat(bytes, metaType)
  out := staged.beat
  when(patch.change) {
    for (n <- 0 to 2) when(staged.tags(n)) {
      val at = 8 * (15 + 4 * n)
      when(staged.ipv6)(out.data(at + 4, 2 bits) := 3) otherwise (out.data(at, 2 bits) := 3)
      val place = 24 + 4 * n
      if (place + 2 <= bytes) when(staged.ipv4) {
        val sum = patch.sum(patch.byte(place), patch.byte(place + 1), patch.more)
        out.data(8 * place, 16 bits) := EndiannessSwap(sum)
      }
    }
  }
  if (!patch.wide) when(patch.late && !staged.beat.first) {
    val sum = patch.sum(patch.byte(0), patch.byte(1), patch.lateMore)
    out.data(0, 16 bits) := EndiannessSwap(sum)
  }
  io.output.valid := RegNext(valid) init False
  io.output.payload := RegNext(out)

  io.outcome.valid := RegNext(valid && staged.mark) init False
  io.outcome.marked := RegNext(patch.change)
  io.outcome.already := RegNext(patch.ip && patch.ecn === 3)
  io.outcome.notEct := RegNext(!patch.ip || patch.ecn === 0)
}
