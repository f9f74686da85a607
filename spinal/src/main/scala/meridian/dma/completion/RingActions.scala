// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import meridian.dma.interrupt.RingInterrupt
import meridian.dma.pcie.{RequestKind, RqBeat}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** What a completion ring does to the host: a write of up to 64 bytes, those behind the first 16 being 0, or an
  * interrupt, whose data is the status entry as the ring is when it asks.
  */
case class RingAction() extends Bundle {
  val queue = DmaParam.queueType()
  val function = UInt(12 bits)
  val interrupt = Bool()
  val address = UInt(64 bits) // a multiple of 8
  val data = Bits(128 bits)
  val size = UInt(2 bits) // 8 bytes times two to the power of it
  val vector = UInt(11 bits)
  val aggregate = Bool()
}

/** Sends actions in their order: each when RQ or the port of interrupts has taken the one before. A write of a function that
  * may not access memory, or is revoked, is dropped; so is a direct interrupt of one that is revoked.
  *
  * Actions of a queue that is forgotten are dropped, but for a write that is at RQ already: it is `late`, from the next cycle
  * on, until RQ has taken it. No interrupt of the queue leaves from the next cycle on.
  *
  * An action takes 2 cycles, a write of 32 bytes 3 and one of 64 bytes 4.
  *
  * @param places  actions that may wait, a power of two
  */
class RingActions(p: DmaParam, places: Int = 16) extends Component {
  val io = new Bundle {
    val action = slave(Stream(RingAction()))
    val hasRoom = out Bool () // for those of an event, 3
    val forget = slave(Flow(DmaParam.queueType())) // not with an action of the queue
    val rq = master(Stream(Fragment(RqBeat())))
    val interrupt = master(Stream(RingInterrupt()))
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType()))
    val idle = out Bool () // nothing waits
    val late = out Bool () // a write of a queue that was forgotten is at RQ
    val issued, left = out UInt (8 bits) // actions that have come, and that have ended
  }

  val queue = StreamFifo(RingAction(), places)
  queue.io.push << io.action
  val action = queue.io.pop
  io.hasRoom := RegNext(queue.io.availability >= places / 2) init False
  io.idle := queue.io.occupancy === 0
  val isMaster = p.hasFunction(action.function) && io.busMaster(action.function.resize(log2Up(p.functions) bits))
  val isRevoked = io.revoked.valid && action.function === io.revoked.payload.resized
  val isWrite, isInterrupt = Reg(Bool()) // it may leave
  val first = Reg(Bool())
  val rest = Reg(UInt(2 bits)) // beats behind this one

  // Whose the action at each place is, and whether that queue was forgotten since.
  val owners = Vec.fill(places)(Reg(DmaParam.queueType()))
  val forgotten = Reg(Bits(places bits))
  for ((owner, i) <- owners.zipWithIndex) {
    when(io.forget.valid && io.forget.payload === owner)(forgotten(i) := True)
    when(io.action.fire && io.issued.resize(log2Up(places) bits) === i) {
      owner := io.action.payload.queue
      forgotten(i) := False
    }
  }
  // The same of the first action, from the cycle after `look` on.
  val isForgotten = Reg(Bool())
  val isHit = io.forget.valid && io.forget.payload === action.payload.queue

  io.rq.valid := False
  val dwords = (U(2, 5 bits) |<< action.size).resize(5 bits)
  val descriptor = B(0, 40 bits) ## action.function(7 downto 0) ## B(0, 1 bits) ##
    B(RequestKind.memoryWrite, 4 bits) ## dwords.resize(11 bits) ## action.address(63 downto 2) ## B(0, 2 bits)
  io.rq.data := first ? (action.data ## descriptor) | B(0, 256 bits)
  io.rq.firstBe := 15
  io.rq.lastBe := 15
  io.rq.last := rest === 0
  // Double words of the descriptor come first: 6 or 8 in one beat, 8 and 4, or 8, 8 and 4.
  io.rq.keep := (io.rq.last && action.size(1)) ? B(15, 8 bits) | ((action.size === 0) ? B(63, 8 bits) | B(255, 8 bits))
  io.interrupt.valid := False
  io.interrupt.request.function := action.function
  io.interrupt.request.vector := action.vector
  io.interrupt.request.aggregate := action.aggregate
  io.interrupt.ofQueue := True
  io.interrupt.event.fromStatus(action.data)
  io.interrupt.event.c2h := True
  io.interrupt.event.queue := action.payload.queue
  action.ready := False
  io.late := io.rq.valid && isForgotten
  val issued, left = RegInit(U(0, 8 bits))
  io.issued := issued
  io.left := left
  when(io.action.fire)(issued := issued + 1)
  when(action.fire)(left := left + 1)

  val control = new StateMachine {
    val look = new State with EntryPoint
    val run = new State

    look.whenIsActive {
      val isDropped = forgotten(io.left.resize(log2Up(places) bits)) || isHit
      isForgotten := isDropped
      isWrite := !action.interrupt && isMaster && !isRevoked && !isDropped
      isInterrupt := action.interrupt && !(isRevoked && !action.aggregate) && !isDropped
      first := True
      rest := action.size.mux(2 -> U(1, 2 bits), 3 -> U(2, 2 bits), default -> U(0, 2 bits))
      when(action.valid)(goto(run))
    }
    run.whenIsActive {
      when(isHit)(isForgotten := True)
      io.rq.valid := isWrite
      io.interrupt.valid := isInterrupt && !isForgotten
      when(io.rq.fire) {
        first := False
        rest := rest - 1
      }
      when((io.rq.fire && io.rq.last) || (!io.rq.valid && !io.interrupt.valid) || io.interrupt.fire) {
        action.ready := True
        goto(look)
      }
    }
  }
}
