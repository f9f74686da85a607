// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.pcie._
import spinal.core._
import spinal.lib._

/** Reads of host memory for several users, who share the tags of one port. Answers come in the order of the reads of all
  * users, so a user asks only for what it has room for, and a read that is slow holds up the others until it comes or is
  * given up. A command waits a cycle or more; it then has its turn behind one of each other user.
  *
  * @param first    the first of the tags
  * @param timeOut  cycles (TagTable)
  */
class MemoryReads(p: DmaParam, users: Int, first: Int, timeOut: Int) extends Component {
  val io = new Bundle {
    val commands = Vec(slave(Stream(ReadCommand())), users)
    val beats = Vec(master(Stream(Fragment(ReadBeat()))), users)
    val request = master(Stream(RqRequest()))
    val part = slave(Flow(CompletionPart()))
    val room = master(RoomPort())
    val maxReadRequest = in UInt (3 bits)
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType())) // see ReadPort
    val busy = out Bool () // a command or a read of this function waits
    val quiet = out Bool ()
  }

  case class Asked() extends Bundle {
    val command = ReadCommand()
    val user = UInt(log2Up(users) bits)
  }
  // They are kept, as who asks may do so for a cycle only.
  val waiting = io.commands.map(_.halfPipe())
  val asked = StreamArbiterFactory().roundRobin.noLock.on(waiting.zipWithIndex.map { case (command, i) =>
    command.map { c =>
      val it = Asked()
      it.command := c
      it.user := i
      it
    }
  })
  val port = new ReadPort(p, p.memoryTags, first, timeOut)
  port.io.part << io.part
  port.io.room <> io.room
  port.io.maxReadRequest := io.maxReadRequest
  port.io.busMaster := io.busMaster
  port.io.revoked << io.revoked
  io.request << port.io.request
  val (toPort, toOrder) = StreamFork2(asked, synchronous = true)
  port.io.command << toPort.map(_.command)
  val order = toOrder.map(_.user).queue(2 * p.memoryTags)

  order.ready := port.io.beat.fire && port.io.beat.last
  port.io.beat.ready := order.valid && io.beats.map(_.ready).read(order.payload)
  for ((beat, i) <- io.beats.zipWithIndex) {
    beat.valid := port.io.beat.valid && order.valid && order.payload === i
    beat.payload := port.io.beat.payload
  }

  val waits = waiting.map(command => command.valid && command.function === io.revoked.payload).orR
  io.busy := RegNext(waits) || port.io.busy
  io.quiet := port.io.quiet && !waiting.map(_.valid).orR && !order.valid
}
