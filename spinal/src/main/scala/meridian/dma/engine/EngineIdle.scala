// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import spinal.core._

/** Whether nothing of the engine is under way, for a simulation that skips idle time: `idle` rises when nothing was valid and
  * each engine was quiet for 64 cycles, and falls 2 cycles after either. What is in registers between two blocks, and no
  * valid of a stream and no `quiet` tells of, has passed by then. While a read is at the host, or the time of a frame
  * without a buffer runs, an engine is not quiet. The timers of completion rings may run: DmaEngine tells for how long they
  * leave it idle. After reset it is low until all memories are cleared.
  *
  * @param clearing  cycles that memories take for it
  */
class EngineIdle(valids: Int, clearing: Int) extends Component {
  val io = new Bundle {
    val valid = in Bits (valids bits) // of streams, and of what waits for something outside
    val quiet = in Bool () // of all engines
    val idle = out Bool ()
  }
  val cleared = RegInit(U(0, log2Up(clearing) + 1 bits))
  when(!cleared.msb)(cleared := cleared + 1)
  val moves = RegNext(io.valid.orR || !io.quiet) init True
  val since = RegInit(U(0, 7 bits))
  when(!since.msb && cleared.msb)(since := since + 1)
  when(moves)(since := 0)
  io.idle := RegNext(since.msb && !moves) init False
}
