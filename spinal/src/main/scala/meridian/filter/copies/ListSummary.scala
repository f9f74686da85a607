// SPDX-License-Identifier: Apache-2.0
package meridian.filter.copies

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** How many functions a list has, as far as it matters: none, one (and which), or several. */
case class ListSize(p: ShellParam) extends Bundle {
  val some = Bool()
  val several = Bool()
  val first = p.functionType()
}

/** Keeps the size of every list, so that a frame need not wait until 256 bits are counted. It reads one list after
  * another, whenever no other block asks the lists, and stores what it found.
  *
  * A size is looked up in the same cycle. It follows a change of the flags after at most 6 * ports + 8 cycles, and one
  * of a multicast group (or of the flags for it) after at most 2 * ports * groups + 8 cycles. Cycles in which `grant`
  * is low do not count.
  */
class ListSummary(p: ShellParam) extends Component {
  val io = new Bundle {
    val query = out(ListKey(p))
    val grant = in(Bool()) // the query goes to the lists in this cycle
    val list = in(Bits(p.functions bits)) // its answer, FunctionList.latency cycles later

    val broadcast, promiscuous, multicast = out(Vec(ListSize(p), p.ports))
    val port = in(p.portType())
    val group = in(UInt(log2Up(p.groups) bits))
    val size = out(ListSize(p)) // of that group on that port
  }

  // Flag lists and group lists in turn: the flag lists are few and change without a table write.
  val scan = new Area {
    val groupTurn = RegInit(False)
    val kind = Reg(ListKind()) init ListKind.broadcast
    val kindPort, groupPort = Reg(p.portType()) init 0
    val group = Reg(UInt(log2Up(p.groups) bits)) init 0
    def next(port: UInt): UInt = Mux(port === p.ports - 1, U(0, p.portBits bits), port + 1)
    io.query.kind := groupTurn ? ListKind.group() | kind
    io.query.port := groupTurn ? groupPort | kindPort
    io.query.group := group
    when(io.grant) {
      groupTurn := !groupTurn
      when(groupTurn) {
        groupPort := next(groupPort)
        when(groupPort === p.ports - 1)(group := group + 1)
      } otherwise {
        kindPort := next(kindPort)
        when(kindPort === p.ports - 1) {
          kind := kind.mux(
            ListKind.broadcast -> ListKind.promiscuous(),
            ListKind.promiscuous -> ListKind.multicast(),
            default -> ListKind.broadcast()
          )
        }
      }
    }
  }

  def summary(entries: Seq[(Bool, Bool, UInt)]): ListSize = {
    val some = B(Cat(entries.map(_._1)))
    val ret = ListSize(p)
    ret.some := some.orR
    ret.several := Vec(entries.map(_._2)).asBits.orR || (some.asUInt & (some.asUInt - 1)).orR
    ret.first := OHMux.or(OHMasking.first(some), entries.map(_._3.resize(p.functionBits)), bypassIfSingle = true)
    ret
  }
  val parts = io.list.subdivideIn(16 bits, strict = false)
  val ofParts = Vec(parts.zipWithIndex.map { case (part, i) =>
    val functions = part.asBools.toSeq.zipWithIndex
    RegNext(summary(functions.map { case (bit, j) => (bit, False, U(16 * i + j, p.functionBits bits)) }))
  })
  val seen = RegNext(summary(ofParts.toSeq.map(part => (part.some, part.several, part.first))))
  val key = Delay(io.query, FunctionList.latency + 2)
  val valid = Delay(io.grant, FunctionList.latency + 2, init = False)

  val none = ListSize(p)
  none.assignFromBits(B(0, widthOf(none) bits))
  def keep(kind: SpinalEnumElement[ListKind.type], sizes: Vec[ListSize]): Unit =
    for (port <- 0 until p.ports)
      sizes(port) := RegNextWhen(seen, valid && key.kind === kind && key.port === port, none)
  keep(ListKind.broadcast, io.broadcast)
  keep(ListKind.promiscuous, io.promiscuous)
  keep(ListKind.multicast, io.multicast)

  val ofGroups = (0 until p.ports).map { port =>
    val mem = Mem(ListSize(p), p.groups)
    mem.initBigInt(Seq.fill(p.groups)(BigInt(0)))
    mem.setName(s"groupSize$port")
    mem.addAttribute("ram_style", "distributed")
    mem.write(key.group, seen, valid && key.kind === ListKind.group && key.port === port)
    mem.readAsync(io.group, writeFirst)
  }
  io.size := Vec(ofGroups)(io.port.min(p.ports - 1).resize(log2Up(p.ports)))
}
