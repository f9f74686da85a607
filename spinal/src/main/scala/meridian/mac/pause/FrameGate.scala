// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import spinal.core._
import spinal.lib._

/** Lets no frame begin while it is closed. A frame that has begun goes through to its end.
  *
  * Put it directly before the choice of whose frame goes next: a beat that has passed is a frame that has begun. A frame
  * on offer is withdrawn when the gate closes before its first beat is taken.
  *
  * No latency. Throughput: one beat a cycle. About one LUT beside a register.
  */
class FrameGate[T <: Data](beatType: HardType[T]) extends Component {
  val io = new Bundle {
    val input = slave(Stream(Fragment(beatType)))
    val closed = in Bool ()
    val output = master(Stream(Fragment(beatType)))
  }
  val first = RegNextWhen(io.input.last, io.input.fire) init True
  io.output << io.input.haltWhen(first && io.closed)
}
