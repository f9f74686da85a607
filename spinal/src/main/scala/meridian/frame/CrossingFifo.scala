// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** Dual-clock FIFO whose two sides may be reset independently of each other, at any time (see [[ResetPair]]).
  *
  * Latency: 3 pop cycles and the phase of the clocks. Throughput: one element a cycle. push.ready is low while there is
  * no room and while the sides restart. What was stored when the push side is reset is still read; a reset of the pop
  * side empties the FIFO.
  *
  * @param depth elements, a power of two from 2 on
  */
class CrossingFifo[T <: Data](
    dataType: HardType[T],
    depth: Int,
    pushCd: ClockDomain,
    popCd: ClockDomain,
    settle: Int = 16
) extends Component {
  require(isPow2(depth) && depth >= 2, s"depth is $depth: choose a power of two from 2 on")

  val io = new Bundle {
    val push = slave(Stream(dataType()))
    val pop = master(Stream(dataType()))

    /** Push domain: not restarting, so that push.ready is low only when there is no room. */
    val up = out Bool ()
  }

  val pair = new ResetPair(pushCd, popCd, settle)
  val fifo = new StreamFifoCC(
    dataType,
    depth,
    ResetPair.clearedBy(pushCd, pair.io.pushClear),
    ResetPair.clearedBy(popCd, pair.io.popClear),
    withPopBufferedReset = false
  )
  fifo.io.push << io.push.continueWhen(pair.io.pushUp)
  io.pop << fifo.io.pop.continueWhen(pair.io.popUp)
  pair.io.popHold := fifo.io.pop.valid
  io.up := pair.io.pushUp
}
