// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.descriptor.RingEpoch
import spinal.core._
import spinal.lib._

/** Gives a frame its buffers, one at a time, or drops it. What comes in is steady from `start` on; a buffer is given 2
  * cycles after `start` or after the one before at the earliest.
  */
class FrameGrants extends Component {
  val io = new Bundle {
    val start, give, drop = in Bool () // give: the next buffer
    val failed = in Bool () // with drop: the frame's completion says that its descriptor is bad
    val frame = in(FrameHeader())
    val ring = in(C2hRing())
    val epoch = in(RingEpoch()) // of the ring
    val size = in UInt (17 bits) // of a buffer, from the cycle after start on
    val last = out Bool () // this buffer is the frame's last
    val place = out UInt (DescriptorCache.bits bits) // of its descriptor
    val address = in UInt (64 bits) // what that says, a cycle later
    val grant = master(Flow(BufferGrant()))
  }

  val rest = Reg(UInt(16 bits)) // bytes
  val number = Reg(UInt(DescriptorCache.bits bits))
  val isRest = RegNext(rest <= io.size)
  io.last := isRest
  io.place := io.ring.head + number
  io.grant.valid := io.give || io.drop
  io.grant.payload.queue := io.frame.queue
  io.grant.epoch := io.epoch
  io.grant.function := io.ring.context.function
  io.grant.address := io.address
  io.grant.bytes := isRest ? rest | io.size.resize(16 bits)
  when(io.drop)(io.grant.bytes := (io.frame.length === 0) ? U(1, 16 bits) | io.frame.length)
  io.grant.discard := io.drop
  io.grant.failed := io.drop && io.failed
  io.grant.last := isRest || io.drop
  when(io.give) {
    rest := (rest - io.size).resized
    number := number + 1
  }
  when(io.start) {
    rest := io.frame.length
    number := 0
  }
}
