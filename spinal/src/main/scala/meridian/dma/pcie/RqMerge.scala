// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** Joins requests of several sources, in turn. Nothing is kept: a beat leaves in the cycle in which it comes, and requests
  * are not mixed.
  *
  * Who may send is decided in the cycle before, so that no source's ready depends on another's valid. If nobody asks, the
  * source `home` may send, and another that then asks waits a cycle.
  */
class RqMerge(sources: Int, home: Int) extends Component {
  val io = new Bundle {
    val from = Vec(slave(Stream(Fragment(RqBeat()))), sources)
    val rq = master(Stream(Fragment(RqBeat())))
  }

  private val ofHome = B(1 << home, sources bits)
  val chosen = RegInit(ofHome)
  val begun = RegInit(False) // a request has begun
  io.rq.valid := Vec(io.from.zip(chosen.asBools).map { case (from, isIts) => from.valid && isIts }).orR
  io.rq.payload := MuxOH(chosen, io.from.map(_.payload))
  for ((from, isIts) <- io.from.zip(chosen.asBools)) from.ready := isIts && io.rq.ready

  val ends = io.rq.fire && io.rq.last
  when(io.rq.fire)(begun := !io.rq.last)
  // The next that asks, behind the one whose turn it was.
  val others = Vec(io.from.map(_.valid)).asBits & ~chosen
  when(ends || (!io.rq.valid && !begun)) {
    chosen := others.orR ? OHMasking.roundRobin(others, chosen.rotateLeft(1)) | ofHome
  }
}

object RqMerge {
  def apply(from: Seq[Stream[Fragment[RqBeat]]], home: Int): Stream[Fragment[RqBeat]] = {
    val merge = new RqMerge(from.size, home)
    for ((to, source) <- merge.io.from.zip(from)) to << source
    merge.io.rq
  }
}
