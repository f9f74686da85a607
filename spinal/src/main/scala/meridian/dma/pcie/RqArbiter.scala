// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Sends the requests of all sources in turn, one beat each. A request leaves the cycle after it is taken; a beat every
  * other cycle, so that no source depends on the block's ready.
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
  val beat = chosen.map(_.beat)
  io.rq << beat.halfPipe()
  val descriptor = RequestDescriptor(io.rq.data(127 downto 0))
  io.writes := io.rq.valid && descriptor.kind === RequestKind.memoryWrite
  io.busy := io.rq.valid && descriptor.requester(7 downto 0).asUInt === io.function
}
