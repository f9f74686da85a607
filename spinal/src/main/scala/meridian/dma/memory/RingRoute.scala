// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.context.ContextCommand
import meridian.dma.descriptor._
import spinal.core._
import spinal.lib._

/** Gives rings of a direction to the engine that has them: the streams' or the memory's. What a context says last decides.
  * Both engines hold a ring that is held and both have its change; to the one that does not have it the ring is disabled.
  * Nothing takes a cycle here.
  *
  * After reset the streams' engine has all rings, a cycle later for each.
  */
class RingRoute(p: DmaParam) extends Component {
  val io = new Bundle {
    val hold = slave(RingHold())
    val change = slave(Stream(RingChange()))
    val isMapped = in Bool () // by the context of change
    val doorbell = slave(Stream(RingDoorbell()))
    val holds = Vec(master(RingHold()), 2) // of streams, of memory
    val changes = Vec(master(Stream(RingChange())), 2)
    val doorbells = Vec(master(Stream(RingDoorbell())), 2)
  }

  val filled = RegInit(U(0, log2Up(p.queues) + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)
  val mapped = Mem(Bool(), p.queues)
  private def place(queue: UInt): UInt = queue.resize(log2Up(p.queues))
  mapped.write(
    address = fills ? place(filled) | place(io.change.payload.queue),
    data = !fills && io.isMapped,
    enable = fills || (io.change.fire && !io.change.creditsAlone)
  )

  for (hold <- io.holds) hold.queue << io.hold.queue
  io.hold.held := io.holds.map(_.held).andR
  io.hold.state := RegNext(mapped.readAsync(place(io.hold.queue.payload))) ? io.holds(1).state | io.holds(0).state

  for ((out, i) <- StreamFork(io.change, 2).zipWithIndex) {
    val isIts = io.isMapped === Bool(i == 1)
    io.changes(i).arbitrationFrom(out)
    io.changes(i).payload := out.payload
    when(!isIts && !out.creditsAlone) {
      io.changes(i).context.assignFromBits(RingContext().getZero.asBits)
      io.changes(i).pidx := 0
      io.changes(i).cidx := 0
      io.changes(i).pending := False
    }
  }

  val isRungMapped = mapped.readAsync(place(io.doorbell.payload.queue))
  for ((out, i) <- io.doorbells.zipWithIndex) {
    out.valid := io.doorbell.valid && isRungMapped === Bool(i == 1)
    out.payload := io.doorbell.payload
  }
  io.doorbell.ready := isRungMapped ? io.doorbells(1).ready | io.doorbells(0).ready
}

object RingRoute {
  private type Rings = (RingHold, Stream[RingChange], Stream[RingDoorbell])

  /** Connects the rings of a direction, 0 or 1, to whom they belong, and gives where their doorbells go. */
  def apply(
      p: DmaParam,
      direction: Int,
      hold: RingHold,
      change: Stream[RingChange],
      streams: Rings,
      commands: ContextCommand,
      memory: MemoryEngine
  ): Stream[RingDoorbell] =
    if (p.memory) {
      val route = new RingRoute(p).setName(s"route${if (direction == 0) "H2c" else "C2h"}")
      route.io.hold <> hold
      route.io.change << change
      route.io.isMapped := commands.io.isMapped(direction)
      val ofMemory = (memory.io.holds(direction), memory.io.changes(direction), memory.io.doorbells(direction))
      for (((hold, change, doorbell), i) <- Seq(streams, ofMemory).zipWithIndex) {
        hold <> route.io.holds(i)
        change << route.io.changes(i)
        doorbell << route.io.doorbells(i)
      }
      route.io.doorbell
    } else {
      streams._1 <> hold
      streams._2 << change
      streams._3
    }
}
