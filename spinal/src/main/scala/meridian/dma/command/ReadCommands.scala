// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.{CommandPort, DmaParam, HostCommand, HostRead}
import meridian.dma.pcie._
import spinal.core._
import spinal.lib._

/** Reads host memory as the card's own logic asks, and gives it the bytes in the order of its commands.
  *
  * A command is taken every cycle; its request is at RQ 8 cycles later at the earliest, and a request leaves every other
  * cycle at most. Bytes come a beat a cycle, with a cycle between answers. One of a queue that is not for commands, of no
  * bytes, or whose read fails, is answered with a beat that says so. Of a queue that has been changed nothing is asked any
  * more, up to 3 cycles ago: what is left of its command fails.
  *
  * While the logic is in reset its commands are dropped, and it gets no answer to those before.
  */
class ReadCommands(p: DmaParam, first: Int, timeOut: Int) extends Component {
  private val waiting = 2 * p.commandTags // commands whose answers wait
  val io = new Bundle {
    val command = slave(Stream(HostCommand()))
    val bytes = master(Stream(Fragment(HostRead())))
    val reset = in Bool ()
    val queues = master(CommandQueuesPort())
    val change = slave(Flow(CommandChange()))
    val request = master(Stream(RqRequest()))
    val part = slave(Flow(CompletionPart()))
    val room = master(RoomPort())
    val maxReadRequest = in UInt (3 bits)
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType())) // see ReadPort
    val busy = out Bool () // the function at revoked, whose queues are disabled, has a read under way
    val quiet = out Bool ()
  }

  /** A command, and who asks. */
  case class Known() extends Bundle {
    val command = HostCommand()
    val by = CommandQueue()
  }

  private def changes(queue: UInt): Bool = io.change.valid && io.change.queue === queue
  // Wires to and from the logic end here.
  val taken = io.command.throwWhen(io.reset).s2mPipe().m2sPipe().throwWhen(io.reset)
  io.queues.queue := taken.payload.queue
  io.queues.epochQueue := 0
  val known = Stream(Known())
  known.arbitrationFrom(taken)
  known.command := taken.payload
  known.by := io.queues.now
  when(changes(taken.payload.queue))(known.by.enable := False)
  // A stage whose command loses its queue.
  val kept = Stream(Known())
  val isKept = RegInit(False)
  val keeps = Reg(Known())
  known.ready := !isKept || kept.ready
  when(known.ready || io.reset)(isKept := known.fire)
  when(known.fire)(keeps := known.payload) elsewhen (changes(keeps.command.queue))(keeps.by.enable := False)
  kept.valid := isKept && !io.reset
  kept.payload := keeps

  case class Order() extends Bundle {
    val tag = Bits(CommandPort.tagBits bits)
    val refused = Bool()
  }
  val port = new ReadPort(p, p.commandTags, first, timeOut)
  port.io.part << io.part
  port.io.room <> io.room
  port.io.maxReadRequest := io.maxReadRequest
  port.io.busMaster := io.busMaster
  port.io.revoked << io.revoked
  io.request << port.io.request
  val refuses = !keeps.by.enable || keeps.command.bytes === 0
  // Not in the cycle of a change, which it would miss.
  val (asked, ordered) = StreamFork2(kept.haltWhen(io.change.valid), synchronous = true)
  port.io.command << asked.throwWhen(refuses).map { of =>
    val read = ReadCommand()
    read.function := of.by.function
    read.address := of.command.address
    read.bytes := of.command.bytes
    read.place := 0
    read
  }
  val cut = RegNextWhen(keeps.command.queue, port.io.command.fire) // the queue of the read that is cut into requests
  port.io.cut := changes(cut)
  val order = ordered
    .map { of =>
      val it = Order()
      it.tag := of.command.tag
      it.refused := refuses
      it
    }
    .queue(waiting)

  // What the logic has asked for before its reset is not for it.
  val under = RegInit(U(0, log2Up(waiting + 2) + 1 bits)) // commands whose answers wait
  val stale = RegInit(U(0, log2Up(waiting + 2) + 1 bits)) // those that nobody waits for
  val isStale = stale =/= 0 || io.reset
  val answer = Stream(Fragment(HostRead()))
  private val beat = port.io.beat
  answer.valid := order.valid && (order.refused || beat.valid)
  answer.last := order.refused || beat.last
  answer.failed := order.refused || (beat.last && beat.failed)
  answer.data := beat.data.andMask(!answer.failed) // else they are of another read
  answer.keep := (B(32 bits, default -> True) |>> (beat.last ? beat.empty | U(0, 5 bits))).andMask(!answer.failed)
  answer.tag := order.tag
  beat.ready := order.valid && !order.refused && answer.ready
  val ends = answer.fire && answer.last
  order.ready := ends
  io.bytes << answer.throwWhen(isStale).s2mPipe().m2sPipe().throwWhen(io.reset)
  under := under + ordered.fire.asUInt - ends.asUInt
  when(io.reset)(stale := under + ordered.fire.asUInt - ends.asUInt) elsewhen (ends && stale =/= 0)(stale := stale - 1)

  io.busy := port.io.busy // a command that is kept asks for nothing more, as its queue has been changed
  io.quiet := !io.command.valid && !taken.valid && !isKept && !order.valid && !io.bytes.valid && port.io.quiet
}
