// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import spinal.core._
import spinal.lib._

/** Joins unicast frames and copies into one stream of whole frames.
  *
  * Unicast goes first whenever a frame begins, until copyAfter unicast frames have gone since the last copy: then a
  * copy that is there goes first. So a copy waits for copyAfter unicast frames at most, counted from when it is there,
  * and a unicast frame for one copy.
  *
  * Latency: 1 cycle. Throughput: one beat a cycle, no bubble between frames. Back-pressure at out reaches both inputs a
  * cycle later.
  */
class CopyMerge[T <: Data](beatType: HardType[T], copyAfter: Int) extends Component {
  val io = new Bundle {
    val unicast = slave(Stream(Fragment(beatType)))
    val copy = slave(Stream(Fragment(beatType)))
    val out = master(Stream(Fragment(beatType)))
    val next = master(Flow(Fragment(beatType))) // the beat behind that at out, if it is of the same frame and there

    /** unicast.valid while a frame of it is under way; valid itself comes late in its cycle. */
    val unicastThere = in(Bool())
  }
  val merged = Stream(Fragment(beatType))
  val inFrame = RegNextWhen(!merged.last, merged.fire) init False
  val ofCopy = Reg(Bool())
  val ahead = Reg(UInt(log2Up(copyAfter + 1) bits)) init 0
  val copyFirst = ahead === copyAfter
  val choice = Mux(inFrame, ofCopy, io.copy.valid && (copyFirst || !io.unicast.valid))
  // The choice as it is if unicast is valid: ready matters then only, and valid comes late in its cycle.
  val choiceBeforeUnicast = Mux(inFrame, ofCopy, io.copy.valid && copyFirst)
  ofCopy := choice
  merged.valid := Mux(choice, io.copy.valid, io.unicast.valid)
  merged.payload := Mux(choice, io.copy.payload, io.unicast.payload)
  io.copy.ready := choice && merged.ready
  io.unicast.ready := !choiceBeforeUnicast && merged.ready
  when(io.copy.fire && io.copy.last)(ahead := 0)
    .elsewhen(io.unicast.fire && io.unicast.last && !copyFirst)(ahead := ahead + 1)
  io.out << merged.m2sPipe()
  io.next.valid := inFrame && Mux(ofCopy, io.copy.valid, io.unicastThere)
  io.next.payload := Mux(ofCopy, io.copy.payload, io.unicast.payload)
}
