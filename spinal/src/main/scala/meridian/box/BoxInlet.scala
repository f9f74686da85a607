// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

/** Hands frames to a box while it is open, and discards them otherwise. A box that is opened gets its first beat from the
  * start of a frame, and one that is closed within a frame does not get the rest of it. Each frame makes one pulse, with
  * its end: passed if the box took all of it, else dropped.
  *
  * Latency: 0 cycles, combinational. Throughput: one beat a cycle. A box that does not take a beat stalls `frames`; while
  * it is closed nothing does.
  */
class BoxInlet(bytes: Int) extends Component {
  val io = new Bundle {
    val frames = slave(Stream(Fragment(FrameWord(bytes, HardType(new NoData)))))
    val open = in Bool ()
    val box = master(Stream(Fragment(BoxBeat(bytes))))
    val passed, dropped = out Bool ()
  }
  val first = RegNextWhen(io.frames.last, io.frames.fire) init True
  val begun = RegInit(False) // the box has what came of the frame
  val pass = io.open && (first || begun)
  when(io.frames.fire)(begun := pass)
  when(!io.open)(begun := False)

  io.box.valid := io.frames.valid && pass
  io.box.last := io.frames.last
  io.box.data := io.frames.data
  val all = B(bytes bits, default -> True)
  io.box.keep := Mux(io.frames.last, all |>> io.frames.mty, all)
  io.frames.ready := !pass || io.box.ready

  val ends = io.frames.fire && io.frames.last
  io.passed := ends && pass
  io.dropped := ends && !pass
}
