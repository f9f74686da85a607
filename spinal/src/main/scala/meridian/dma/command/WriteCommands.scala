// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.{CommandPort, DmaParam, HostCommand, HostWrite, HostWritten}
import meridian.dma.c2h._
import meridian.dma.pcie.RqBeat
import meridian.qdma.C2hPins
import spinal.core._
import spinal.lib._

/** Writes what the card's own logic gives it into host memory, in the order of its commands.
  *
  * A beat a cycle; a request begins when it has come wholly, so a command that stands still holds up only those behind it.
  * The first beat is at RQ 15 cycles after it was taken, if it is the last of its request and RQ is free. A command ends when
  * PCIe has taken its last request, or if it fails, all requests that had begun. It fails if its queue is not for commands,
  * or not any more, if its function may not access memory, if it has no bytes, or if its last beat is not where its bytes
  * end: then what is there of it is written, with zeros behind, and what is too much is dropped.
  *
  * A reset of the logic ends the command that it has begun to give, with zeros, and nobody hears of it or of those before.
  *
  * @param rows  beats that are kept until they have left
  */
class WriteCommands(p: DmaParam, rows: Int = 64) extends Component {
  private val commands = 16 // whose requests were begun and have not left
  val io = new Bundle {
    val write = slave(Stream(Fragment(HostWrite())))
    val written = master(Flow(HostWritten()))
    val reset = in Bool ()
    val queues = master(CommandQueuesPort())
    val change = in Bool () // a queue's context was written
    val maxPayload = in UInt (2 bits)
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType()))
    val rq = master(Stream(Fragment(RqBeat())))
    val late = out Bool () // requests of a queue from before its change have not left
    val issued, left = out UInt (8 bits) // see PayloadWriter
    val quiet = out Bool ()
  }

  // Wires from the logic end here. Beside the first beat of a command is then who asks.
  val taken = io.write.throwWhen(io.reset).s2mPipe().m2sPipe()
  io.queues.queue := taken.command.queue
  case class Known() extends Bundle {
    val data = Bits(256 bits)
    val command = HostCommand()
    val by = CommandQueue()
    val epoch = meridian.dma.descriptor.RingEpoch()
  }
  val known = taken
    .translateWith {
      val it = Fragment(Known())
      it.last := taken.last
      it.data := taken.data
      it.command := taken.command
      it.by := io.queues.now
      it.epoch := io.queues.epoch
      it
    }
    .m2sPipe()

  // As many beats as the command has bytes, whatever the logic gives.
  val pads, skips = RegInit(False) // zeros come for what is missing; what is too much goes
  val left = Reg(UInt(12 bits)) init 0 // beats; 0: a command begins
  val first = left === 0
  val beginning = Reg(Known())
  val of = first ? known.fragment | beginning
  val total = ((known.command.bytes +^ U(31)) >> 5).resize(12 bits)
  val ends = first ? (total <= 1) | (left === 1)
  val made = Stream(C2hPins(32))
  val comes = known.valid && !skips && !io.reset
  made.valid := pads || comes
  val grows = made.valid && !pads && comes // the beat is the logic's
  made.tdata := grows ? known.data | B(0, 256 bits)
  made.tcrc := 0
  made.tlast := ends
  made.mty := 0
  made.ctrl_marker := False
  made.ctrl_port_id := 0
  made.ctrl_ecc := 0
  made.ctrl_len := of.command.bytes
  made.ctrl_qid := of.command.queue
  made.ctrl_has_cmpt := False
  known.ready := skips || io.reset || (grows && made.ready)
  val flaws = grows ? (known.last =/= ends) | True // of a last beat
  when(made.fire) {
    left := first ? ((total <= 1) ? U(0, 12 bits) | (total - 1)) | (left - 1)
    when(first)(beginning := known.fragment)
    pads := (pads || known.last) && !ends
    when(grows && ends && !known.last)(skips := True)
  }
  when(known.fire && known.last && skips)(skips := False)
  when(io.reset) {
    skips := False
    // What the logic has begun ends without it, however long nothing takes it.
    when(!first && !(made.fire && ends))(pads := True)
  }

  val store = new FrameStore(rows)
  store.io.epoch := 0
  store.io.header.ready := True
  val toStore, toGrant, toEnd = Stream(C2hPins(32))
  private val parts = StreamFork(made, 3, synchronous = true)
  toStore << parts(0)
  toGrant << parts(1).throwWhen(!first)
  toEnd << parts(2).throwWhen(!ends)
  store.io.c2h << toStore

  val grant = Stream(BufferGrant())
  grant.arbitrationFrom(toGrant)
  grant.payload.queue := known.command.queue
  grant.epoch := known.epoch
  grant.function := known.by.function
  grant.address := known.command.address
  grant.bytes := (known.command.bytes === 0) ? U(1, 16 bits) | known.command.bytes
  grant.discard := !known.by.enable || known.command.bytes === 0
  grant.failed := grant.discard
  grant.last := True
  val splitter = new WriteSplitter
  splitter.io.grant << grant.queue(4)
  splitter.io.maxPayload := io.maxPayload

  val writer = new PayloadWriter(p, rows)
  writer.io.piece << splitter.io.piece
  writer.io.stored := store.io.stored
  store.io.freed := writer.io.freed
  store.io.place := writer.io.place
  writer.io.window := store.io.window
  io.queues.epochQueue := writer.io.queue
  writer.io.epoch := io.queues.epochNow
  writer.io.busMaster := io.busMaster
  writer.io.revoked << io.revoked
  io.rq << writer.io.rq
  io.issued := writer.io.issued
  io.left := writer.io.left
  val late = new LateRequests
  late.io.change := io.change
  late.io.issued := writer.io.issued
  late.io.left := writer.io.left
  io.late := late.io.late

  // What has ended, in the order of the commands: with its last beat it is known whether the logic gave what it said, with
  // its last request whether it was sent, and then whether it has left.
  case class Handed() extends Bundle {
    val tag = Bits(CommandPort.tagBits bits)
    val flawed = Bool()
  }
  val handed = toEnd
    .translateWith {
      val it = Handed()
      it.tag := of.command.tag
      it.flawed := flaws
      it
    }
    .queue(rows)
  case class Ended() extends Bundle {
    val requested, dropped = Bool()
    val issued = UInt(8 bits)
  }
  val ended = StreamFifo(Ended(), commands, forFMax = true)
  ended.io.push << writer.io.end.map { of =>
    val it = Ended()
    it.requested := of.requested
    it.dropped := of.dropped
    it.issued := writer.io.issued
    it
  }
  val lost = StreamFifo(Bool(), 2 * commands)
  lost.io.push.valid := writer.io.written.valid
  lost.io.push.payload := writer.io.written.payload
  private val end = ended.io.pop
  // Without a last request, those before it have to have left.
  val hasLeft = end.requested ? lost.io.pop.valid | !(writer.io.left - end.issued).msb
  val leaves = end.valid && handed.valid && hasLeft
  end.ready := leaves
  handed.ready := leaves
  lost.io.pop.ready := leaves && end.requested

  val under, stale = RegInit(U(0, log2Up(rows + commands) + 1 bits))
  val isStale = stale =/= 0 || io.reset
  val begins = toGrant.fire
  under := under + begins.asUInt - leaves.asUInt
  when(io.reset)(stale := under + begins.asUInt - leaves.asUInt) elsewhen (leaves && stale =/= 0)(stale := stale - 1)
  val written = Flow(HostWritten())
  written.valid := leaves && !isStale
  written.tag := handed.tag
  written.failed := handed.flawed || end.dropped || (end.requested && lost.io.pop.payload)
  io.written << written.stage()

  io.quiet := !io.write.valid && !taken.valid && under === 0
}
