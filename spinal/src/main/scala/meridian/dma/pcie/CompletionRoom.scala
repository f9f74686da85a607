// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** Completion headers that reads of a port may need, at most 8 a request. */
case class RoomPort() extends Bundle with IMasterSlave {
  val hasRoom = Bool() // for a request of any size, now
  val asked = Flow(UInt(CompletionRoom.bits bits)) // by a request, only while there is room
  val ended = Flow(UInt(CompletionRoom.bits bits)) // completions that have come, or will not

  override def asMaster(): Unit = {
    in(hasRoom)
    master(asked, ended)
  }
}

/** Counts the completions that the requests of two ports may bring, as the block has room for 128 headers and 32,768
  * bytes, and leaves it to the user's logic that no more come (PG213, "Completion Space"). A completion ends at multiples
  * of 64 bytes or later, the read completion boundary, so a request brings as many as there are blocks of 64 bytes in
  * which it has bytes. All headers together have 8,192 bytes, so bytes need no counter.
  *
  * The ports ask in every other cycle by turns, so that neither has to leave room for a request of the other in the same
  * cycle. The first, of descriptors, may always have one under way, however many of the second, of payload, are: payload
  * may have all room but that.
  *
  * @param limit  headers, those of both together
  */
class CompletionRoom(limit: Int) extends Component {
  import CompletionRoom.{bits, most}
  require(limit >= 3 * most, s"there is room for $limit headers: choose at least ${3 * most}")
  val io = new Bundle {
    val descriptors, payload = slave(RoomPort())
  }

  val width = log2Up(limit + 1)
  private def count(port: RoomPort): UInt = {
    val used = RegInit(U(0, width bits))
    used := used + (port.asked.valid ? port.asked.payload | U(0, bits bits)) -
      (port.ended.valid ? port.ended.payload | U(0, bits bits))
    used
  }
  val ofDescriptors = count(io.descriptors)
  val ofPayload = count(io.payload)
  val isPayloads = RegInit(False) // the turn
  isPayloads := !isPayloads
  val hasRoom = ofDescriptors +^ ofPayload <= limit - most
  io.payload.hasRoom := isPayloads && hasRoom && ofPayload <= limit - 2 * most
  io.descriptors.hasRoom := !isPayloads && (hasRoom || ofDescriptors === 0)
}

object CompletionRoom {
  val most = 8 // headers of a request, which has no byte beyond a multiple of 512
  val bits = log2Up(most + 1)

  /** Headers that the block has room for, and those of the reads of C2H descriptors, which have a tag for each four. */
  val ofBlock = 128
  val ofBuffers = 32
}
