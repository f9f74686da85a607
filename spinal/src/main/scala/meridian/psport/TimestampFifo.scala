// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.meta.TxTimestamp
import spinal.core._
import spinal.lib._

/** Transmit timestamps that wait for software, 16 of them.
  *
  * Latency: 1 cycle. The input is always taken; a timestamp that finds the FIFO full is lost, and reported.
  */
class TimestampFifo extends Component {
  val depth = 16
  val io = new Bundle {
    val push = slave(Stream(TxTimestamp()))
    val pop = in Bool ()
    val head = master(Flow(TxTimestamp()))
    val lost = out Bool () // pulse
  }
  val fifo = StreamFifo(TxTimestamp(), depth, latency = 1)
  fifo.io.push.valid := io.push.valid
  fifo.io.push.payload := io.push.payload
  io.push.ready := True
  io.lost := RegNext(io.push.valid && !fifo.io.push.ready) init False
  fifo.io.pop.ready := io.pop
  io.head.valid := fifo.io.pop.valid
  io.head.payload := fifo.io.pop.payload
}
