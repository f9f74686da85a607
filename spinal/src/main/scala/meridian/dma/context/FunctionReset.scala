// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.{DmaParam, RegPort}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Function level resets, of the mailbox's register (PG347, "Function Level Reset") and of PCIe: the function loses its
  * queues, interrupt rings and messages, and when what it has asked of the host has come, the shell is told; when the shell
  * too has let the function go, the reset is done.
  * A PF's reset is one of its VFs too.
  *
  * A function is open from the cycle after its request until the shell has answered. A request for one that is open makes
  * it go through the work again; the shell is told again only if it has answered. One function at a time: 6 cycles for each
  * queue or interrupt ring, 7 more and the event that the engine is at for each of its H2C rings, and what the mailbox takes,
  * 70 cycles; commands on contexts go first. A function's reads that the host does not answer, and its messages and entries
  * of interrupt rings that RQ does not take, hold up the resets behind it, reads until they are given up.
  *
  * `held` and the register say that a function is open. A PF's say, too, that a VF is open since the PF's request; what a
  * VF asks for by itself does not count. An access of the register takes 2 cycles.
  */
class FunctionReset(p: DmaParam) extends Component {
  val io = new Bundle {
    val port = slave(RegPort())
    val request = slave(Stream(DmaParam.functionType())) // of PCIe
    val held = out Bits (p.functions bits)
    val sweep = master(Stream(SweepStep()))
    val mailbox = master(Stream(DmaParam.functionType())) // forgets the function's messages
    val drain = master(Stream(DmaParam.functionType())) // ends when nothing of it is at the host or waits
    val shell = master(Flow(DmaParam.functionType()))
    val shellDone = slave(Flow(DmaParam.functionType()))
  }

  val pending, open, told = RegInit(B(0, p.functions bits)) // told: the shell, and it has not answered
  val function = Reg(DmaParam.functionType()) init 0 // looked at, or worked on
  val works = RegInit(False)
  val step = Reg(UInt(12 bits))
  private def place(function: UInt): UInt = function.resize(log2Up(p.functions) bits)
  val steps = p.queues max DmaParam.rings

  // Functions that are open since the request of their PF.
  val awaited = RegInit(B(0, p.functions bits))
  val families = Vec((0 until DmaParam.firstVf).map { pf =>
    val vfs = if (pf < p.pfs) p.vfsOf(pf).map(BigInt(1) << _).sum else BigInt(0)
    RegNext((awaited & B(vfs, p.functions bits)).orR) init False
  })
  io.held := open | families.asBits.resize(p.functions)

  /** A function, and its VFs if it is a PF. */
  private def family(of: UInt): Bits = Vec((0 until p.functions).map { f =>
    val parents = (0 until p.pfs).filter(p.vfsOf(_).contains(f))
    if (p.exists(f)) (f +: parents).map(of === _).orR else False
  }).asBits

  val second = RegInit(False)
  second := io.port.access.valid && !second
  io.port.access.ready := second
  val isOpen = RegNext(open(place(io.port.access.function)))
  io.port.value := RegNext(io.held(place(io.port.access.function))).asBits.resized
  val asks = second && io.port.access.write && io.port.access.data(0) && !isOpen
  io.request.ready := !asks

  io.sweep.valid := False
  io.sweep.function := function
  io.sweep.kind := SweepStep.row
  io.sweep.index := step.resized
  io.mailbox.valid := False
  io.mailbox.payload := function
  io.drain.valid := False
  io.drain.payload := function
  io.shell.valid := False
  io.shell.payload := function
  val answered = place(io.shellDone.payload)
  val leaves = io.shellDone.valid && p.hasFunction(io.shellDone.payload) && told(answered)
  val tells = False // the work ends in this cycle

  val control = new StateMachine {
    val search = new State with EntryPoint
    val look, begin, rows, messages, drain, tell = new State

    // Two steps, as the choice among all functions alone takes half a cycle.
    val found = RegNext(pending(place(function)))
    search.whenIsActive(goto(look))
    look.whenIsActive {
      when(found) {
        pending(place(function)) := False
        works := True
        goto(begin)
      } otherwise {
        function := (function === p.functions - 1) ? U(0, 8 bits) | function + 1
        goto(search)
      }
    }
    begin.whenIsActive {
      io.sweep.valid := True
      io.sweep.kind := SweepStep.begin
      step := 0
      when(io.sweep.ready)(goto(rows))
    }
    rows.whenIsActive {
      io.sweep.valid := True
      when(io.sweep.ready) {
        step := step + 1
        when(step === steps - 1)(goto(messages))
      }
    }
    messages.whenIsActive {
      io.mailbox.valid := True
      when(io.mailbox.ready)(goto(drain))
    }
    drain.whenIsActive {
      io.drain.valid := True
      when(io.drain.ready)(goto(tell))
    }
    tell.whenIsActive {
      tells := True
      io.shell.valid := !told(place(function))
      told(place(function)) := True
      works := False
      goto(search)
    }
  }

  // After the state machine: a request in the very cycle its function is taken up is a new one.
  when(leaves) {
    told(answered) := False
    val again = pending(answered) || works && !tells && function === io.shellDone.payload
    when(!again) {
      open(answered) := False
      awaited(answered) := False
    }
  }
  val asked = asks ? io.port.access.function | io.request.payload
  when(asks || io.request.valid) {
    val all = family(asked)
    pending := pending | all
    open := open | all
    when(asked < DmaParam.firstVf)(awaited := awaited | all)
  }
}
