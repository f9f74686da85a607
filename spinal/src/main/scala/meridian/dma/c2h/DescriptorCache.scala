// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import meridian.dma.pcie.ReadBeat
import spinal.core._
import spinal.lib._

/** Descriptors that were asked for, in the order of their reads. */
case class CacheFetch() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val place = UInt(DescriptorCache.bits bits) // of the first
  val count = UInt(5 bits)
}

/** They have come. */
case class CacheArrival() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val count = UInt(5 bits)
  val failed = Bool() // they cannot be used
}

object DescriptorCache {
  val bits = 5
  val places = 1 << bits // of each queue; a frame has at most 31 buffers
  val fetchLimit = 16
}

/** Addresses of buffers that were fetched and are not used, 32 of each queue: descriptors of 8 bytes, one a cycle.
  *
  * A word that is asked for is there the next cycle. What has come is told 2 cycles after its last beat at the earliest.
  */
class DescriptorCache(p: DmaParam) extends Component {
  val io = new Bundle {
    val fetch = slave(Stream(CacheFetch()))
    val beat = slave(Stream(Fragment(ReadBeat())))
    val arrival = master(Stream(CacheArrival()))
    val queue = in(DmaParam.queueType())
    val place = in UInt (DescriptorCache.bits bits)
    val address = out UInt (64 bits)
  }

  private def at(queue: UInt, place: UInt): UInt = queue.resize(log2Up(p.queues) bits) @@ place
  val addresses = Mem(UInt(64 bits), p.queues * DescriptorCache.places)
  io.address := addresses.readSync(at(io.queue, io.place))

  val taken = RegInit(U(0, 5 bits)) // of this fetch
  val ends = io.beat.failed || taken + 1 === io.fetch.count
  val told = Stream(CacheArrival())
  val both = io.fetch.valid && io.beat.valid
  told.valid := both && ends
  told.payload.queue := io.fetch.payload.queue
  told.epoch := io.fetch.epoch
  told.count := io.fetch.count
  told.failed := io.beat.failed
  io.arrival << told.m2sPipe()
  val moves = both && (!ends || told.ready)
  io.fetch.ready := moves && ends
  io.beat.ready := moves && (ends || taken(1 downto 0) === 3)
  when(moves)(taken := ends ? U(0, 5 bits) | taken + 1)
  addresses.write(
    address = RegNext(at(io.fetch.payload.queue, io.fetch.place + taken)),
    data = RegNext(io.beat.data.subdivideIn(64 bits)(taken(1 downto 0)).asUInt),
    enable = RegNext(moves && !io.beat.failed) init False
  )
}
