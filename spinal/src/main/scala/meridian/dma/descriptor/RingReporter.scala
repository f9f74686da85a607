// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.{DmaParam, InterruptRequest}
import meridian.dma.context.{ErrorEvent, ErrorTree}
import spinal.core._
import spinal.lib._

/** What is to be told of a ring after an event. */
case class RingReport() extends Bundle {
  val status = Bool() // a status entry
  val message = Bool() // to the shell
  val added = UInt(16 bits) // descriptors since the last message
  val invalid, failed = Bool() // the shell hears that the ring is gone, because of an error
  val error = Bool() // to the error registers
  val errorBits = Bits(32 bits)
  val newPidx = UInt(16 bits) // for the log of errors
  val interrupt = Bool()
}

/** Sends what a report has, each part as soon as it is taken, the interrupt when its status entry has left. A report is
  * taken with its last part: in the cycle in which it comes, if nothing waits and it has no interrupt behind an entry.
  */
class RingReporter extends Component {
  val io = new Bundle {
    val report = slave(Stream(RingReport()))
    val queue = in(DmaParam.queueType()) // steady with report, as are the next two
    val ring = in(RingState())
    val entries = in UInt (16 bits) // without the status entry
    val status = master(Stream(StatusEntry()))
    val message = master(Stream(QueueMessage()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
    val interrupt = master(Stream(InterruptRequest()))
    val written = in Bool () // no status entry waits, from the cycle after one is taken on
  }

  val report = io.report.payload
  val ring = io.ring
  io.status.function := ring.context.function
  io.status.address := ring.descriptor(io.entries)
  io.status.word := B(0, 16 bits) ## ring.pidx ## ring.cidx ## B(0, 14 bits) ## ring.context.error
  io.message.payload.queue := io.queue
  io.message.added := report.added
  io.message.pidx := ring.pidx
  io.message.invalid := report.invalid
  io.message.failed := report.failed
  io.raise.leaf := ErrorTree.descriptor
  io.raise.bits := report.errorBits
  io.failure.valid := io.raise.fire
  io.failure.queue := io.queue
  io.failure.cidx := ring.cidx
  io.failure.pidx := ring.pidx
  io.failure.newPidx := report.newPidx
  io.interrupt.function := ring.context.function.resized
  io.interrupt.vector := ring.context.vector
  io.interrupt.aggregate := ring.context.aggregate

  val sent = RegInit(B(0, 4 bits))
  val wanted = report.interrupt ## report.error ## report.message ## report.status
  val left = (wanted & ~sent).andMask(io.report.valid)
  io.status.valid := left(0)
  io.message.valid := left(1)
  io.raise.valid := left(2)
  io.interrupt.valid := left(3) && !left(0) && io.written
  val fires = io.interrupt.fire ## io.raise.fire ## io.message.fire ## io.status.fire
  io.report.ready := (left & ~fires) === 0
  sent := io.report.ready ? B(0, 4 bits) | sent | fires
}
