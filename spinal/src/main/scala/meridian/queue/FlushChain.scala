// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import spinal.core._

/** Asks stages that frames pass one after another when all frames begun before have left them. Each stage is asked when
  * the one before it has answered, so a frame that was passed on meanwhile is waited for as well.
  *
  * `flushed` is a pulse, 1 cycle after the last stage's. A new flush starts again and replaces an unanswered one.
  */
class FlushChain(stages: Int) extends Component {
  require(stages >= 1, s"stages is $stages: choose 1 or more")
  val io = new Bundle {
    val flush = in Bool ()
    val flushed = out Bool ()
    val ask = out Bits (stages bits)
    val answer = in Bits (stages bits)
  }
  val waiting = RegInit(B(0, stages bits)) // one-hot
  val passed = waiting & io.answer
  io.ask := 0
  io.ask(0) := io.flush
  for (i <- 1 until stages) io.ask(i) := passed(i - 1) && !io.flush
  when(io.flush || passed.orR)(waiting := io.ask)
  io.flushed := RegNext(passed.msb && !io.flush) init False
}
