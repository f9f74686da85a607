// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.DmaParam
import meridian.dma.pcie.{RqBeat, RqRequest}
import spinal.core._
import spinal.lib._

/** Sends messages as writes of 4 bytes on RQ, in the name of their function. A message is on RQ the cycle after it is
  * taken, and stays there until RQ takes it; the next is taken a cycle later. It is behind all that RQ has taken
  * before, as it does not ask for relaxed ordering.
  */
class MsixSender(p: DmaParam) extends Component {
  val io = new Bundle {
    val message = slave(Stream(MsixMessage()))
    val rq = master(Stream(Fragment(RqBeat())))
    val sent = master(Flow(MsixMessage())) // what waits for RQ
    val function = in(DmaParam.functionType())
    val busy = out Bool () // a message of this function waits
  }

  val held = io.message.halfPipe()
  io.sent.valid := held.valid
  io.sent.payload := held.payload
  io.busy := held.valid && held.function === io.function
  io.rq << held.map { message =>
    val request = RqRequest()
    request.function := message.function
    request.address := message.address
    request.dwords := 1
    request.write := True
    request.tag := 0
    request.firstBe := 15
    request.lastBe := 0
    request.data := message.data.resized
    request.beat
  }
}
