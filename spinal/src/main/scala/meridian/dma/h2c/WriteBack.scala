// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.descriptor.StatusEntry
import meridian.dma.pcie.RqRequest
import spinal.core._
import spinal.lib._

/** Writes status entries, 8 bytes each, into the host's memory. One of a function that may not access memory is dropped,
  * also if it has waited for RQ. An entry leaves 2 cycles after it is taken at the earliest; one a cycle.
  */
class WriteBack(p: DmaParam) extends Component {
  val io = new Bundle {
    val status = slave(Stream(StatusEntry()))
    val request = master(Stream(RqRequest()))
    val busMaster = in Bits (p.functions bits)
    val function = in(DmaParam.functionType())
    val busy = out Bool () // this function's entry waits
    val waits = out Bool () // an entry does, from the cycle after it is taken on
  }

  val taken = io.status.m2sPipe()
  private def isMaster(function: UInt): Bool =
    function < p.functions && io.busMaster(function.resize(log2Up(p.functions) bits))
  val waiting = taken
    .map { status =>
      val request = RqRequest()
      request.function := status.function
      request.address := status.address
      request.dwords := 2
      request.write := True
      request.tag := 0
      request.firstBe := 15
      request.lastBe := 15
      request.data := B(0, 64 bits) ## status.word
      request
    }
    .m2sPipe()
  // Of the entry that waits in the cycle after.
  val isAllowed = RegNext(taken.ready ? isMaster(taken.function) | isMaster(waiting.function))
  io.request << waiting.throwWhen(!isAllowed)
  io.busy := (taken.valid && taken.function === io.function) || (waiting.valid && waiting.function === io.function)
  io.waits := taken.valid || waiting.valid
}
