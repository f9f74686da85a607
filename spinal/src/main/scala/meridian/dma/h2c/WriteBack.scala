// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.descriptor.StatusEntry
import meridian.dma.pcie.RqRequest
import spinal.core._
import spinal.lib._

/** Writes status entries, 8 bytes each, into the host's memory. One of a function that may not access memory is dropped. */
class WriteBack(p: DmaParam) extends Component {
  val io = new Bundle {
    val status = slave(Stream(StatusEntry()))
    val request = master(Stream(RqRequest()))
    val busMaster = in Bits (p.functions bits)
    val function = in(DmaParam.functionType())
    val busy = out Bool () // this function's entry waits
  }

  val taken = io.status.m2sPipe()
  val isAllowed = taken.function < p.functions && io.busMaster(taken.function.resize(log2Up(p.functions) bits))
  io.request << taken
    .throwWhen(!isAllowed)
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
  io.busy := (taken.valid && taken.function === io.function) || (io.request.valid && io.request.function === io.function)
}
