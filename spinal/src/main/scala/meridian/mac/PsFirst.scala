// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import spinal.core._
import spinal.lib._

/** Joins the frames of PS and host: the PS goes first whenever a frame begins, so a frame of the PS that is there waits
  * for one host frame at most. Until its first beat is taken, a host frame on offer gives way to one of the PS.
  *
  * With `controls`, frames of flow control go before both, and wait for one frame of either at most.
  *
  * No latency, no registers in the path. Throughput: one beat a cycle, no bubble between frames.
  */
class PsFirst[T <: Data](beatType: HardType[T], controls: Boolean = false) extends Component {
  val io = new Bundle {
    val host = slave(Stream(Fragment(beatType)))
    val ps = slave(Stream(Fragment(beatType)))
    val chosen = master(Stream(Fragment(beatType)))

    val control = controls generate slave(Stream(Fragment(beatType)))

    /** Whose the last beat taken was. */
    val fromPs = out Bool ()
    val isControl = controls generate out(Bool())
  }
  val first = RegNextWhen(io.chosen.last, io.chosen.fire) init True
  val owner = RegInit(False)
  // No choice waits for another, so that a third stream makes the way no longer.
  val control = controls generate new Area {
    val owner = RegInit(False)
    val choice = Mux(first, io.control.valid, owner)
    when(io.chosen.fire)(owner := choice)
    io.isControl := owner
    io.control.ready := io.chosen.ready && choice
  }
  val ahead = if (controls) Mux(first, io.control.valid, control.owner) else False
  val choice = Mux(first, io.ps.valid, owner) && !ahead
  when(io.chosen.fire)(owner := choice)
  io.fromPs := owner
  io.chosen.valid := Mux(choice, io.ps.valid, io.host.valid)
  io.chosen.payload := Mux(choice, io.ps.payload, io.host.payload)
  if (controls) when(ahead) {
    io.chosen.valid := io.control.valid
    io.chosen.payload := io.control.payload
  }
  io.ps.ready := io.chosen.ready && choice
  io.host.ready := io.chosen.ready && !choice && !ahead
}
