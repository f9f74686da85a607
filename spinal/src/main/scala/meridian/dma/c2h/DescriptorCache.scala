// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

object DescriptorCache {
  val bits = 6
  val places = 1 << bits // of each queue
  val fetchLimit = 32 // descriptors of a read, 256 bytes
  val countBits = log2Up(fetchLimit + 1)
  val frameBits = 6 // of a number of buffers that says whether it is more than a frame may have, 31
}

/** A descriptor of 8 bytes that has come. */
case class CacheWrite() extends Bundle {
  val queue = DmaParam.queueType()
  val place = UInt(DescriptorCache.bits bits)
  val address = UInt(64 bits)
}

/** Addresses of buffers that were fetched and are not used, 64 of each queue. A word that is asked for is there the
  * next cycle.
  */
class DescriptorCache(p: DmaParam) extends Component {
  val io = new Bundle {
    val write = slave(Flow(CacheWrite()))
    val queue = in(DmaParam.queueType())
    val place = in UInt (DescriptorCache.bits bits)
    val address = out UInt (64 bits)
  }

  private def at(queue: UInt, place: UInt): UInt = queue.resize(log2Up(p.queues) bits) @@ place
  val addresses = Mem(UInt(64 bits), p.queues * DescriptorCache.places)
  if (addresses.wordCount >= 4096) addresses.addAttribute("ram_style", "ultra") // else it would be mostly empty
  io.address := addresses.readSync(at(io.queue, io.place))
  val write = io.write.stage()
  addresses.write(at(write.payload.queue, write.place), write.address, write.valid)
}
