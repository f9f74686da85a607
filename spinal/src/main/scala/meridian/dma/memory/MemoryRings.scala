// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import meridian.dma.h2c.WriteBack
import meridian.dma.interrupt.RingInterrupt
import meridian.dma.pcie._
import spinal.core._
import spinal.lib._

/** The rings of a direction whose queues are memory-mapped: from doorbells to transfers, and from transfers that have ended
  * to status entries and interrupts. Descriptors are only fetched while there is room for 16 more, so their answers are
  * always taken. The shell is told nothing of these queues.
  */
class MemoryRings(p: DmaParam, c2h: Boolean) extends Component {
  private val room = 32 // transfers
  private val most = 16 // of a fetch
  val io = new Bundle {
    val hold = slave(RingHold())
    val change = slave(Stream(RingChange()))
    val doorbell = slave(Stream(RingDoorbell()))
    val ringSizes = in Vec (UInt(16 bits), 16)
    val statusInterval = in UInt (10 bits)
    val read = master(Stream(ReadCommand()))
    val beat = slave(Stream(Fragment(ReadBeat())))
    val transfer = master(Stream(MemoryTransfer()))
    val done = slave(Stream(RingDone()))
    val queues = in Vec (DmaParam.queueType(), 2) // whose epochs are asked for
    val epochs = out Vec (RingEpoch(), 2)
    val request = master(Stream(RqRequest())) // status entries
    val leaves = in Bool () // see WriteBack
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val interrupt = master(Stream(RingInterrupt()))
    val busMaster = in Bits (p.functions bits)
    val function = in(DmaParam.functionType())
    val busy = out Bool () // this function's status entry or interrupt waits
    val late = out Bool () // a status entry of a ring from before its change is at RQ
    val quiet = out Bool () // nothing is under way
  }

  val engine = new FetchEngine(p, isMemory = true)
  engine.io.hold <> io.hold
  engine.io.change << io.change
  engine.io.doorbell << io.doorbell
  engine.io.ringSizes := io.ringSizes
  engine.io.statusInterval := io.statusInterval
  engine.io.credit.valid := False
  engine.io.credit.payload := engine.io.credit.payload.getZero
  engine.io.message.ready := True
  io.raise << engine.io.raise
  io.failure << engine.io.failure
  io.read << engine.io.read
  engine.io.queue := io.queues(0)
  engine.io.nextQueue := io.queues(1)
  io.epochs(0) := engine.io.epoch
  io.epochs(1) := engine.io.nextEpoch

  val unpack = new TransferUnpack(c2h)
  val expected = RegInit(U(0, log2Up(room + 1) bits)) // transfers that were asked for and have not left
  val hasRoom = RegNext(expected <= room - most) init False
  // A fetch is taken every few cycles at most.
  unpack.io.fetch << engine.io.fetch.haltWhen(!hasRoom).queue(4)
  unpack.io.beat << io.beat
  io.transfer << unpack.io.transfer.queue(room)
  val asks = engine.io.fetch.fire ? engine.io.fetch.count | U(0, 5 bits)
  expected := expected + asks.resized - unpack.io.missing.resized - io.transfer.fire.asUInt.resized

  val merge = new DoneMerge
  merge.io.done << io.done
  merge.io.taken := engine.io.taken
  engine.io.done << merge.io.dones

  val writes = new WriteBack(p)
  writes.io.notice << engine.io.notice
  writes.io.forget << engine.io.forget
  writes.io.busMaster := io.busMaster
  writes.io.leaves := io.leaves
  writes.io.function := io.function
  io.request << writes.io.request
  io.interrupt << writes.io.interrupt.map { of =>
    val it = CombInit(of)
    it.event.c2h.removeAssignments() := Bool(c2h)
    it
  }
  io.busy := writes.io.busy
  io.late := writes.io.late
  io.quiet := engine.io.quiet && expected === 0 && !merge.io.dones.valid && writes.io.notice.ready
}
