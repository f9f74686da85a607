// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.completion._
import meridian.dma.descriptor._
import meridian.dma.interrupt.RingInterrupt
import meridian.dma.pcie._
import meridian.qdma.{C2hPins, C2hStatusPins, CmptPins, TmStatusPins}
import spinal.core._
import spinal.lib._

/** Card to host: from frames on the stream to buffers in the host's memory, completions, status entries and interrupts,
  * by the block's requester streams.
  *
  * A frame's payload, its completion, its status entry and its interrupt leave in this order. Frames of all queues
  * leave in the order in which they came. A beat a cycle of payload; the beats of a request have no gap.
  *
  * `drain` ends when a function whose rings, of buffers and of completions, were all changed has nothing more to do
  * with the host's memory. It takes 14 cycles at least, and as long as RQ and the port of interrupts need for what came
  * before, and its reads to come.
  *
  * @param firstTag  the first of its tags, of which it has 8
  * @param rows      beats of frames that wait, 32 bytes each
  * @param timeOut   cycles until a read is given up, to be more than the block's own completion time-out
  * @param frameWait cycles for which a frame may wait for buffers (FrameWait)
  */
class C2hEngine(p: DmaParam, firstTag: Int, rows: Int = 1024, timeOut: Int = 15000000, frameWait: Int = 12500)
    extends Component {
  private val tags = 8
  private val frames = 16 // that have been written and wait for RQ or their completion
  val io = new Bundle {
    val rq = master(Stream(Fragment(RqBeat())))
    val rc = slave(Stream(Fragment(RcBeat()))) // always taken; those of others are not looked at
    val room = master(RoomPort()) // for reads of descriptors
    val maxPayload = in UInt (2 bits)
    val maxReadRequest = in UInt (3 bits)
    val busMaster = in Bits (p.functions bits)
    val hold = slave(RingHold())
    val change = slave(Stream(RingChange()))
    val holdCompletion = slave(CompletionHold())
    val changeCompletion = slave(Stream(CompletionChange()))
    val prefetch = slave(Flow(PrefetchWrite()))
    val doorbell = slave(Stream(RingDoorbell()))
    val bell = slave(Stream(CompletionBell()))
    val ringSizes = in Vec (UInt(16 bits), 16)
    val bufferSizes = in Vec (UInt(17 bits), 16)
    val timers, thresholds = in Vec (UInt(16 bits), 16)
    val timerTick = in UInt (16 bits)
    val c2h = slave(Stream(C2hPins(32)))
    val cmpt = slave(Stream(CmptPins()))
    val status = master(Flow(C2hStatusPins()))
    val tmStatus = master(Stream(TmStatusPins()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val interrupts = Vec(master(Stream(RingInterrupt())), 2) // of buffers, of completions
    val drain = slave(Stream(DmaParam.functionType()))
    val late = out Bool () // requests of a ring from before its change have not left RQ yet
    val idle = out Bool () // nothing is under way but frames that have no buffer yet
    val quiet = out Bool () // nothing will move that has not moved for some cycles, see DmaEngine
    val skip = in UInt (32 bits) // see TimerList, as the next
    val quietCycles = out UInt (32 bits)
  }

  val store = new FrameStore(rows)
  store.io.c2h << io.c2h

  val engine = new BufferEngine(p, frameWait)
  engine.io.frame << store.io.header.s2mPipe() // the engine's ready comes late in a cycle
  engine.io.hold <> io.hold
  engine.io.change << io.change
  engine.io.prefetch << io.prefetch
  engine.io.doorbell << io.doorbell
  engine.io.ringSizes := io.ringSizes
  engine.io.bufferSizes := io.bufferSizes
  engine.io.isWide := RegNext(io.maxReadRequest =/= 0)
  io.interrupts(0) << engine.io.interrupt

  val descriptors = new DescriptorReader(p, tags, firstTag, timeOut)
  descriptors.io.busMaster := io.busMaster
  io.room <> descriptors.io.room
  descriptors.io.read << engine.io.read
  descriptors.io.function := engine.io.function
  descriptors.io.changed.valid := io.change.fire
  descriptors.io.changed.payload := io.change.payload.queue
  engine.io.mayRead := descriptors.io.mayRead
  val dispatcher = new RcDispatcher(Seq(0, firstTag))
  dispatcher.io.rc << io.rc
  descriptors.io.part << dispatcher.io.parts(1)
  val cache = new DescriptorCache(p)
  cache.io.write << descriptors.io.write
  engine.io.arrival << descriptors.io.arrival
  cache.io.queue := engine.io.cacheQueue
  cache.io.place := engine.io.cachePlace
  engine.io.address := cache.io.address

  val grants = StreamFifo(BufferGrant(), 64)
  grants.io.push << engine.io.grant.toStream
  engine.io.mayGrant := RegNext(grants.io.availability >= 34) init False
  val splitter = new WriteSplitter
  splitter.io.grant << grants.io.pop
  splitter.io.maxPayload := io.maxPayload
  val writer = new PayloadWriter(p, rows)
  writer.io.piece << splitter.io.piece
  writer.io.stored := store.io.stored
  store.io.freed := writer.io.freed
  store.io.place := writer.io.place
  writer.io.window := store.io.window
  writer.io.busMaster := io.busMaster
  engine.io.queues(0) := writer.io.queue
  writer.io.epoch := engine.io.epochs(0)
  engine.io.queues(2) := store.io.queue
  store.io.epoch := engine.io.epochs(2)
  engine.io.issued := writer.io.issued
  engine.io.left := writer.io.left

  val order = new FrameOrder(frames)
  order.io.end << writer.io.end
  order.io.written << writer.io.written
  order.io.cmpt << io.cmpt
  io.status << order.io.status

  val completions = new CompletionEngine(p)
  completions.io.add << order.io.add
  completions.io.hold <> io.holdCompletion
  completions.io.change << io.changeCompletion
  completions.io.bell << io.bell
  completions.io.ringSizes := io.ringSizes
  completions.io.thresholds := io.thresholds
  completions.io.timers := io.timers
  completions.io.tick := io.timerTick
  completions.io.skip := io.skip
  io.quietCycles := completions.io.quietCycles
  engine.io.queues(1) := completions.io.queue
  completions.io.epoch := engine.io.epochs(1)
  val actions = new RingActions(p)
  actions.io.action << completions.io.action
  actions.io.busMaster := io.busMaster
  actions.io.forget << completions.io.forget
  completions.io.hasRoom := actions.io.hasRoom
  io.late := engine.io.late || actions.io.late
  io.interrupts(1) << actions.io.interrupt

  val message = new StatusPort(p, c2h = true)
  message.io.message << engine.io.message
  io.tmStatus << message.io.pins

  // What disagrees within a frame is told when the error registers take it.
  val mismatch = Stream(ErrorEvent())
  val mismatches = RegInit(B(0, 2 bits))
  mismatches := mismatches.andMask(!mismatch.ready) | store.io.mismatch
  mismatch.valid := mismatches =/= 0
  mismatch.leaf := ErrorTree.c2h
  mismatch.bits := (mismatches(1) ? B(1 << ErrorTree.mtyMismatch, 32 bits) | B(0, 32 bits)) |
    (mismatches(0) ? B(1 << ErrorTree.lengthMismatch, 32 bits) | B(0, 32 bits))
  val ofRing = engine.io.raise.map(TupleBundle(_, engine.io.failure)).halfPipe()
  private val nothing = engine.io.failure.getZero
  val ofOthers = Seq(completions.io.raise, mismatch).map(_.map(TupleBundle(_, nothing)))
  val raised = StreamArbiterFactory().lowerFirst.noLock.on(ofRing +: ofOthers).halfPipe()
  io.raise << raised.map(_._1)
  io.failure.valid := io.raise.fire && raised._2.valid
  io.failure.payload := raised._2.payload

  // What has left one of these has been taken by RQ; nothing overtakes it.
  val reads = new RqArbiter(1)
  reads.io.requests(0) << descriptors.io.request
  reads.io.function := io.drain.payload
  io.rq << StreamArbiterFactory().roundRobin.fragmentLock.on(Seq(writer.io.rq, actions.io.rq, reads.io.rq))

  // What was on its way when the drain began has come to where it is counted, and then has left.
  val drained = Reg(UInt(4 bits)) init 0
  drained := io.drain.isStall ? (drained + (!drained.andR).asUInt) | U(0, 4 bits)
  val isSettled = drained >= 12
  for (revoked <- Seq(descriptors.io.revoked, writer.io.revoked, actions.io.revoked)) {
    revoked.valid := RegNext(io.drain.valid) init False
    revoked.payload := RegNext(io.drain.payload)
  }
  val targets = Vec(Seq(writer.io, actions.io).map(_ => Reg(UInt(8 bits))))
  when(!isSettled) {
    targets(0) := writer.io.issued
    targets(1) := actions.io.issued
  }
  // The counters go on with what others do, so that a target is reached is kept.
  val reached = Reg(Bits(2 bits))
  val isReached = reached | !(actions.io.left - targets(1)).msb ## !(writer.io.left - targets(0)).msb
  reached := isReached.andMask(isSettled)
  val isLeft = isReached.andR
  io.drain.ready := isSettled && RegNext(isLeft && isSettled && !descriptors.io.busy && !reads.io.busy, init = False)

  io.idle := descriptors.io.idle && !splitter.io.piece.valid && !grants.io.pop.valid && actions.io.idle &&
    writer.io.issued === writer.io.left && order.io.idle && completions.io.idle
  io.quiet := io.idle && engine.io.quiet && completions.io.timersIdle && !engine.io.frame.valid &&
    store.io.stored === writer.io.freed
}
