// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import spinal.core._
import spinal.lib._

/** What an event of a ring is decided by. */
case class RingMeasured() extends Bundle {
  val added = UInt(16 bits) // by the doorbell
  val refused = Bool() // the ring cannot be as it is, or as the doorbell would make it
  val fetches = UInt(DescriptorCache.countBits bits) // descriptors that one read may have
  val need = UInt(DescriptorCache.frameBits bits) // buffers of the frame
}

/** Measures a ring. All but `need` is there 2 cycles after the ring is; what comes in has to be steady.
  *
  * The buffers of a frame are counted from the cycle after `start` on, one a cycle, up to one more than a frame may
  * have.
  */
class RingMeasure extends Component {
  val io = new Bundle {
    val ring = in(C2hRing())
    val entries = in UInt (16 bits) // without the status entry
    val doorbell = slave(Flow(UInt(16 bits))) // a new PIDX
    val start = in Bool ()
    val length = slave(Flow(UInt(16 bits))) // with start: of a frame
    val size = in UInt (17 bits) // of a buffer, from the cycle after start on
    val isWide = in Bool () // reads of 256 bytes are allowed, and not only of 128
    val measured = out(RingMeasured())
    val counted = out Bool () // need is there
  }

  private def distance(from: UInt, to: UInt): UInt =
    ((to >= from) ? (to - from).resize(17 bits) | (to.resize(17 bits) + io.entries - from)).resize(17 bits)

  val ring = io.ring
  val reached = io.doorbell.valid ? io.doorbell.payload | ring.pidx
  val added = RegNext(distance(ring.pidx, reached))
  val used = RegNext(distance(ring.cidx, ring.pidx))
  val inRow = RegNext(((ring.pidx >= ring.fetched) ? ring.pidx | io.entries) - ring.fetched)
  val places = Seq(reached, ring.pidx, ring.cidx, ring.fetched)
  val isWrong = RegNext(ring.context.wrong || io.entries < 2 || places.map(_ >= io.entries).orR)

  io.measured.added := added.resized
  io.measured.refused := RegNext(isWrong || used + added >= io.entries)
  val limit = U(DescriptorCache.fetchLimit, DescriptorCache.bits + 1 bits)
  val room = (ring.free >= limit) ? limit | ring.free
  // No read crosses a multiple of 256 bytes, or of 128 if it may not have more.
  val inRead = {
    val place = RegNext(ring.context.base(7 downto 3) + ring.fetched(4 downto 0))
    io.isWide ? (U(32, 6 bits) - place) | (U(16, 6 bits) - place(3 downto 0))
  }
  val most = (inRow < room) ? inRow.resize(DescriptorCache.countBits bits) | room.resize(DescriptorCache.countBits bits)
  val number = (most < inRead) ? most | inRead
  io.measured.fetches := RegNext((isWrong || ring.reads(1)) ? U(0, DescriptorCache.countBits bits) | number)

  val rest = Reg(UInt(16 bits))
  val need = Reg(UInt(DescriptorCache.frameBits bits))
  val more = rest > io.size && io.size =/= 0 && !need.msb
  io.measured.need := need
  io.counted := !more
  when(io.start) {
    rest := io.length.valid ? io.length.payload | U(0, 16 bits)
    need := 1
  } elsewhen (more) {
    rest := (rest - io.size).resized
    need := need + 1
  }
}
