// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import spinal.core._

/** A ring of buffers as the engine knows it. */
case class C2hRing() extends Bundle {
  val context = RingContext()
  val pidx, cidx = UInt(16 bits)
  val fetched = UInt(16 bits) // the descriptor that is fetched next
  val pending = Bool() // as software sees it: buffers are posted that are not used
  val owes = Bool() // the next frame's completion tells of a bad descriptor
  val inWhole, inPart = Bool() // waits for its turn in that list (FetchTurns)
  val told = Bool() // the shell has heard of descriptors
  val starved = Bool() // a frame was dropped for want of buffers, and none has come since
  val head = UInt(DescriptorCache.bits bits) // the place of the first descriptor that is cached
  val cached, fetching = UInt(DescriptorCache.bits + 1 bits)
  val ahead = UInt(DescriptorCache.bits bits) // of fetching: they have come before those ahead of them in the ring
  val reads = UInt(2 bits) // under way, 2 at most

  private def used: UInt = cached + fetching // places of the cache
  def free: UInt = U(DescriptorCache.places, DescriptorCache.bits + 1 bits) - used
  def hasPlace: Bool = !used.msb
  def hasPlaces: Bool = used <= DescriptorCache.places - DescriptorCache.fetchLimit // for a whole fetch

  /** What commands on contexts see of it. */
  def state: RingState = {
    val it = RingState()
    it.allowOverride()
    it := RingState().getZero
    it.context := context
    it.pidx := pidx
    it.cidx := cidx
    it.pending := pending
    it
  }

  private def changed(change: C2hRing => Unit): C2hRing = {
    val it = C2hRing()
    it.allowOverride()
    it := this
    change(it)
    it
  }

  /** It begins as its contexts say. */
  def begun(as: RingChange): C2hRing = changed { it =>
    it.context := as.context
    it.pidx := as.pidx
    it.cidx := as.cidx
    it.pending := as.pending
    it.fetched := as.cidx
    Seq(it.told, it.starved, it.owes).foreach(_ := False)
    it.head := 0
    it.cached := 0
    it.fetching := 0
    it.ahead := 0
    it.reads := 0
  }

  /** Descriptors were asked for, those of a read. */
  def asked(count: UInt, entries: UInt): C2hRing = changed { it =>
    val end = fetched + count
    it.fetched := (end === entries) ? U(0, 16 bits) | end
    it.fetching := fetching + count
    it.reads := reads + 1
  }

  /** What can be used more, as a read has ended: nothing if the one before has not. */
  def added(place: UInt, count: UInt): UInt = {
    val isNext = place === head + cached.resize(DescriptorCache.bits bits)
    isNext ? (count +^ ahead).resize(DescriptorCache.bits + 1 bits) | U(0, DescriptorCache.bits + 1 bits)
  }

  /** Descriptors of a read have come, and the shell hears of those that can be used, `number`. */
  def come(count: UInt, number: UInt): C2hRing = changed { it =>
    // One that comes ahead of another is under way until both have come, so that no third can.
    when(number =/= 0)(it.reads := reads - ((ahead =/= 0) ? U(2, 2 bits) | U(1, 2 bits)))
    it.cached := cached + number
    it.fetching := fetching - number
    it.ahead := (number === 0) ? count.resize(DescriptorCache.bits bits) | U(0, DescriptorCache.bits bits)
    when(number =/= 0) {
      it.starved := False
      it.told := True
    }
  }

  /** A frame has got so many, up to `nextCidx`. */
  def used(count: UInt, nextCidx: UInt): C2hRing = changed { it =>
    it.head := head + count.resize(DescriptorCache.bits bits)
    it.cached := cached - count
    it.cidx := nextCidx
    when(nextCidx === pidx)(it.pending := False)
  }
}

/** A queue's prefetch context. */
case class PrefetchContext() extends Bundle {
  val valid = Bool()
  val size = UInt(4 bits) // index in the table of sizes of buffers
}
case class PrefetchWrite() extends Bundle {
  val queue = DmaParam.queueType()
  val context = PrefetchContext()
}
