// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import meridian.dma.interrupt.RingInterrupt
import meridian.dma.pcie._
import meridian.dma.push.{PushSender, PushSource}
import meridian.qdma.{DescriptorCreditPins, H2cPins, TmStatusPins}
import spinal.core._
import spinal.lib._

/** Host to card: from a doorbell to frames on the stream and the ring's status entry, by the block's requester streams.
  *
  * Descriptors and payload have tags of their own, and of the block's room for completions one read of descriptors may
  * always have its part, so these never wait for those of payload alone. Frames leave in the order in
  * which their descriptors were fetched, those of all queues; a queue's read that is slow holds up the others until it
  * comes or is given up.
  *
  * `drain` ends when a function whose rings are all invalid has nothing more to do with the host's memory: what it has
  * asked for has come or is given up, and nothing of it waits. It takes 14 cycles at least; frames of others and the shell
  * do not hold it up, reads of the function do.
  *
  * @param timeOut  cycles until a read is given up, to be more than the block's own completion time-out
  */
class H2cEngine(p: DmaParam, timeOut: Int = 15000000) extends Component {
  import p.{descriptorTags, payloadTags}
  private val hasPush = p.pushSlots > 0
  val io = new Bundle {
    val rq = master(Stream(Fragment(RqBeat())))
    val rc = slave(Stream(Fragment(RcBeat())))
    val maxReadRequest = in UInt (3 bits)
    val busMaster = in Bits (p.functions bits)
    val hold = slave(RingHold())
    val change = slave(Stream(RingChange()))
    val doorbell = slave(Stream(RingDoorbell()))
    val ringSizes = in Vec (UInt(16 bits), 16)
    val statusInterval = in UInt (10 bits)
    val h2c = master(Stream(H2cPins(32)))
    val tmStatus = master(Stream(TmStatusPins()))
    val credits = slave(Stream(DescriptorCreditPins()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val interrupt = master(Stream(RingInterrupt()))
    val drain = slave(Stream(DmaParam.functionType()))
    val buffers = slave(RoomPort()) // for reads of C2H descriptors, which are another engine's
    val memory = p.memory generate slave(RoomPort()) // for reads of memory-mapped queues, likewise
    val commands = p.commands generate slave(RoomPort()) // for those of the card's own logic, likewise
    val idle = out Bool () // no tag is in flight
    val quiet = out Bool () // nothing will move that has not moved for some cycles, see DmaEngine
    val slots = hasPush generate master(PushPort(p)) // see PushSlots
    val sent = hasPush generate master(PushSource(p))
    val late = out Bool () // a status entry of a ring from before its change is at RQ
  }

  val engine = new FetchEngine(p)
  engine.io.hold <> io.hold
  engine.io.change << io.change
  engine.io.doorbell << io.doorbell
  engine.io.ringSizes := io.ringSizes
  engine.io.statusInterval := io.statusInterval
  io.raise << engine.io.raise
  io.failure << engine.io.failure
  // Credits of C2H queues are another engine's.
  val credits = io.credits.throwWhen(io.credits.c2h || !p.hasQueue(io.credits.qid))
  engine.io.credit.arbitrationFrom(credits)
  engine.io.credit.payload.queue := credits.qid
  engine.io.credit.count := credits.crdt

  val descriptors = new ReadPort(p, descriptorTags, 0, timeOut, isSlow = true)
  val payload = new ReadPort(p, payloadTags, descriptorTags, timeOut)
  for (port <- Seq(descriptors, payload)) {
    port.io.maxReadRequest := io.maxReadRequest
    port.io.busMaster := io.busMaster
  }
  val room = new CompletionRoom(p.memory, p.commands)
  if (p.memory) room.io.memory <> io.memory
  if (p.commands) room.io.commands <> io.commands
  room.io.buffers <> io.buffers
  room.io.descriptors <> descriptors.io.room
  room.io.payload <> payload.io.room
  io.idle := descriptors.io.idle && payload.io.idle
  descriptors.io.command << engine.io.read

  val unpack = new DescriptorUnpack
  val fetches = engine.io.fetch.queue(2 * descriptorTags)
  unpack.io.fetch << fetches.halfPipe() // it is taken late in a cycle
  unpack.io.beat << descriptors.io.beat
  val reader = new H2cReader(2 * payloadTags)
  reader.io.piece << unpack.io.piece.halfPipe() // a piece every other cycle
  payload.io.command << reader.io.read
  reader.io.beat << payload.io.beat
  engine.io.queue := reader.io.queue
  reader.io.epoch := engine.io.epoch
  engine.io.nextQueue := reader.io.nextQueue
  reader.io.nextEpoch := engine.io.nextEpoch
  val merge = new DoneMerge
  merge.io.taken := engine.io.taken
  engine.io.done << merge.io.dones
  val sender = hasPush generate new PushSender(p)
  if (hasPush) {
    io.slots <> engine.io.slots
    io.sent <> sender.io.source
    sender.io.start << engine.io.push
    sender.io.changed << engine.io.changed.stage()
    sender.io.read << reader.io.h2c
    io.h2c << sender.io.h2c
    // A read that has failed stops the queue behind the frame that was pushed before it.
    val isBehind = RegNext(sender.io.source.slot.valid && sender.io.queue === reader.io.done.payload.queue)
    val read = reader.io.done.haltWhen(isBehind && reader.io.done.failed)
    merge.io.done << DoneMerge.turns(read, sender.io.done)
    val function = engine.io.function.resize(log2Up(p.functions) bits)
    engine.io.isMaster := RegNext(p.hasFunction(engine.io.function) && io.busMaster(function))
  } else {
    io.h2c << reader.io.h2c
    merge.io.done << reader.io.done
  }

  private val sends = if (hasPush) !sender.io.quiet else False
  io.quiet := !sends && engine.io.quiet && descriptors.io.quiet && payload.io.quiet && reader.io.idle &&
    !fetches.valid && !unpack.io.fetch.valid && !merge.io.dones.valid

  val status = new StatusPort(p)
  status.io.message << engine.io.message
  io.tmStatus << status.io.pins

  val writes = new WriteBack(p)
  writes.io.notice << engine.io.notice
  writes.io.forget << engine.io.forget
  writes.io.busMaster := io.busMaster
  io.interrupt << writes.io.interrupt
  io.late := writes.io.late

  val arbiter = new RqArbiter(3)
  arbiter.io.requests(0) << descriptors.io.request
  arbiter.io.requests(1) << payload.io.request
  arbiter.io.requests(2) << writes.io.request
  io.rq << arbiter.io.rq
  val dispatcher = new RcDispatcher(Seq(0, descriptorTags, descriptorTags + payloadTags))
  dispatcher.io.rc << io.rc
  descriptors.io.part << dispatcher.io.parts(0)
  payload.io.part << dispatcher.io.parts(1)

  writes.io.leaves := arbiter.io.writes

  // Whatever was on its way to the tags when the drain began has come there.
  val drained = Reg(UInt(4 bits)) init 0
  drained := io.drain.isStall ? (drained + (!drained.andR).asUInt) | U(0, 4 bits)
  for (port <- Seq(descriptors, payload)) {
    port.io.revoked.valid := RegNext(io.drain.valid) init False
    port.io.revoked.payload := RegNext(io.drain.payload)
  }
  writes.io.function := io.drain.payload
  arbiter.io.function := io.drain.payload
  val isBusy = RegNext(Seq(descriptors.io.busy, payload.io.busy, writes.io.busy, arbiter.io.busy).orR)
  io.drain.ready := drained >= 13 && !isBusy
}
