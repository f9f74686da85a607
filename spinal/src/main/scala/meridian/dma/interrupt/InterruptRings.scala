// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest}
import meridian.dma.pcie.{RqBeat, RqRequest}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Interrupt rings (PG302, "Interrupt Aggregation Ring"): an interrupt for a ring becomes an entry of 8 bytes in host
  * memory, and the ring's vector is asked for, unless software has not yet written CIDX since the last time. A write of
  * CIDX asks for it if entries are unread, but not twice for the same.
  *
  * As in the model of the IP, an entry is written whether or not the ring has room, one for a ring that is not valid is
  * dropped, and a ring whose function may not access memory goes on without its entries and vectors.
  *
  * One event at a time: 5 cycles, and if it asks for the vector one more and what MsixTable takes, some 8 at most.
  * Writes of CIDX come first, then contexts. An interrupt begins when RQ has taken the entry before; so nothing else
  * waits for RQ. An entry is on RQ 5 cycles after its interrupt, in the cycle in which the vector is asked for, so that
  * the message is behind it if the entry goes first where both wait. An entry of a ring whose context is written is
  * `late` until RQ takes it.
  *
  * `drain` ends when nothing of the function is under way. Its rings are to be invalid before. After reset the first
  * event waits until all rings are, a cycle for each.
  */
class InterruptRings(p: DmaParam) extends Component {
  val io = new Bundle {
    val interrupt = slave(Stream(RingInterrupt()))
    val bell = slave(Stream(InterruptBell())) // one that was taken back before has no effect
    val hold = slave(InterruptRingHold())
    val change = slave(Stream(InterruptRing())) // of the ring that is held
    val busMaster = in Bits (p.functions bits)
    val rq = master(Stream(Fragment(RqBeat())))
    val vector = master(Stream(InterruptRequest()))
    val drain = slave(Stream(DmaParam.functionType()))
    val late = out Bool ()
  }

  val rings = Mem(InterruptRingState(), DmaParam.rings)
  val filled = RegInit(U(0, log2Up(DmaParam.rings) + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  object Event extends SpinalEnum {
    val bell, hold, interrupt = newElement()
  }
  val event = Reg(Event())
  val index = Reg(UInt(8 bits))
  val known = Reg(Bool()) // there is such a ring
  val state = Reg(InterruptRingState())
  val ring = state.ring
  val place = Reg(UInt(12 bits))
  val isMaster, isNews = Reg(Bool())
  val old = rings.readSync(index)
  val next = InterruptRingState()
  next := state
  val writes = False
  val empty = InterruptRingState().getZero
  rings.write(fills ? filled.resize(8) | index, fills ? empty | next, fills || writes)

  val entry = Stream(RqRequest())
  entry.valid := False
  entry.function := ring.function.resized
  entry.address := (ring.base @@ U(0, 12 bits)) + (place @@ U(0, 3 bits)).resize(64)
  entry.dwords := 2
  entry.write := True
  entry.tag := 0
  entry.firstBe := 15
  entry.lastBe := 15
  entry.data := io.interrupt.event.entry(ring.colour).resize(128)
  val held = entry.halfPipe()
  val heldIndex = RegNextWhen(index, entry.fire)
  io.rq << held.map(_.beat)
  val late = RegInit(False) clearWhen (!held.valid)
  io.late := late

  io.interrupt.ready := False
  io.bell.ready := False
  io.change.ready := False
  io.hold.held := False
  io.hold.state := ring
  io.vector.valid := False
  io.vector.function := ring.function
  io.vector.vector := ring.vector
  io.vector.aggregate := False
  io.drain.ready := False

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val read, look, stands, measure, act, ask = new State

    idle.whenIsActive {
      val choices = Seq(
        (Event.bell, io.bell.valid, io.bell.index.resize(11 bits)),
        (Event.hold, io.hold.index.valid, io.hold.index.payload.resize(11 bits)),
        (Event.interrupt, io.interrupt.valid && entry.ready, io.interrupt.request.vector)
      )
      for ((kind, isThere, of) <- choices.reverse) when(isThere) {
        event := kind
        index := of.resized
        known := of < DmaParam.rings
      }
      when(choices.map(_._2).orR && !fills)(goto(read))
      io.drain.ready := !(held.valid && held.function === io.drain.payload)
    }
    read.whenIsActive(goto(look))
    look.whenIsActive {
      state := old
      when(event === Event.hold)(goto(stands)) otherwise goto(measure)
    }
    stands.whenIsActive {
      io.hold.held := True
      next.ring := io.change.payload
      next.cidx := 0
      next.sentPidx := 0
      when(io.change.valid) {
        io.change.ready := True
        writes := True
        when(held.valid && heldIndex === index)(late := True)
        goto(idle)
      } elsewhen (!io.hold.index.valid)(goto(idle))
    }
    measure.whenIsActive {
      place := ring.place
      isMaster := p.hasFunction(ring.function) && io.busMaster(ring.function.resize(log2Up(p.functions) bits))
      // A handler that found nothing writes the value it wrote before; that alone does not start it again.
      isNews := (io.bell.cidx =/= state.cidx || ring.pidx =/= state.sentPidx) && io.bell.cidx =/= ring.pidx.resize(16)
      goto(act)
    }
    act.whenIsActive {
      val asks = False // for the vector
      goto(idle)
      when(event === Event.bell) {
        io.bell.ready := True
        when(RegNext(io.bell.valid) && ring.valid && ring.function === io.bell.function.resize(12)) {
          writes := True
          next.ring.serviced := isNews
          next.cidx := io.bell.cidx
          when(isNews)(next.sentPidx := ring.pidx)
          asks := isNews
        }
      } otherwise {
        io.interrupt.ready := True
        when(known && ring.valid) {
          writes := True
          entry.valid := isMaster
          val wraps = place(8 downto 0).andR && place(11 downto 9) === ring.pages
          next.ring.pidx := wraps ? U(0, 12 bits) | place + 1
          next.ring.colour := ring.colour ^ wraps
          next.ring.serviced := True
          when(!ring.serviced)(next.sentPidx := next.ring.pidx)
          asks := !ring.serviced
        }
      }
      when(asks && isMaster)(goto(ask))
    }
    ask.whenIsActive {
      io.vector.valid := True
      when(io.vector.ready)(goto(idle))
    }
  }
}
