// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest, RegPort}
import meridian.{LongTest, Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Table and sender as InterruptEngine has them. */
class MsixPair(p: DmaParam) extends Component {
  val io = new Bundle {
    val port = slave(RegPort())
    val request = slave(Stream(InterruptRequest()))
    val allowed, inReset, exists = in Bits (p.functions bits)
    val drain = slave(Stream(DmaParam.functionType()))
    val ready = in Bool () // of RQ
    val rqValid = out Bool ()
    val function = in(DmaParam.functionType())
    val busy = out Bool ()
    val message = master(Flow(MsixMessage())) // that is decided
    val free = out Bool () // the sender
    val sent = master(Flow(MsixMessage())) // that waits for RQ
    val pending = out Bits (p.vectors bits) // as a read shows it
    val gone = out Bits (p.functions bits) // functions that were taken away
  }
  val table = new MsixTable(p)
  table.io.port <> io.port
  table.io.request << io.request
  table.io.allowed := io.allowed
  table.io.inReset := io.inReset
  table.io.exists := io.exists
  table.io.drain << io.drain
  val sender = new MsixSender(p)
  sender.io.message << table.io.message
  table.io.sent << sender.io.sent
  sender.io.rq.ready := io.ready
  sender.io.function := io.function
  io.busy := sender.io.busy
  io.rqValid := sender.io.rq.valid
  io.message.valid := table.io.message.valid
  io.message.payload := table.io.message.payload
  io.free := table.io.message.ready
  io.sent << sender.io.sent
  io.pending := table.shown.pull()
  io.gone := table.gone.pull()
}

/** Any accesses, interrupts, resets, and functions that are allowed to send or not. One vector of one function is followed. */
class MsixProof(turns: Boolean) extends Component {
  val p = DmaParam(vfs = Seq(0, 0, 0, 0), queues = 16, vectors = 2, toldVectors = 2)
  val dut = FormalDut(new MsixPair(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.port.access)
  Proof.drive(io.request)
  Proof.drive(io.drain)
  Seq(io.allowed, io.inReset, io.exists, io.ready).foreach(anyseq(_))
  val access = io.port.access
  assume(access.function < 4 && io.drain.payload < 4 && access.offset(1 downto 0) === 0)
  assume(access.offset < 16 * p.vectors || access.offset === MsixTable.pendingAt)
  val function = UInt(2 bits)
  val vector = UInt(1 bits)
  Seq(function, vector).foreach(anyconst(_))
  io.function := function.resized
  private def isIt(f: UInt, v: UInt): Bool = f === function.resize(widthOf(f)) && v === vector.resize(widthOf(v))

  val masked = RegInit(True)
  val owed = RegInit(False)
  val isDecided = io.message.valid && isIt(io.message.function, io.message.vector)
  when(isDecided)(owed := False)
  when(io.request.fire && isIt(io.request.function, io.request.vector))(owed := True)
  val isControl = access.offset === (vector @@ U(12, 4 bits)).resize(18 bits)
  when(access.fire && access.write && access.function === function.resize(8) && isControl)(masked := access.data(0))
  val isDrained = io.drain.fire && io.drain.payload === function.resize(8)
  when(isDrained) {
    owed := False
    when(io.inReset(function))(masked := True)
  }

  when(io.gone(function)) {
    owed := False
    masked := True
  }

  if (!turns) {
    assert(!isDecided || owed, "a message that nobody has asked for")
    assert(!isDecided || !masked, "a message of a vector that is masked")
    assert(!isDecided || RegNext(io.allowed(function), False), "a message of a function that is not allowed to")
    assert(!io.message.valid || io.free, "a message that the sender does not take")
    val isAtRq = io.sent.valid && isIt(io.sent.function, io.sent.vector)
    val isRead =
      access.fire && !access.write && access.offset >= MsixTable.pendingAt && access.function === function.resize(
        8
      )
    assert(!isRead || io.pending(vector) === (owed || isAtRq), "what is asked for is neither sent nor pending")
    // Behind a drain and when the sender is not busy, nothing of the function is on RQ that was asked for before.
    assert(!isAtRq || io.busy)
    assert(!io.sent.valid || io.rqValid)
    val wasHeld = RegInit(False) setWhen (owed && masked)
    cover(isDecided && wasHeld)
    cover(isRead && io.pending(vector) && !isAtRq)
    cover(isDrained && owed)
    cover(io.gone(function) && owed)
  } else {
    // A vector that may be sent is sent: others come first a bounded number of times, and nothing else holds it up.
    val maySend = owed && !masked && io.allowed(function)
    val others = Proof.count(io.message.valid && !isDecided, isDecided || !maySend, 31)
    assert(others <= 10, "a vector's turn does not come")
    val events = access.fire || io.request.fire || io.drain.fire || io.message.valid || io.gone.orR
    val idle = Proof.count(maySend && io.free, !maySend || !io.free || events, 31)
    assert(idle <= 24, "a vector that may be sent waits for nothing")
    // Accesses hold up neither interrupts nor turns for long, though they follow one another.
    val fires = io.request.fire || io.drain.fire || io.message.valid
    val ahead = Proof.count(access.fire, !(io.request.valid || io.drain.valid) || fires, 15)
    assert(ahead <= 4, "accesses hold up an interrupt or a drain")
    val aheadOfTurn = Proof.count(access.fire, !maySend || !io.free || fires, 15)
    assert(aheadOfTurn <= 9, "accesses hold up a vector that may be sent")
    // So do functions that are taken away.
    val leavers = Proof.count(io.gone.orR, !(io.request.valid || io.drain.valid) || fires, 15)
    assert(leavers <= 2, "functions that leave hold up an interrupt or a drain")
    cover(others === 3)
    cover(leavers === 2)
  }
}

class MsixFormal extends AnyFunSuite {
  test("a vector that is asked for is sent or pending, and never sent while it may not be, in any run") {
    Pdr.prove(new MsixProof(turns = false), seconds = 400, reduce = true)
  }

  for ((cycles, more) <- Seq(40 -> Nil, 60 -> Seq(LongTest)))
    test(s"a vector that may be sent is, after 10 others at most, in the first $cycles cycles", more: _*) {
      Pdr.bounded(new MsixProof(turns = true), cycles, seconds = 400, reduce = true)
    }
}
