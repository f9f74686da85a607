// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Sends the requests of all sources in turn, one beat each. A request leaves the cycle after it is taken; a beat a cycle.
  *
  * Tags are the engine's own, and the block fills in the bus number (PG213, "Requester Request Descriptor Formats").
  */
class RqArbiter(sources: Int) extends Component {
  val io = new Bundle {
    val requests = Vec(slave(Stream(RqRequest())), sources)
    val rq = master(Stream(Fragment(RqBeat())))
    val function = in(DmaParam.functionType())
    val busy = out Bool () // this function's request waits for the block
    val writes = out Bool () // a write does
  }

  val chosen = StreamArbiterFactory().roundRobin.noLock.on(io.requests)
  val beat = chosen.map { request =>
    val out = Fragment(RqBeat())
    val kind = request.write ? B(RequestKind.memoryWrite, 4 bits) | B(RequestKind.memoryRead, 4 bits)
    val descriptor = B(0, 24 bits) ## request.tag ## B(0, 8 bits) ## request.function ## B(0, 1 bits) ## kind ##
      request.dwords ## request.address(63 downto 2) ## B(0, 2 bits)
    out.data := request.data ## descriptor
    for (i <- 0 until 8) out.keep(i) := (if (i < 4) True else request.write && request.dwords > i - 4)
    out.firstBe := request.firstBe
    out.lastBe := request.lastBe
    out.last := True
    out
  }
  io.rq << beat.m2sPipe()
  val descriptor = RequestDescriptor(io.rq.data(127 downto 0))
  io.writes := io.rq.valid && descriptor.kind === RequestKind.memoryWrite
  io.busy := io.rq.valid && descriptor.requester(7 downto 0).asUInt === io.function
}
