// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** Joins two streams of frames into one stream of whole frames.
  *
  * The first goes first whenever a frame begins, until `secondAfter` of its frames have gone since the last of the
  * second: then a frame of the second that is there goes. So one of the second waits for secondAfter of the first at
  * most, counted from when it is there, and one of the first for one of the second.
  *
  * Latency: 1 cycle. Throughput: one beat a cycle, no bubble between frames. Back-pressure at out reaches both inputs a
  * cycle later.
  */
class PriorityMerge[T <: Data](beatType: HardType[T], secondAfter: Int) extends Component {
  require(secondAfter >= 1, s"secondAfter is $secondAfter: choose 1 or more")
  val io = new Bundle {
    val first = slave(Stream(Fragment(beatType)))
    val second = slave(Stream(Fragment(beatType)))
    val out = master(Stream(Fragment(beatType)))
    val next = master(Flow(Fragment(beatType))) // the beat behind that at out, if it is of the same frame and there

    /** first.valid while a frame of it is under way; valid itself may come late in its cycle. */
    val firstThere = in(Bool())
  }
  val merged = Stream(Fragment(beatType))
  val inFrame = RegNextWhen(!merged.last, merged.fire) init False
  val ofSecond = Reg(Bool())
  val ahead = Reg(UInt(log2Up(secondAfter + 1) bits)) init 0
  // ahead is secondAfter: a register of its own, as a comparison is too deep beside ready.
  val secondDue = RegInit(False)
  val choice = Mux(inFrame, ofSecond, io.second.valid && (secondDue || !io.first.valid))
  // The choice as it is if first is valid: ready matters then only, and valid comes late in its cycle.
  val choiceBeforeFirst = Mux(inFrame, ofSecond, io.second.valid && secondDue)
  ofSecond := choice
  merged.valid := Mux(choice, io.second.valid, io.first.valid)
  merged.payload := Mux(choice, io.second.payload, io.first.payload)
  io.second.ready := choice && merged.ready
  io.first.ready := !choiceBeforeFirst && merged.ready
  when(io.second.fire && io.second.last) {
    ahead := 0
    secondDue := False
  } elsewhen (io.first.fire && io.first.last && !secondDue) {
    ahead := ahead + 1
    secondDue := ahead === secondAfter - 1
  }
  io.out << merged.m2sPipe()
  io.next.valid := inFrame && Mux(ofSecond, io.second.valid, io.firstThere)
  io.next.payload := Mux(ofSecond, io.second.payload, io.first.payload)
}
