// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.settings.QueueRange
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Answers function level resets of the QDMA IP, one after another, however many come at once.
  *
  * A function is in `reset` from two cycles after its request until it is answered: the registers take its enable away
  * and clear its queue configuration. Its work: write the empty queue range, as one of a reset, so that the queues lose
  * their free buffers, give both a few cycles to take hold, then ask the filters by `flush` to say `flushed` when every
  * frame begun until then has left, and tell the IP. A request for a function whose work has begun makes it go through
  * the work again, and is answered on its own; requests that meet before it are answered together.
  *
  * A filter that does not answer (the host has stopped taking frames) is waited for `timeoutCycles`; the IP is answered
  * all the same and `timeout` pulses. Requests for functions this shell does not have are answered without work.
  *
  * At most 512 cycles until a waiting function is found, then settleCycles + 4 and what the filters take. The queue table
  * accepts a range within a bounded time, which is not counted.
  *
  * @param filters       users of the functions that are asked to flush
  * @param settleCycles  from the write of the range until no lookup gives the old owner or enable
  */
class FlrControl(p: ShellParam, filters: Int = 2, timeoutCycles: Int = 1 << 20, settleCycles: Int = 16)
    extends Component {
  require(filters >= 1, "a function level reset without a filter to wait for")
  require(
    settleCycles >= 1 && settleCycles <= timeoutCycles,
    s"settleCycles is $settleCycles: choose 1 to timeoutCycles"
  )

  val io = new Bundle {
    val request = slave(Flow(p.functionType()))
    val done = master(Flow(p.functionType()))
    val reset = out Bits (p.functions bits)
    val range = master(Stream(QueueRange(p)))
    val flush = out Bool ()
    val flushed = in Bits (filters bits)
    val timeout = out Bool ()
  }

  val pending = RegInit(B(0, 256 bits))
  val function = Reg(p.functionType()) init 0 // looked at, or worked on
  val busy = RegInit(False)
  val cycles = Reg(UInt(log2Up(timeoutCycles + 1) bits))
  val answered = Reg(Bits(filters bits))

  val inReset = Vec((0 until p.functions).map(i => pending(i) || busy && function === i))
  io.reset := RegNext(inReset.asBits) init 0

  io.range.valid := False
  io.range.function := function
  io.range.base := 0
  io.range.count := 0
  io.range.reset := True
  io.done.valid := False
  io.done.payload := function
  io.flush := False
  io.timeout := False

  val control = new StateMachine {
    val search = new State with EntryPoint
    val take, empty, settle, flush, drain, answer = new State

    // Two steps, as the choice among 256 alone takes half a cycle.
    val found = RegNext(pending(function))
    search.whenIsActive(goto(take))
    take.whenIsActive {
      when(found) {
        pending(function) := False
        busy := True
        if (p.functions < 256) when(function < p.functions)(goto(empty)) otherwise goto(answer)
        else goto(empty)
      } otherwise {
        function := function + 1
        goto(search)
      }
    }
    empty.whenIsActive {
      io.range.valid := True
      cycles := 0
      when(io.range.ready)(goto(settle))
    }
    settle.whenIsActive {
      cycles := cycles + 1
      when(cycles === settleCycles - 1)(goto(flush))
    }
    flush.whenIsActive {
      io.flush := True
      cycles := 0
      answered := 0 // what is said in this cycle still belongs to an older question
      goto(drain)
    }
    drain.whenIsActive {
      cycles := cycles + 1
      answered := answered | io.flushed
      when(answered.andR) {
        goto(answer)
      } elsewhen (cycles === timeoutCycles - 1) {
        io.timeout := True
        goto(answer)
      }
    }
    answer.whenIsActive {
      io.done.valid := True
      busy := False
      goto(search)
    }
  }

  // After the state machine: a request in the very cycle its function is taken up is a new one.
  when(io.request.valid)(pending(io.request.payload) := True)
}
