// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import spinal.core._
import spinal.lib._

/** What is kept of each ring of buffers: its state, its epoch and its prefetch context. After reset all are empty when
  * `fills` has ended, a cycle for each.
  */
class BufferRings(p: DmaParam) extends Component {
  private def place() = UInt(log2Up(p.queues) bits)
  val io = new Bundle {
    val next = in(place()) // whose ring is there in the next cycle
    val old = out(C2hRing())
    val queue = in(place()) // whose epoch and prefetch context are there now, and whose epoch changes
    val written = in(place()) // whose ring is written
    val epoch = out(RingEpoch())
    val prefetch = out(PrefetchContext())
    val ring = slave(Flow(C2hRing()))
    val changes = in Bool () // with ring: its epoch is the next one
    val prefetchWrite = slave(Flow(PrefetchWrite()))
    val asked = in Vec (DmaParam.queueType(), 3) // whose epochs others ask for
    val epochs = out Vec (RingEpoch(), 3)
    val fills = out Bool ()
    val filled = out(place()) // with fills
  }

  val filled = RegInit(U(0, log2Up(p.queues) + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)
  io.fills := fills
  io.filled := filled.resized

  val rings = Mem(C2hRing(), p.queues)
  io.old := rings.readSync(io.next)
  rings.write(fills ? io.filled | io.written, fills ? C2hRing().getZero | io.ring.payload, fills || io.ring.valid)

  val epochs = Mem(RingEpoch(), p.queues)
  io.epoch := epochs.readAsync(io.queue)
  for ((queue, epoch) <- io.asked.zip(io.epochs)) epoch := epochs.readAsync(queue.resized)
  epochs.write(
    fills ? io.filled | io.queue,
    fills ? U(0, 16 bits) | io.epoch + 1,
    fills || (io.ring.valid && io.changes)
  )

  val prefetches = Mem(PrefetchContext(), p.queues)
  io.prefetch := prefetches.readAsync(io.queue)
  val change = io.prefetchWrite
  prefetches.write(
    address = fills ? io.filled | change.payload.queue.resized,
    data = fills ? PrefetchContext().getZero | change.context,
    enable = fills || change.valid
  )
}
