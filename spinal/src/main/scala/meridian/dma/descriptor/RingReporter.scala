// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.DmaParam
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
  val interrupt = Bool() // behind the status entry
  val direct = Bool() // both may leave at once; else they wait
}

/** Sends what a report has, each part as soon as it is taken. A report is taken with its last part: in the cycle in which
  * it comes, if nothing waits.
  */
class RingReporter extends Component {
  val io = new Bundle {
    val report = slave(Stream(RingReport()))
    val queue = in(DmaParam.queueType()) // steady with report, as are the next two
    val ring = in(RingState())
    val entries = in UInt (16 bits) // without the status entry
    val notice = master(Stream(RingNotice()))
    val message = master(Stream(QueueMessage()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with raise
  }

  val report = io.report.payload
  val ring = io.ring
  io.notice.payload.queue := io.queue
  io.notice.function := ring.context.function
  io.notice.status := report.status
  io.notice.interrupt := report.interrupt
  io.notice.address := ring.descriptor(io.entries)
  io.notice.word := B(0, 16 bits) ## ring.pidx ## ring.cidx ## B(0, 14 bits) ## ring.context.error
  io.notice.vector := ring.context.vector
  io.notice.aggregate := ring.context.aggregate
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

  val sent = RegInit(B(0, 3 bits))
  val wanted = (report.error ## report.message ## (report.status || report.interrupt)) & ~sent
  val left = wanted.andMask(io.report.valid)
  io.notice.valid := left(0)
  io.message.valid := left(1)
  io.raise.valid := left(2)
  val fires = io.raise.fire ## io.message.fire ## io.notice.fire
  io.report.ready := (wanted & ~(io.raise.ready ## io.message.ready ## io.notice.ready)) === 0
  when(io.report.valid)(sent := io.report.ready ? B(0, 3 bits) | (sent | fires))
}
