// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import spinal.core._
import spinal.lib._

/** Rings whose descriptors are to be fetched, in turn. Those with room for a whole fetch come first, and before frames.
  * Those with room for a part have a list of their own: their turn comes when no frame can be served, or when 63 frames
  * were served since the last such turn, so that a busy ring does not fetch its descriptors one by one, and a ring that
  * is not busy has all that fit in the end.
  *
  * A ring is in each list once at most.
  */
class FetchTurns(queues: Int) extends Component {
  private def place() = UInt(log2Up(queues) bits)
  val io = new Bundle {
    val add = slave(Flow(place()))
    val isWhole = in Bool () // with add: the list
    val turn = master(Flow(place()))
    val ofWhole = out Bool () // with turn: the list
    val take = slave(Flow(Bool())) // the turn of this list, true: whole, which was there in the cycle before
    val first = out Bool () // with turn: it goes before frames
    val served = in Bool () // a frame
  }

  val whole, part = StreamFifo(place(), queues)
  whole.io.push.valid := io.add.valid && io.isWhole
  part.io.push.valid := io.add.valid && !io.isWhole
  for (list <- Seq(whole, part)) list.io.push.payload := io.add.payload
  val frames = RegInit(U(0, 6 bits)) // since the last turn of part
  val isDue = RegInit(False) // they are 63
  when(io.served && !isDue) {
    frames := frames + 1
    isDue := frames === 62
  }
  when(part.io.pop.fire) {
    frames := 0
    isDue := False
  }

  io.turn.valid := whole.io.pop.valid || part.io.pop.valid
  io.turn.payload := whole.io.pop.valid ? whole.io.pop.payload | part.io.pop.payload
  whole.io.pop.ready := io.take.valid && io.take.payload
  part.io.pop.ready := io.take.valid && !io.take.payload
  io.ofWhole := whole.io.pop.valid
  io.first := whole.io.pop.valid || isDue
}
