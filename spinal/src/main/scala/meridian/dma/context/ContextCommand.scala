// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.DmaParam
import meridian.dma.c2h.PrefetchWrite
import meridian.dma.completion.{CompletionChange, CompletionHold, CompletionRow}
import meridian.dma.command.{CommandChange, CommandQueue}
import meridian.dma.context.{ContextKind => Kind}
import meridian.dma.descriptor.{RingChange, RingHold}
import meridian.dma.interrupt.{InterruptRing, InterruptRingFields, InterruptRingHold}
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
  * A command takes 6 cycles, and at most as many more as a step that has begun; its access waits for it, so software never
  * finds it busy. One for a context that is not there does nothing, and reads zeros. A step takes 6 cycles and gives way
  * to commands. Either takes 7 more, and what the events of the engines take, if it is about an H2C ring, a C2H ring, a
  * completion ring or an interrupt ring: the engine holds the ring, as PIDX, CIDX, credits, errors and whether it is
  * enabled are the engine's, and is told of the change. A function's reset holds the rings of a queue at once.
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
    val holdC2h = master(RingHold())
    val changeC2h = master(Stream(RingChange()))
    val holdCompletion = master(CompletionHold())
    val changeCompletion = master(Stream(CompletionChange()))
    val prefetch = master(Flow(PrefetchWrite()))
    val isMapped = p.memory generate (out Vec (Bool(), 2)) // the queues of H2C and of C2H changes are memory-mapped
    val changeCommands = p.commands generate Vec(master(Flow(CommandChange())), 2) // with changes of H2C and of C2H
    val ringHold = master(InterruptRingHold())
    val ringChange = master(Stream(InterruptRing()))
  }

  val store = new ContextStore(p)
  io.map << store.io.map
  io.prefetch << store.io.prefetch
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
  val forgets = False
  io.forget.valid := RegNext(forgets) init False
  io.forget.payload := RegNext(io.sweep.index)

  // What an engine has of a ring takes the place of what is stored.
  val holds, holdsC2h, holdsCompletion, holdsRing = RegInit(False)
  val change, changeC2h = Reg(RingChange())
  val changeCompletion = Reg(CompletionChange())
  val ringChange = Reg(InterruptRing())
  val isMapped = p.memory generate Vec.fill(2)(Reg(Bool()))
  if (p.memory) io.isMapped := isMapped
  val forCommands = p.commands generate Vec.fill(2)(Reg(CommandQueue()))
  if (p.commands) for (((to, now), from) <- io.changeCommands.zip(forCommands).zip(Seq(io.change, io.changeC2h))) {
    to.valid := from.fire && !from.creditsAlone
    to.queue := from.payload.queue
    to.now := now
  }
  val asked = Seq(io.hold.queue -> holds, io.holdC2h.queue -> holdsC2h, io.holdCompletion.queue -> holdsCompletion)
  for ((hold, isHeld) <- asked) {
    hold.valid := isHeld
    hold.payload := index.resized
  }
  io.ringHold.index.valid := holdsRing
  io.ringHold.index.payload := index.resized
  val tells = RegInit(B(0, 4 bits)) // changes that are to be taken
  val changes = Seq(
    io.change -> change,
    io.changeC2h -> changeC2h,
    io.changeCompletion -> changeCompletion,
    io.ringChange -> ringChange
  )
  for (((out, kept), i) <- changes.zipWithIndex) {
    out.valid := tells(i)
    out.payload.assignFromBits(kept.asBits)
  }
  val rows = CombInit(store.io.rows)
  // The engine has nothing of a queue for commands, whose ring is disabled there.
  private def isRingOf(software: Bits): Bool = if (p.commands) !RingFields.isForCommands(software) else True
  when(holdsC2h) {
    when(isRingOf(store.io.rows(Kind.swC2h)))(
      rows(Kind.swC2h) := RingFields.software(store.io.rows(Kind.swC2h), io.holdC2h.state)
    )
    rows(Kind.hwC2h) := RingFields.hardware(store.io.rows(Kind.hwC2h), io.holdC2h.state)
  }
  when(holdsCompletion)(rows(Kind.completion) := io.holdCompletion.row.resized)
  when(holdsRing)(rows(Kind.ring) := InterruptRingFields.context(store.io.rows(Kind.ring), io.ringHold.state))
  when(holds) {
    when(isRingOf(store.io.rows(Kind.swH2c)))(
      rows(Kind.swH2c) := RingFields.software(store.io.rows(Kind.swH2c), io.hold.state)
    )
    rows(Kind.hwH2c) := RingFields.hardware(store.io.rows(Kind.hwH2c), io.hold.state)
    rows(Kind.creditH2c) := RingFields.credit(store.io.rows(Kind.creditH2c), io.hold.state)
  }

  private def field(place: Int, bits: (Int, Int)): UInt = rows(place)(bits._1, bits._2 bits).asUInt
  private def isFunctions(place: Int, bits: (Int, Int)): Bool = field(place, bits) === io.sweep.function.resize(12 bits)
  private def has(place: Int, bit: Int): Bool = rows(place)(bit)

  // A function has the queue by the map.
  val mapped = RegNext(
    io.sweep.index >= base && (io.sweep.index - base).resize(12 bits) < count && p.hasQueue(io.sweep.index)
  )

  val isRow = RegNext(io.sweep.kind === SweepStep.row) // of a step that has begun
  // Whose function a stored context names, which no engine changes.
  private def isStored(place: Int, bits: (Int, Int)): Bool =
    store.io.rows(place)(bits._1, bits._2 bits).asUInt === io.sweep.function.resize(12 bits)
  private def isAbout(kind: Int, function: (Int, Int), commands: Bool): Bool =
    p.hasQueue(index) && (sweeps ? (isRow && (mapped || isStored(kind, function))) | commands)
  val isRing = RegNext(
    isAbout(Kind.swH2c, Kind.swFunction, chosen(Kind.swH2c) || chosen(Kind.hwH2c) || chosen(Kind.creditH2c))
  )
  val isC2h = RegNext(isAbout(Kind.swC2h, Kind.swFunction, chosen(Kind.swC2h) || chosen(Kind.hwC2h)))
  val isCompletion = RegNext(isAbout(Kind.completion, Kind.completionFunction, chosen(Kind.completion)))
  val isFunctionsRing = has(Kind.ring, Kind.ringValid) && isFunctions(Kind.ring, Kind.ringFunction)
  val isStoredRing = store.io.rows(Kind.ring)(Kind.ringValid) && isStored(Kind.ring, Kind.ringFunction)
  val isInterruptRing =
    RegNext(index < DmaParam.rings && (sweeps ? (isRow && isStoredRing) | chosen(Kind.ring)))
  val begins = write(Kind.swH2c) || write(Kind.hwH2c)
  val beginsC2h = write(Kind.swC2h) || write(Kind.hwC2h)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val fetch, wait1, look, act, hold, finish, tell = new State

    private def end(): Unit = {
      io.command.ready := !sweeps
      io.row.valid := !sweeps && io.command.operation === Kind.read
      io.sweep.ready := sweeps
      forgets := sweeps && isRow && mapped
      Seq(holds, holdsC2h, holdsCompletion, holdsRing).foreach(_ := False)
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
    wait1.whenIsActive(goto(look))
    look.whenIsActive(goto(act)) // whose the rows are
    hold.whenIsActive {
      val held = Seq(
        holds -> io.hold.held,
        holdsC2h -> io.holdC2h.held,
        holdsCompletion -> io.holdCompletion.held,
        holdsRing -> io.ringHold.held
      )
      when(held.map { case (isHeld, stands) => !isHeld || stands }.andR)(goto(act))
    }
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
          write(Kind.ring) := isFunctionsRing
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
      val wanted =
        Seq(isRing -> holds, isC2h -> holdsC2h, isCompletion -> holdsCompletion, isInterruptRing -> holdsRing)
      when(wanted.map { case (isIt, isHeld) => isIt && !isHeld }.orR) {
        for ((isIt, isHeld) <- wanted) isHeld := isIt
        goto(hold)
      }
    }
    finish.whenIsActive {
      store.io.write := write
      // The contexts as they are after the write.
      val kinds = Seq(Kind.swH2c, Kind.hwH2c, Kind.swC2h, Kind.hwC2h, Kind.completion)
      val written = Vec(kinds.map(i => (write(i) && !invalidates) ? row | rows(i)))
      changeC2h := RingFields.change(index.resized, written(2), written(3), c2h = true, p.memory, p.commands)
      when(write(Kind.swC2h) && invalidates)(changeC2h.context.enable := False)
      changeCompletion.queue := index.resized
      changeCompletion.row := written(4).resized
      when(write(Kind.completion) && invalidates)(changeCompletion.row(CompletionRow.valid) := False)
      change := RingFields.change(index.resized, written(0), written(1), c2h = false, p.memory, p.commands)
      if (p.memory) for ((is, i) <- isMapped.zip(Seq(0, 2))) is := RingFields.isMapped(written(i))
      if (p.commands) for ((now, i) <- forCommands.zip(Seq(0, 2))) {
        now := RingFields.commands(written(i))
        when(write(if (i == 0) Kind.swH2c else Kind.swC2h) && invalidates)(now.enable := False)
      }
      when(write(Kind.swH2c) && invalidates)(change.context.enable := False)
      when(!begins) {
        change.credits := RingFields.creditsOf(invalidates ? rows(Kind.creditH2c) | row)
        change.creditsAlone := True
        change.forgets := sweeps
      }
      ringChange := InterruptRingFields.ring(invalidates ? rows(Kind.ring) | row)
      when(invalidates)(ringChange.valid := False)
      val told = (holdsRing && write(Kind.ring)) ## (holdsCompletion && (write(Kind.completion) || sweeps)) ##
        (holdsC2h && (beginsC2h || sweeps)) ## (holds && (begins || write(Kind.creditH2c) || sweeps))
      tells := told
      when(told.orR)(goto(tell)) otherwise (end())
    }
    tell.whenIsActive {
      val isHeld = Seq(holds, holdsC2h, holdsCompletion, holdsRing)
      for ((((out, _), held), i) <- changes.zip(isHeld).zipWithIndex) {
        // An engine that has its change goes on, as it is not held any more.
        when(out.fire) {
          tells(i) := False
          held := False
        }
      }
      when(!tells.orR)(end())
    }
  }
}
