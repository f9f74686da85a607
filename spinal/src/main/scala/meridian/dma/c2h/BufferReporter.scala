// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import spinal.core._
import spinal.lib._

/** What is to be told after an event. */
case class BufferReport() extends Bundle {
  val message = Bool() // to the shell
  val added = UInt(16 bits)
  val invalid, failed = Bool()
  val error = Bool() // to the error registers of descriptors, and their log
  val errorBits = Bits(32 bits)
  val newPidx = UInt(16 bits)
  val streamError = Bool() // to those of the C2H engine
  val streamBits = Bits(32 bits)
}

/** Sends what a report has, each part as soon as it is taken; the report is taken with its last part. */
class BufferReporter extends Component {
  val io = new Bundle {
    val report = slave(Stream(BufferReport()))
    val queue = in(DmaParam.queueType()) // steady with report, as is the next
    val ring = in(C2hRing())
    val message = master(Stream(QueueMessage()))
    val raise = master(Stream(ErrorEvent()))
    val failure = master(Flow(RingFailure())) // with the first of raise
  }

  val report = io.report.payload
  val sent = RegInit(B(0, 3 bits))
  val wanted = (report.streamError ## report.error ## report.message) & ~sent
  val left = wanted.andMask(io.report.valid)
  io.message.valid := left(0)
  io.message.payload.queue := io.queue
  io.message.added := report.added
  io.message.pidx := io.ring.pidx
  io.message.invalid := report.invalid
  io.message.failed := report.failed
  io.raise.valid := left(1) || left(2)
  io.raise.leaf := left(1) ? U(ErrorTree.descriptor, 3 bits) | U(ErrorTree.c2h, 3 bits)
  io.raise.bits := left(1) ? report.errorBits | report.streamBits
  io.failure.valid := io.raise.fire && left(1)
  io.failure.queue := io.queue
  io.failure.cidx := io.ring.cidx
  io.failure.pidx := io.ring.pidx
  io.failure.newPidx := report.newPidx
  val fires = (io.raise.fire && !left(1)) ## (io.raise.fire && left(1)) ## io.message.fire
  val isLast = !(wanted(1) && wanted(2)) // of the errors
  io.report.ready := (!wanted(0) || io.message.ready) && (wanted(2 downto 1) === 0 || (isLast && io.raise.ready))
  when(io.report.valid)(sent := io.report.ready ? B(0, 3 bits) | (sent | fires))
}
