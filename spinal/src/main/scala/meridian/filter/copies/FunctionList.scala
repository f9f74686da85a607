// SPDX-License-Identifier: Apache-2.0
package meridian.filter.copies

import meridian.ShellParam
import meridian.settings.{FunctionFlags, GroupWrite}
import spinal.core._
import spinal.lib._

/** Why a frame is for several functions. */
object ListKind extends SpinalEnum {
  val broadcast, // broadcast flag
  promiscuous, // promiscuous flag: unicast that no entry of the MAC table takes
  multicast, // allMulticast flag only: an address of no group
  group // allMulticast flag, or listed in a multicast group
  = newElement()
}

/** Names a list of functions. */
case class ListKey(p: ShellParam) extends Bundle {
  val kind = ListKind()
  val port = p.portType()
  val group = UInt(log2Up(p.groups) bits)
}

/** One question a cycle, the answer FunctionList.latency cycles later, always. */
case class ListLookup(p: ShellParam) extends Bundle with IMasterSlave {
  val query = Flow(ListKey(p))
  val list = Bits(p.functions bits)
  override def asMaster(): Unit = { master(query); in(list) }
}

object FunctionList {
  val latency = 2
}

/** Writes out the list a key names: the enabled functions of its port that want such a frame, a bit a function.
  *
  * Answers 2 cycles after the question, one question a cycle, no back-pressure. Holds the lists of the multicast
  * groups, which start empty and outlive a reset; all the rest comes from the flags as they are in that cycle.
  */
class FunctionList(p: ShellParam) extends Component {
  val io = new Bundle {
    val functions = in(FunctionFlags(p))
    val write = slave(Flow(GroupWrite(p)))
    val lookup = slave(ListLookup(p))
  }
  val members = Cat((0 until p.functions by 32).map { first =>
    val width = (p.functions - first).min(32)
    val mem = Mem(Bits(width bits), p.groups)
    mem.initBigInt(Seq.fill(p.groups)(BigInt(0)))
    mem.setName(s"group${first / 32}")
    mem.write(io.write.group, io.write.data.resize(width), io.write.valid && io.write.word === first / 32)
    mem.readSync(io.lookup.query.group)
  })
  val key = RegNext(io.lookup.query.payload)
  val wanting = key.kind.mux(
    ListKind.broadcast -> io.functions.broadcast,
    ListKind.promiscuous -> io.functions.promiscuous,
    ListKind.multicast -> io.functions.allMulticast,
    ListKind.group -> (io.functions.allMulticast | members)
  )
  val onPort = Cat(io.functions.port.map(_ === key.port))
  io.lookup.list := RegNext(wanting & io.functions.enable & onPort)
}
