// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import meridian.crossing.Crossing
import spinal.core._
import spinal.lib._

/** Carries register accesses from the host clock into the ps clock. Every access ends in a bounded time.
  *
  * A request is a toggle, and the words beside it are stable until the toggle has come back. While the ps clock stands
  * still or is in reset, the toggle does not come back. The access is then answered as refused after timeout host
  * cycles, with 0xDEADBEEF. A late answer is discarded, and no new request is sent before it has come, so answers
  * cannot be confused. A ps reset in the middle of an access ends it in the same way, or repeats it.
  *
  * Latency: about 4 ps and 4 host cycles in total beside those of the target. One access at a time.
  *
  * @param timeout host cycles
  * @param withFunction whether the function of an access is carried; without, it is 0, and there is no register of it
  */
class RegCrossing(
    addressWidth: Int,
    hostClock: ClockDomain,
    psClock: ClockDomain,
    timeout: Int = 4096,
    withFunction: Boolean = true
) extends Component {
  require(isPow2(timeout) && timeout >= 64, s"timeout is $timeout: choose a power of two, at least 64")

  val io = new Bundle {
    val host = slave(RegPort(addressWidth))
    val ps = master(RegPort(addressWidth))
    val timedOut = out Bool () // host clock, a pulse an access
  }

  val psAcknowledge = Bool()
  val psAnswer = RegAnswer()

  val host = new ClockingArea(hostClock) {
    // Held still from the toggle of hostRequest until it has come back, so the ps clock reads no bit that moves.
    val hostCommand = Reg(RegCommand(addressWidth))
    hostCommand.write.init(False)
    hostCommand.address.init(0)
    val hostRequest = RegInit(False)
    val acknowledge = BufferCC(psAcknowledge, False)
    val free = acknowledge === hostRequest

    val waiting = Reg(RegCommand(addressWidth))
    val pending = RegInit(False)
    val sent = RegInit(False)
    val flying = RegInit(False)
    val timer = Reg(UInt(log2Up(timeout) bits))
    val expired = timer.andR

    io.host.cmd.ready := !pending && !sent
    io.host.rsp.valid := False
    io.host.rsp.data := B"xDEADBEEF"
    io.host.rsp.refused := True
    io.host.rsp.unmapped := False
    timer := timer + 1
    when(io.host.cmd.fire) {
      waiting := io.host.cmd.payload
      pending := True
      timer := 0
    }
    when(flying && free) {
      // A ps reset makes the request look new once more: it must then be a read without effect.
      flying := False
      hostCommand.write := False
      hostCommand.address := 0
    }
    io.timedOut := (pending || sent) && expired
    when(io.timedOut) {
      io.host.rsp.valid := True
      pending := False
      sent := False
    } elsewhen (pending && free) {
      hostCommand := waiting
      hostRequest := !hostRequest
      pending := False
      sent := True
      flying := True
    } elsewhen (sent && free) {
      io.host.rsp.valid := True
      io.host.rsp.payload := psAnswer
      sent := False
    }
  }

  val ps = new ClockingArea(psClock) {
    val request = BufferCC(host.hostRequest, False)
    val seen = RegInit(False)
    val busy = RegInit(False)
    val issue = RegInit(False)
    val done = RegInit(False)
    val answer = Reg(RegAnswer())
    answer.data.init(B"xDEADBEEF")
    answer.refused.init(True)
    answer.unmapped.init(False)

    val command = Reg(RegCommand(addressWidth))
    val held =
      Crossing.held(host.hostCommand, "A command stands still from before its toggle until the toggle has come back.")
    when(!busy && request =/= seen) {
      command := held
      seen := request
      busy := True
      issue := True
    }
    io.ps.cmd.valid := issue
    io.ps.cmd.write := command.write
    io.ps.cmd.address := command.address
    io.ps.cmd.data := command.data
    io.ps.cmd.function := (if (withFunction) command.function else U(0))
    io.ps.cmd.fromHost := True // a constant would leave no register to constrain
    when(io.ps.cmd.fire) { issue := False }
    when(io.ps.rsp.valid) {
      answer := io.ps.rsp.payload
      busy := False
      done := seen
    }
  }
  psAcknowledge := ps.done
  psAnswer := Crossing.held(ps.answer, "An answer stands still from before its toggle until the next command.")
}
