// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import meridian.dma.interrupt.RingInterrupt
import meridian.dma.pcie._
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4

/** Queues that are memory-mapped: from a doorbell to bytes in the card's memory or the host's, and the ring's status entry.
  *
  * A transfer of a direction follows the other, those of all queues in the order in which their descriptors were fetched.
  * Reads of host memory, of both rings' descriptors and of bytes, share their tags, so one that the host does not answer
  * holds up all memory-mapped queues until it is given up, but no stream.
  *
  * `drain` ends when a function whose rings are all invalid has nothing more to do with the host's memory, and writes nothing
  * more into the card's; reads of the card's may go on, and what they bring is dropped. It
  * takes 14 cycles at least.
  *
  * @param firstTag  the first of its tags
  * @param timeOut   cycles until a read is given up, to be more than the block's own completion time-out
  */
class MemoryEngine(p: DmaParam, firstTag: Int, timeOut: Int = 15000000) extends Component {
  val io = new Bundle {
    val rq = master(Stream(Fragment(RqBeat())))
    val rc = slave(Stream(Fragment(RcBeat()))) // always taken; those of others are not looked at
    val room = master(RoomPort())
    val axi = master(Axi4(MemoryTransfer.axi))
    val maxPayload = in UInt (2 bits)
    val maxReadRequest = in UInt (3 bits)
    val busMaster = in Bits (p.functions bits)
    val holds = Vec(slave(RingHold()), 2) // of H2C, of C2H, as all of two
    val changes = Vec(slave(Stream(RingChange())), 2)
    val doorbells = Vec(slave(Stream(RingDoorbell())), 2)
    val ringSizes = in Vec (UInt(16 bits), 16)
    val statusInterval = in UInt (10 bits)
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val failureC2h = out Bool () // with raise
    val interrupts = Vec(master(Stream(RingInterrupt())), 2)
    val drain = slave(Stream(DmaParam.functionType()))
    val late = out Bool () // a request or a burst of a ring from before its change has not left
    val quiet = out Bool () // nothing will move that has not moved for some cycles, see DmaEngine
  }

  val reads = new MemoryReads(p, 3, firstTag, timeOut)
  reads.io.maxReadRequest := io.maxReadRequest
  reads.io.busMaster := io.busMaster
  io.room <> reads.io.room
  val dispatcher = new RcDispatcher(Seq(0, firstTag, firstTag + p.memoryTags))
  dispatcher.io.rc << io.rc
  reads.io.part << dispatcher.io.parts(1)

  val rings = Seq(false, true).map(new MemoryRings(p, _))
  for ((ring, i) <- rings.zipWithIndex) {
    ring.io.hold <> io.holds(i)
    ring.io.change << io.changes(i)
    ring.io.doorbell << io.doorbells(i)
    ring.io.ringSizes := io.ringSizes
    ring.io.statusInterval := io.statusInterval
    ring.io.busMaster := io.busMaster
    ring.io.function := io.drain.payload
    reads.io.commands(i) << ring.io.read
    ring.io.beat << reads.io.beats(i)
    io.interrupts(i) << ring.io.interrupt
  }
  val Seq(toCard, toHost) = rings

  val writer = new CardWriter(p)
  writer.io.transfer << toCard.io.transfer
  toCard.io.done << writer.io.done
  toCard.io.queues := writer.io.queues
  writer.io.epochs := toCard.io.epochs
  reads.io.commands(2) << writer.io.read
  writer.io.beat << reads.io.beats(2)
  writer.io.function := io.drain.payload
  io.axi << writer.io.axi

  val reader = new CardReader(p)
  reader.io.transfer << toHost.io.transfer
  toHost.io.done << reader.io.done
  toHost.io.queues := reader.io.queues
  reader.io.epochs := toHost.io.epochs
  reader.io.maxPayload := io.maxPayload
  reader.io.busMaster := io.busMaster
  io.axi << reader.io.axi

  case class Raised() extends Bundle {
    val event = ErrorEvent()
    val failure = Flow(RingFailure())
    val c2h = Bool()
  }
  val raised = StreamArbiterFactory().lowerFirst.noLock.on(rings.zipWithIndex.map { case (ring, i) =>
    ring.io.raise.map { of =>
      val it = Raised()
      it.event := of
      it.failure := ring.io.failure
      it.c2h := Bool(i == 1)
      it
    }
  })
  val told = raised.halfPipe()
  io.raise << told.map(_.event)
  io.failure.valid := io.raise.fire && told.failure.valid
  io.failure.payload := told.failure.payload
  io.failureC2h := told.c2h

  // Nothing is kept behind these, so what has left one has been taken by RQ.
  val requests = new RqArbiter(3)
  requests.io.requests(0) << reads.io.request
  for ((ring, i) <- rings.zipWithIndex) {
    requests.io.requests(1 + i) << ring.io.request
    ring.io.leaves := requests.io.writes
  }
  requests.io.function := io.drain.payload
  io.rq << StreamArbiterFactory().roundRobin.fragmentLock.on(Seq(reader.io.rq, requests.io.rq))

  // Whatever was on its way when the drain began has come to where it is seen.
  val drained = Reg(UInt(4 bits)) init 0
  drained := io.drain.isStall ? (drained + (!drained.andR).asUInt) | U(0, 4 bits)
  for (revoked <- Seq(reads.io.revoked, reader.io.revoked)) {
    revoked.valid := RegNext(io.drain.valid) init False
    revoked.payload := RegNext(io.drain.payload)
  }
  val isBusy = RegNext(
    Seq(reads.io.busy, writer.io.busy, reader.io.busy, requests.io.busy, toCard.io.busy, toHost.io.busy).orR
  )
  io.drain.ready := drained >= 13 && !isBusy
  io.late := rings.map(_.io.late).orR || writer.io.late || reader.io.late
  io.quiet := reads.io.quiet && rings.map(_.io.quiet).andR && writer.io.quiet && reader.io.quiet && !io.raise.valid
}
