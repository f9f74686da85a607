// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest, RegPort}
import meridian.dma.pcie.RqBeat
import spinal.core._
import spinal.lib._

/** Interrupts from all that ask for them to messages on RQ: through interrupt rings or not, by the MSI-X table. Only
  * the entries of interrupt rings wait for RQ, and what is for a ring behind them; neither a vector that is asked for
  * nor an access does.
  *
  * A vector's message is on RQ 8 cycles after its request at the earliest, one by a ring 13 cycles after it, behind the
  * ring's entry. `drain` ends when all of a function that waits has left or is dropped: it waits for RQ if something of
  * the function is there already, or an entry of anybody holds up requests behind it.
  *
  * @param sources  that ask for interrupts, the first first
  */
class InterruptEngine(p: DmaParam, sources: Int) extends Component {
  val io = new Bundle {
    val requests = Vec(slave(Stream(RingInterrupt())), sources)
    val table = slave(RegPort())
    val bell = slave(Stream(InterruptBell()))
    val hold = slave(InterruptRingHold())
    val change = slave(Stream(InterruptRing()))
    val busMaster = in Bits (p.functions bits)
    val enabled = in Bits (p.functions bits) // MSI-X is enabled and not masked
    val inReset = in Bits (p.functions bits) // of PCIe
    val exists = in Bits (p.functions bits) // a VF's PF has VF Enable set
    val drain = slave(Stream(DmaParam.functionType()))
    val rq = master(Stream(Fragment(RqBeat())))
    val late = out Bool () // an entry of a ring from before its change is at RQ
    val asked = master(Flow(InterruptRequest())) // vectors, in the order in which they are asked for
    val quiet = out Bool () // nothing will move that has not moved for some cycles, see DmaEngine
  }

  val sorted = new InterruptSources(p, sources)
  for ((to, from) <- sorted.io.requests.zip(io.requests)) to << from
  sorted.io.busMaster := io.busMaster

  val rings = new InterruptRings(p)
  rings.io.interrupt << sorted.io.ring
  rings.io.bell << io.bell
  rings.io.hold <> io.hold
  rings.io.change << io.change
  rings.io.busMaster := io.busMaster
  io.late := rings.io.late

  val table = new MsixTable(p)
  table.io.port <> io.table
  table.io.request << StreamArbiterFactory().lowerFirst.noLock.on(Seq(rings.io.vector, sorted.io.vector))
  table.io.allowed := io.enabled & io.busMaster
  table.io.inReset := io.inReset
  table.io.exists := io.exists
  io.asked.valid := table.io.request.fire
  io.asked.payload := table.io.request.payload

  val sender = new MsixSender(p)
  sender.io.message << table.io.message
  table.io.sent << sender.io.sent
  // A ring's entry is there before its message, and goes first.
  io.rq << StreamArbiterFactory().lowerFirst.transactionLock.on(Seq(rings.io.rq, sender.io.rq))

  io.quiet := table.io.idle && !sorted.io.vector.valid && !sorted.io.ring.valid && !rings.io.vector.valid

  // One behind the other, as each may pass on what it has not dropped.
  val steps = Seq(sorted.io.drain, rings.io.drain, table.io.drain)
  val step = RegInit(U(0, 2 bits))
  sender.io.function := io.drain.payload
  for ((drain, i) <- steps.zipWithIndex) {
    drain.valid := io.drain.valid && step === i
    drain.payload := io.drain.payload
    when(drain.fire)(step := step + 1)
  }
  io.drain.ready := step === steps.size && !sender.io.busy
  when(io.drain.fire)(step := 0)
}
