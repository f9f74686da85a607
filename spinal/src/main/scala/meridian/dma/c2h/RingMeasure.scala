// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import spinal.core._
import spinal.lib._

/** What an event of a ring is decided by. */
case class RingMeasured() extends Bundle {
  val added = UInt(16 bits) // by the doorbell
  val refused = Bool() // the ring cannot be as it is, or as the doorbell would make it
  val fetches = UInt(DescriptorCache.countBits bits) // descriptors that one read may have
  val readAddress = UInt(64 bits) // of these descriptors
  val readPlace = UInt(DescriptorCache.bits bits) // in the cache
  // Of a frame: its buffers, and whether
  val need = UInt(DescriptorCache.frameBits bits)
  val isThere = Bool() // its ring is that for which it came
  val mayGet = Bool() // that ring is enabled: then exactly one of the next four is true, else none is
  val hasNone = Bool() // it has no bytes, or its ring's buffers have no size
  val isLong = Bool() // it needs more buffers than a frame or its ring may have
  val fits = Bool() // what it needs is cached
  val isShort = Bool() // what it needs is not cached
  val isWhole = Bool() // the ring has as many as the frame needs
  val isStuck = Bool() // descriptors that it may need are not under way, and cannot be fetched
  val nextCidx = UInt(16 bits) // behind its buffers
  // Of descriptors that have come: whether the ring is that which asked, and how many can be used more.
  val isAsked = Bool()
  val usable = UInt(DescriptorCache.bits + 1 bits)
}

/** Measures a ring, so that the decision of an event is short. All is there 2 cycles after the ring is, and what depends on
  * `need` is in the cycle after `counted`; what comes in has to be steady.
  *
  * The buffers of a frame are counted from the cycle after `start` on, one a cycle, up to one more than a frame may
  * have.
  */
class RingMeasure(p: DmaParam) extends Component {
  val io = new Bundle {
    val ring = in(C2hRing())
    val entries = in UInt (16 bits) // without the status entry
    val doorbell = slave(Flow(UInt(16 bits))) // a new PIDX
    val start = in Bool ()
    val epoch = in(RingEpoch()) // of the ring
    val frame = slave(Flow(FrameHeader())) // with start: the event is this frame's
    val arrival = in(CacheArrival())
    val isPrefetched = in Bool () // the queue has a prefetch context
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
  val room = RegNext((ring.free >= limit) ? limit | ring.free)
  // No read crosses a multiple of 256 bytes, or of 128 if it may not have more.
  val inRead = {
    val place = RegNext(ring.context.base(7 downto 3) + ring.fetched(4 downto 0))
    io.isWide ? (U(32, 6 bits) - place) | (U(16, 6 bits) - place(3 downto 0))
  }
  val most = (inRow < room) ? inRow.resize(DescriptorCache.countBits bits) | room.resize(DescriptorCache.countBits bits)
  val number = (most < inRead) ? most | inRead
  io.measured.fetches := RegNext((isWrong || ring.reads(1)) ? U(0, DescriptorCache.countBits bits) | number)

  io.measured.readAddress := RegNext(ring.context.base + (ring.fetched << 3))
  io.measured.readPlace := RegNext(ring.head + (ring.cached + ring.fetching).resize(DescriptorCache.bits bits))
  val frame = io.frame.payload
  val isThere = RegNext(p.hasQueue(frame.queue) && frame.epoch === io.epoch)
  io.measured.isThere := RegNext(isThere)
  io.measured.isAsked := RegNext(io.arrival.epoch === io.epoch)
  io.measured.usable := RegNext(ring.added(io.arrival.place, io.arrival.count))

  val rest = Reg(UInt(16 bits))
  val need = Reg(UInt(DescriptorCache.frameBits bits))
  val more = rest > io.size && io.size =/= 0 && !need.msb
  io.measured.need := need
  io.counted := !more
  when(io.start) {
    rest := io.frame.valid ? frame.length | U(0, 16 bits)
    need := 1
  } elsewhen (more) {
    rest := (rest - io.size).resized
    need := need + 1
  }
  val mayGet = isThere && ring.context.enable
  val hasNone = !io.isPrefetched || io.size === 0 || frame.length === 0
  val isLong = need.msb || need >= io.entries
  val isWhole = ring.cached >= need
  io.measured.mayGet := RegNext(mayGet)
  io.measured.hasNone := RegNext(mayGet && hasNone)
  io.measured.isLong := RegNext(mayGet && !hasNone && isLong)
  io.measured.fits := RegNext(mayGet && !hasNone && !isLong && isWhole)
  io.measured.isShort := RegNext(mayGet && !hasNone && !isLong && !isWhole)
  io.measured.isWhole := RegNext(isWhole)
  io.measured.isStuck := io.measured.refused && RegNext(ring.fetching === 0 && ring.fetched =/= ring.pidx)
  val end = ring.cidx +^ need
  io.measured.nextCidx := RegNext(((end >= io.entries) ? (end - io.entries) | end).resize(16 bits))
}
