// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.DmaParam
import meridian.dma.context.{ContextKind => Kind}
import meridian.dma.descriptor.{RingChange, RingFields, RingHold}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** A command of the context registers. */
case class ContextCommandWord() extends Bundle {
  val kind = UInt(4 bits)
  val operation = UInt(2 bits)
  val index = UInt(13 bits)
  val data = Bits(256 bits)
  val mask = Bits(256 bits)
}

/** A step of a function's reset. */
case class SweepStep() extends Bundle {
  val function = DmaParam.functionType()
  val kind = UInt(1 bits) // SweepStep.begin or .row
  val index = UInt(11 bits) // of the queue and of the interrupt ring
}

object SweepStep {
  val begin = 0 // looks up the function's queues and takes them from the map, so that no doorbell reaches them any more
  val row = 1 // takes what is the function's of one queue and of one ring
}

/** Carries out commands on the contexts, and the steps of function resets between them.
  *
  * A command takes 5 cycles, and at most as many more as a step that has begun; its access waits for it, so software never
  * finds it busy. One for a context that is not there does nothing, and reads zeros. A step takes 5 cycles and gives way
  * to commands. Either takes 6 more, and what the H2C engine's event takes, if it is about an H2C ring: the engine holds
  * the ring, as PIDX, CIDX, credits, errors and whether it is enabled are the engine's, and is told of the change.
  *
  * A queue is taken from a function that the map gave it to, or whose context names the function while it is enabled; an
  * interrupt ring from the function that its context names.
  */
class ContextCommand(p: DmaParam) extends Component {
  val io = new Bundle {
    val command = slave(Stream(ContextCommandWord()))
    val row = master(Flow(Bits(256 bits)))
    val sweep = slave(Stream(SweepStep()))
    val forget = master(Flow(DmaParam.queueType())) // a queue whose doorbells are forgotten
    val map = master(Flow(FunctionMapWrite()))
    val hold = master(RingHold()) // of the H2C engine
    val change = master(Stream(RingChange()))
  }

  val store = new ContextStore(p)
  io.map << store.io.map
  val sweeps = Reg(Bool())
  val index = Reg(UInt(13 bits))
  val chosen = Reg(Bits(store.kinds.size bits))
  val row = Reg(Bits(256 bits))
  val write = Reg(Bits(store.kinds.size bits))
  val invalidates = Reg(Bool())
  val base = Reg(UInt(11 bits))
  val count = Reg(UInt(12 bits))

  store.io.index := index
  store.io.row := row
  store.io.write := 0
  store.io.invalidate := invalidates
  io.command.ready := False
  io.sweep.ready := False
  io.row.valid := False
  io.row.payload := row
  io.forget.valid := False
  io.forget.payload := io.sweep.index

  // What the engine has of a ring takes the place of what is stored.
  val holds = RegInit(False)
  val change = Reg(RingChange())
  io.hold.queue.valid := holds
  io.hold.queue.payload := index.resized
  io.change.valid := False
  io.change.payload := change
  val rows = CombInit(store.io.rows)
  when(holds) {
    rows(Kind.swH2c) := RingFields.software(store.io.rows(Kind.swH2c), io.hold.state)
    rows(Kind.hwH2c) := RingFields.hardware(store.io.rows(Kind.hwH2c), io.hold.state)
    rows(Kind.creditH2c) := RingFields.credit(store.io.rows(Kind.creditH2c), io.hold.state)
  }

  private def field(place: Int, bits: (Int, Int)): UInt = rows(place)(bits._1, bits._2 bits).asUInt
  private def isFunctions(place: Int, bits: (Int, Int)): Bool = field(place, bits) === io.sweep.function.resize(12 bits)
  private def has(place: Int, bit: Int): Bool = rows(place)(bit)

  // A function has the queue by the map.
  val mapped = RegNext(
    io.sweep.index >= base && (io.sweep.index - base).resize(12 bits) < count && io.sweep.index < p.queues
  )

  val isRow = io.sweep.kind === SweepStep.row
  val isRing = index < p.queues && (sweeps ? (isRow && (mapped || isFunctions(Kind.swH2c, Kind.swFunction))) |
    (chosen(Kind.swH2c) || chosen(Kind.hwH2c) || chosen(Kind.creditH2c)))
  val begins = write(Kind.swH2c) || write(Kind.hwH2c)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val fetch, wait1, act, hold, finish, tell = new State

    private def end(): Unit = {
      io.command.ready := !sweeps
      io.row.valid := !sweeps && io.command.operation === Kind.read
      io.sweep.ready := sweeps
      io.forget.valid := sweeps && isRow && mapped
      holds := False
      goto(idle)
    }

    idle.whenIsActive {
      when(!store.io.busy) {
        sweeps := !io.command.valid
        for ((kind, i) <- store.kinds.zipWithIndex) chosen(i) := io.command.kind === kind.select
        index := io.command.index
        when(!io.command.valid) {
          index := (io.sweep.kind === SweepStep.row) ? io.sweep.index.resize(13 bits) | io.sweep.function.resize(
            13 bits
          )
        }
        when(io.command.valid || io.sweep.valid)(goto(fetch))
      }
    }
    fetch.whenIsActive(goto(wait1))
    wait1.whenIsActive(goto(act))
    hold.whenIsActive(when(io.hold.held)(goto(act)))
    act.whenIsActive {
      when(sweeps) {
        write := 0
        row := 0
        invalidates := isRow
        when(io.sweep.kind === SweepStep.begin) {
          base := field(Kind.map, Kind.mapBase)
          count := field(Kind.map, Kind.mapCount)
          write(Kind.map) := True
        }
        when(isRow) {
          val c2h = mapped || (has(Kind.swC2h, Kind.swEnable) && isFunctions(Kind.swC2h, Kind.swFunction))
          write(Kind.swC2h) := c2h
          write(Kind.prefetch) := c2h
          write(Kind.swH2c) := mapped || (has(Kind.swH2c, Kind.swEnable) && isFunctions(Kind.swH2c, Kind.swFunction))
          write(Kind.completion) := mapped || (has(Kind.completion, Kind.completionValid) && isFunctions(
            Kind.completion,
            Kind.completionFunction
          ))
          write(Kind.ring) := has(Kind.ring, Kind.ringValid) && isFunctions(Kind.ring, Kind.ringFunction)
        }
      } otherwise {
        val old = rows.zipWithIndex.map { case (r, i) => r.andMask(chosen(i)) }.reduceBalancedTree(_ | _)
        row := io.command.operation.mux(
          Kind.clear -> B(0, 256 bits),
          Kind.write -> ((old & ~io.command.mask) | (io.command.data & io.command.mask)),
          default -> old
        )
        write := chosen.andMask(io.command.operation =/= Kind.read)
        invalidates := io.command.operation === Kind.invalidate
      }
      goto(finish)
      when(isRing && !holds) {
        holds := True
        goto(hold)
      }
    }
    finish.whenIsActive {
      store.io.write := write
      // The contexts as they are after the write.
      val written = Vec(Seq(Kind.swH2c, Kind.hwH2c).map(i => (write(i) && !invalidates) ? row | rows(i)))
      change := RingFields.change(index.resized, written(0), written(1))
      when(write(Kind.swH2c) && invalidates)(change.context.enable := False)
      when(!begins) {
        change.credits := RingFields.creditsOf(invalidates ? rows(Kind.creditH2c) | row)
        change.creditsAlone := True
        change.forgets := sweeps
      }
      when(holds && (begins || write(Kind.creditH2c) || sweeps))(goto(tell)) otherwise (end())
    }
    tell.whenIsActive {
      io.change.valid := True
      when(io.change.ready)(end())
    }
  }
}
