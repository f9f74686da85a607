// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.{HostAccess, InterruptRequest, RegPort}
import spinal.core._
import spinal.lib._

/** Errors of a part of the engine. */
case class ErrorEvent() extends Bundle {
  val leaf = UInt(3 bits) // index in ErrorTree.leaves
  val bits = Bits(32 bits)
}

object ErrorTree {

  /** @param summary  its bit in GLBL_ERR_STAT */
  case class Leaf(name: String, status: Int, mask: Int, summary: Int)

  val descriptor = 0
  val request = 1
  val c2h = 2
  val c2hFatal = 3
  val h2c = 4
  val leaves = Seq(
    Leaf("GLBL_DSC_ERR", 0x254, 0x258, 2),
    Leaf("GLBL_TRQ_ERR", 0x264, 0x268, 3),
    Leaf("C2H_ERR", 0xaf0, 0xaf4, 8),
    Leaf("C2H_FATAL_ERR", 0xaf8, 0xafc, 8),
    Leaf("H2C_ERR", 0xe00, 0xe04, 16)
  )
  val status = 0x248
  val mask = 0x24c
  val interrupt = 0xb04
  val requestLog = 0x26c
  val descriptorLog = Seq(0x25c, 0x260, 0x27c)

  /** Of the leaf request: a queue that the function does not have, a word that is not written whole, and an access of BAR2
    * without an answer. The last has the IP's bit for time-outs of queue space and not that for time-outs of registers, 3,
    * as all drivers unmask the first alone.
    */
  val queueRange = 5
  val unmapped = 0
  val timeout = 7

  /** Of the leaf c2h. */
  val mtyMismatch = 0
  val lengthMismatch = 1
  val descriptorResponse = 4
  val descriptorCount = 9
  val completionFull = 13
  val completionCidx = 14

  val offsets: Seq[Int] = Seq(status, mask, interrupt, requestLog) ++ leaves.flatMap(l => Seq(l.status, l.mask)) ++
    descriptorLog
}

/** Error registers: a status and a mask for each part of the engine, their summary, and the one interrupt that tells of it.
  *
  * Ones written to a status clear its bits. The interrupt is sent once each time that it is armed, and is armed until it
  * is taken. An access takes 2 cycles, and so does an error.
  *
  * The log of accesses keeps the first since the leaf of requests was cleared. Bit 31 says that it is one of BAR2, whose
  * offset has its bits 21:17 in bits 30:26; for bit 17 of one in BAR0 the register has no room. That of descriptors keeps the first since theirs was: direction, queue, CIDX, PIDX and new
  * PIDX.
  */
class ErrorTree extends Component {
  import ErrorTree._

  val io = new Bundle {
    val port = slave(RegPort()) // at the offsets above alone
    val raise = slave(Stream(ErrorEvent()))
    val log = slave(Flow(HostAccess())) // with raise, when that is taken
    val failure = slave(Flow(RingFailure())) // of a ring, likewise
    val failureC2h = in Bool () // it is one of C2H
    val interrupt = master(Stream(InterruptRequest())) // one that is not taken may change or go
  }

  val status, mask, target, log = RegInit(B(0, 32 bits))
  val failed = Vec.fill(descriptorLog.size)(RegInit(B(0, 32 bits)))
  val isLogged = RegInit(False) // an access of PF 0 at 0 is logged as 0
  val leafStatus, leafMask = Vec.fill(leaves.size)(RegInit(B(0, 32 bits)))

  val offset = io.port.access.offset(12 downto 0)
  val hits = RegNext(Vec(offsets.map(offset === _)).asBits)
  val second = RegInit(False)
  second := io.port.access.valid && !second
  io.port.access.ready := second
  private val registers =
    Seq(status, mask, target, log) ++ leafStatus.zip(leafMask).flatMap(l => Seq(l._1, l._2)) ++ failed
  io.port.value := registers.zipWithIndex.map { case (word, i) => word.andMask(hits(i)) }.reduceBalancedTree(_ | _)

  val data = io.port.access.data
  val writes = second && io.port.access.write
  when(writes) {
    when(hits(0))(status := status & ~data)
    when(hits(1))(mask := data)
    when(hits(2))(target := data)
    for (i <- leaves.indices) {
      when(hits(4 + 2 * i))(leafStatus(i) := leafStatus(i) & ~data)
      when(hits(5 + 2 * i))(leafMask(i) := data)
    }
    // The log is empty again when nothing is left of its leaf.
    when(hits(4 + 2 * request) && (leafStatus(request) & ~data) === 0) {
      log := 0
      isLogged := False
    }
    when(hits(4 + 2 * descriptor) && (leafStatus(descriptor) & ~data) === 0)(failed(0) := 0)
  }

  // What happens in a cycle in which software writes waits for the next.
  case class Kept() extends Bundle {
    val event = ErrorEvent()
    val log = Flow(HostAccess())
    val failure = Flow(RingFailure())
    val ofC2h = Bool()
  }
  val coming = Stream(Kept())
  coming.arbitrationFrom(io.raise)
  coming.event := io.raise.payload
  coming.log := io.log
  coming.payload.failure := io.failure
  coming.ofC2h := io.failureC2h
  val kept = coming.halfPipe()
  val event = kept.event
  kept.ready := !writes
  when(kept.fire) {
    for ((leaf, i) <- leaves.zipWithIndex) when(event.leaf === i) {
      leafStatus(i) := leafStatus(i) | event.bits
      when((event.bits & leafMask(i)) =/= 0)(status(leaf.summary) := True)
    }
    when(kept.log.valid && !isLogged) {
      isLogged := True
      log := (kept.log.isBar2 ## kept.log.offset(21 downto 17)).andMask(kept.log.isBar2) ## B(0, 1 bits) ##
        kept.log.access.function ## kept.log.offset(16 downto 0)
    }
    val failure = kept.payload.failure
    when(failure.valid && !failed(0).msb) {
      failed(0) := True ## kept.ofC2h ## B(0, 19 bits) ## failure.queue
      failed(1) := B(0, 4 bits) ## failure.cidx ## B(0, 12 bits)
      failed(2) := failure.pidx ## failure.newPidx
    }
  }

  io.interrupt.valid := target(24) && RegNext((status & mask) =/= 0, False) && !writes
  io.interrupt.function := target(11 downto 0).asUInt
  io.interrupt.vector := target(22 downto 12).asUInt
  io.interrupt.aggregate := target(23)
  when(io.interrupt.fire)(target(24) := False)
}
