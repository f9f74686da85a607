// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Reads of host memory, whose data leave in the order of the reads. Each read gives its bytes from the first on, or a last
  * beat that says that it has failed. A request leaves 3 or 4 cycles after its read at the earliest,
  * as its turn for room is, and waits for room; a request leaves every other cycle at most.
  *
  * @param first    the first of its tags
  * @param timeOut  cycles (TagTable)
  * @param isSlow   a beat every other cycle is enough
  */
class ReadPort(p: DmaParam, tags: Int, first: Int, timeOut: Int, isSlow: Boolean = false) extends Component {
  val io = new Bundle {
    val command = slave(Stream(ReadCommand()))
    val beat = master(Stream(Fragment(ReadBeat())))
    val request = master(Stream(RqRequest()))
    val part = slave(Flow(CompletionPart()))
    val room = master(RoomPort())
    val maxReadRequest = in UInt (3 bits)
    val busMaster = in Bits (p.functions bits)
    val idle = out Bool () // no tag is in flight
    val quiet = out Bool () // nor is anything left of a read
    val revoked = slave(Flow(DmaParam.functionType())) // it may ask for nothing any more
    val cut = in Bool () default False // what is left of the read whose command was taken last fails
    val busy = out Bool () // it still waits for an answer; 4 cycles behind revoked at most
  }

  val splitter = new ReadSplitter(p)
  splitter.io.command << io.command
  splitter.io.maxReadRequest := io.maxReadRequest
  splitter.io.busMaster := io.busMaster
  splitter.io.revoked << io.revoked
  splitter.io.cut := io.cut
  val tagTable = new TagTable(tags, first, timeOut)
  // What is not allowed sends no request.
  tagTable.io.piece << splitter.io.piece.haltWhen(!io.room.hasRoom && splitter.io.piece.allowed)
  io.request << tagTable.io.request.halfPipe()
  val reorder = new CompletionReorder(tags, isSlow)
  reorder.io.part << io.part
  reorder.io.inFlight := tagTable.io.inFlight
  reorder.io.end := tagTable.io.end
  tagTable.io.address := reorder.io.address
  tagTable.io.failed << reorder.io.failed
  tagTable.io.completed << reorder.io.completed
  reorder.io.whole << tagTable.io.whole
  reorder.io.partly := tagTable.io.partly
  reorder.io.oldest := tagTable.io.oldest
  reorder.io.slot := tagTable.io.slot
  reorder.io.slotReady := tagTable.io.slotReady
  reorder.io.slotFailed := tagTable.io.slotFailed
  reorder.io.slotVoid := tagTable.io.slotVoid
  tagTable.io.release := reorder.io.release
  io.beat << reorder.io.beat

  val use = new RoomUse(tags)
  use.io.request << tagTable.io.request.toFlowFire
  use.io.tag := (tagTable.io.request.tag - first).resized
  use.io.bytes := splitter.io.piece.bytes
  use.io.progress << reorder.io.progress
  io.room.asked << use.io.asked
  io.room.ended << use.io.ended

  tagTable.io.function := io.revoked.payload
  io.busy := tagTable.io.busy
  io.idle := tagTable.io.inFlight === 0
  io.quiet := io.idle && !tagTable.io.slotReady && !splitter.io.piece.valid && !io.beat.valid
}
