// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** Writes frames that cannot wait into a [[PacketBuffer]]: a frame that finds no room is rolled back whole.
  *
  * Latency: 0 cycles, combinational. Throughput: one beat a cycle. push.ready low costs the frame, never a cycle.
  */
class FrameDropper[M <: Data](bytes: Int, metaType: HardType[M]) extends Component {
  val io = new Bundle {
    val input = slave(Flow(Fragment(FrameWord(bytes, metaType))))

    /** With the last beat of input: the frame is not wanted. */
    val drop = in Bool ()

    /** With the last beat of input: the frame found no room. */
    val lost = out Bool ()

    /** With the first beat of input: the frame finds no room, whatever the buffer has. */
    val refused = in Bool () default False

    /** To the buffer. */
    val push = master(FrameStream(bytes, metaType))
    val abort = out Bool ()
    val up = in Bool ()
  }

  val open, gone = RegInit(False)
  val noRoom = gone || !io.push.ready || !io.up || (!open && io.refused)
  val last = io.input.valid && io.input.last
  when(io.input.valid)(open := !io.input.last)
  when((io.input.valid && noRoom) || (open && !io.up))(gone := True)
  when(last)(gone := False)

  io.push.valid := io.input.valid && !gone && !(io.input.last && io.drop)
  io.push.payload := io.input.payload
  io.lost := last && noRoom
  io.abort := last && (noRoom || io.drop)
}
