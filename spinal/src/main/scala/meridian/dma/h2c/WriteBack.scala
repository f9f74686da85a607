// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingNotice
import meridian.dma.interrupt.RingInterrupt
import meridian.dma.pcie.RqRequest
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Tells the host of rings, one at a time: a status entry of 8 bytes is written into its memory, and when RQ has taken it,
  * the interrupt is asked for. An entry leaves 2 cycles after its notice is taken at the earliest, and the next notice is
  * taken 3 cycles later, or when the interrupt has been taken.
  *
  * A notice whose queue is forgotten is dropped, but for an entry that is at RQ already: it is `late` until it has left.
  * An entry of a function that may not access memory is dropped with its interrupt, also if it has waited for RQ; an
  * interrupt for a ring of interrupts is not, as the ring may be another function's.
  */
class WriteBack(p: DmaParam) extends Component {
  val io = new Bundle {
    val notice = slave(Stream(RingNotice()))
    val forget = slave(Flow(DmaParam.queueType()))
    val request = master(Stream(RqRequest()))
    val leaves = in Bool () // a request of this block waits for RQ, from the cycle after it is taken on
    val interrupt = master(Stream(RingInterrupt()))
    val busMaster = in Bits (p.functions bits)
    val function = in(DmaParam.functionType())
    val busy = out Bool () // this function's notice waits
    val late = out Bool ()
  }

  val notice = Reg(RingNotice())
  val isForgotten = io.forget.valid && io.forget.payload === notice.queue
  val late = RegInit(False)
  io.late := late
  // A cycle behind, as the choice among all functions takes its time.
  private def place = notice.function.resize(log2Up(p.functions) bits)
  val isMaster = RegNext(p.hasFunction(notice.function) && io.busMaster(place))

  io.notice.ready := False
  io.request.valid := False
  io.request.function := notice.function
  io.request.address := notice.address
  io.request.dwords := 2
  io.request.write := True
  io.request.tag := 0
  io.request.firstBe := 15
  io.request.lastBe := 15
  io.request.data := B(0, 64 bits) ## notice.word
  io.interrupt.valid := False
  io.interrupt.request.function := notice.function.resized
  io.interrupt.request.vector := notice.vector
  io.interrupt.request.aggregate := notice.aggregate
  io.interrupt.ofQueue := True
  io.interrupt.event.colour := False
  io.interrupt.event.state := 0
  io.interrupt.event.c2h := False
  io.interrupt.event.queue := notice.queue
  io.interrupt.event.error := notice.word(1 downto 0)
  io.interrupt.event.cidx := notice.word(31 downto 16).asUInt
  io.interrupt.event.pidx := notice.word(47 downto 32).asUInt

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val look, ask, leave, raise = new State

    idle.whenIsActive {
      io.notice.ready := True
      notice := io.notice.payload
      when(io.notice.valid) {
        when(io.notice.status)(goto(look)) otherwise goto(raise)
      }
    }
    look.whenIsActive(when(isForgotten)(goto(idle)) otherwise goto(ask))
    ask.whenIsActive {
      io.request.valid := isMaster
      when(io.request.fire) {
        late := isForgotten
        goto(leave)
      } elsewhen (isForgotten) {
        goto(idle)
      } elsewhen (!isMaster) {
        when(notice.interrupt && notice.aggregate)(goto(raise)) otherwise goto(idle)
      }
    }
    leave.whenIsActive {
      when(isForgotten)(late := True)
      when(!io.leaves) {
        late := False
        when(notice.interrupt && !late && !isForgotten)(goto(raise)) otherwise goto(idle)
      }
    }
    raise.whenIsActive {
      io.interrupt.valid := True
      when(io.interrupt.ready || isForgotten)(goto(idle))
    }
  }
  io.busy := !io.notice.ready && notice.function === io.function
}
