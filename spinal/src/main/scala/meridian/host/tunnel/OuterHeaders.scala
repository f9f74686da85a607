// SPDX-License-Identifier: Apache-2.0
package meridian.host.tunnel

import meridian.ShellParam
import spinal.core._
import spinal.lib._

object OuterHeaders {

  /** Where the IP header of an inner packet may begin, in bytes from the frame's first one: behind Ethernet and IPv4, and
    * at most behind 128 bytes. These are enough for VXLAN over IPv6 with tags, and for GENEVE with 40 bytes of options.
    */
  val least = 34
  val most = 128

  def placeType() = UInt(log2Up(most + 1) bits)
  def rowType(p: ShellParam) = UInt(log2Up(most / p.hostBytes) bits)
}

/** Beats of the frame that is pushed next, and where its inner packet begins. */
case class OuterFill(p: ShellParam) extends Bundle with IMasterSlave {
  val room = Bool()
  val write = Flow(new Bundle {
    val row = OuterHeaders.rowType(p)
    val data = Bits(8 * p.hostBytes bits)
  })
  val push = Flow(OuterHeaders.placeType())

  override def asMaster(): Unit = {
    master(write, push)
    in(room)
  }
}

/** The oldest frame's: where its inner packet begins, and the beat that is asked for, at once. */
case class OuterSource(p: ShellParam) extends Bundle with IMasterSlave {
  val valid, pop = Bool()
  val start = OuterHeaders.placeType()
  val row = OuterHeaders.rowType(p)
  val data = Bits(8 * p.hostBytes bits)

  override def asMaster(): Unit = {
    out(row, pop)
    in(valid, start, data)
  }
}

/** The outer headers of the frames between OuterStrip and OuterPrepend, in the order of the frames. A cycle from push to
  * valid.
  *
  * @param frames whose headers are held at a time, a power of two
  */
class OuterHeaders(p: ShellParam, frames: Int = 16) extends Component {
  val io = new Bundle {
    val fill = slave(OuterFill(p))
    val source = slave(OuterSource(p))
  }
  val bits = log2Up(frames)
  val pushed, popped = Reg(UInt(bits + 1 bits)) init 0
  val rows = Mem(Bits(8 * p.hostBytes bits), frames * OuterHeaders.most / p.hostBytes)
  val starts = Mem(OuterHeaders.placeType(), frames)
  io.fill.room := pushed - popped =/= frames
  rows.write(pushed.resize(bits) @@ io.fill.write.row, io.fill.write.data, io.fill.write.valid)
  starts.write(pushed.resize(bits), io.fill.push.payload, io.fill.push.valid)
  when(io.fill.push.valid)(pushed := pushed + 1)
  io.source.valid := pushed =/= popped
  io.source.start := starts.readAsync(popped.resize(bits))
  io.source.data := rows.readAsync(popped.resize(bits) @@ io.source.row)
  when(io.source.pop)(popped := popped + 1)
  assert(!io.source.pop || io.source.valid, "headers are taken that are not there", FAILURE)
  assert(!io.fill.push.valid || io.fill.room, "headers found no room", FAILURE)
}
