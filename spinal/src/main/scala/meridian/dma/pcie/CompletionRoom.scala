// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** Completion headers that reads of a port may need. */
case class RoomPort() extends Bundle with IMasterSlave {
  val hasRoom = Bool() // for a request of any size, in this cycle
  val asked = Flow(UInt(CompletionRoom.bits bits)) // by a request, only while there is room
  val ended = Flow(UInt(CompletionRoom.bits bits)) // completions that have come, or will not

  override def asMaster(): Unit = {
    in(hasRoom)
    master(asked, ended)
  }
}

/** Counts the completions that requests may bring, as the block has room for fewer than 128 headers and 32,768 bytes, and
  * leaves it to the user's logic that no more come (PG213, "Completion Space"). A completion ends at multiples of 64 bytes
  * or later, the read completion boundary, so a request brings as many as there are blocks of 64 bytes in which it has
  * bytes. All headers together have 8,192 bytes, so bytes need no counter.
  *
  * Ports ask by turns, payload in every other cycle and the others in every fourth, so that none has to leave room for a
  * request of another in the same cycle. Descriptors, those of H2C and of C2H, may always have one request under way,
  * however many of others are: payload may have all room but that. So may memory-mapped queues, which have every
  * second turn of those of C2H, and commands of the card's own logic, which have every second turn of payload.
  */
class CompletionRoom(hasMemory: Boolean = false, hasCommands: Boolean = false) extends Component {
  import CompletionRoom._
  val io = new Bundle {
    val descriptors, payload, buffers = slave(RoomPort()) // buffers: descriptors of C2H
    val memory = hasMemory generate slave(RoomPort()) // all reads of memory-mapped queues
    val commands = hasCommands generate slave(RoomPort())
  }

  private def count(port: RoomPort): UInt = {
    val used = RegInit(U(0, log2Up(limit + 1) bits))
    used := used + (port.asked.valid ? port.asked.payload | U(0, bits bits)) -
      (port.ended.valid ? port.ended.payload | U(0, bits bits))
    used
  }
  val ofDescriptors = count(io.descriptors)
  val ofPayload = count(io.payload)
  val ofBuffers = count(io.buffers)
  private def atLeast(used: UInt, least: Int): UInt = (used < least) ? U(least, used.getWidth bits) | used
  val ofMemory = hasMemory generate count(io.memory)
  val ofCommands = hasCommands generate count(io.commands)
  private val options = Seq(io.memory -> ofMemory, io.commands -> ofCommands).filter(_._1 != null)
  val taken = options
    .map(_._2)
    .foldLeft(
      atLeast(ofDescriptors, most) +^ atLeast(ofBuffers, ofBufferRead) +^ ofPayload
    )(_ +^ atLeast(_, most))
  val turn = RegInit(U(0, (if (hasMemory) 3 else 2) bits))
  turn := turn + 1
  // It is found a cycle ahead. What another asks for meanwhile counts as much as it may be.
  private def hasRoom(isNext: Bool, hasNone: Bool, wanted: Int, others: (RoomPort, Int)*): Bool = {
    val fits = others.foldLeft(taken <= limit - wanted) { case (before, (port, count)) =>
      port.asked.valid ? (taken <= limit - wanted - count) | before
    }
    RegNext(isNext && (fits || hasNone), init = False)
  }
  val besidePayload = Seq(io.descriptors -> most, io.buffers -> ofBufferRead) ++ Option(io.memory).map(_ -> most)
  private val ofPayloadTurn = if (hasCommands) turn(1 downto 0) === 1 else turn(0)
  // In the cycle before another's turn one of these has had its own.
  private val odd = Seq(io.payload -> most) ++ Option(io.commands).map(_ -> most)
  io.payload.hasRoom := hasRoom(ofPayloadTurn, False, most, besidePayload: _*)
  if (hasCommands)
    io.commands.hasRoom := hasRoom(turn(1 downto 0) === 3, ofCommands === 0, most, besidePayload: _*)
  io.descriptors.hasRoom := hasRoom(
    (if (hasMemory) turn(1 downto 0) else turn) === 0,
    ofDescriptors === 0,
    most,
    odd: _*
  )
  io.buffers.hasRoom := hasRoom(turn === 2, ofBuffers === 0, ofBufferRead, odd: _*)
  if (hasMemory) io.memory.hasRoom := hasRoom(turn === 6, ofMemory === 0, most, odd: _*)
}

object CompletionRoom {
  val limit = 127 // headers, of all together
  val most = 8 // of a request, which has no byte beyond a multiple of 512
  val ofBufferRead = 4 // of one of C2H descriptors
  val bits = log2Up(most + 1)
}
