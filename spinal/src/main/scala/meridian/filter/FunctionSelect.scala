// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.copies._
import meridian.filter.mactable._
import meridian.meta.RxVerdict
import meridian.settings.{FunctionFlags, GroupWrite, PortFlags}
import spinal.core._
import spinal.lib._

/** For whom a frame is. */
case class Selection(p: ShellParam) extends Bundle {
  val single = Bool() // for one function
  val several = Bool() // for the functions of a list
  val verdict = RxVerdict() // why for none, if neither
  val function = p.functionType()
  val list = ListKey(p)
}

/** Decides for whom a frame is, from its destination, the MAC table's answer and the flags.
  *
  * A broadcast is for the functions of its port that are enabled and have the broadcast flag. A multicast, or a unicast
  * or broadcast whose entry is a group (so the broadcasts of a VLAN may be for its members alone), is for the functions of the group and those with the allMulticast flag, of its port and
  * enabled; a multicast address whose entry is a function counts as one of no group. Any other unicast is for the
  * function of its entry; without one, for the enabled promiscuous functions of its port; without those, for the
  * default function of the port. Whether a function found by entry or default is enabled is not looked at here.
  *
  * A frame from inside the card is never for the function that sent it, nor for promiscuous or default functions: these
  * are for what nobody knows, and such unicast leaves by the wire. The sender is kept out of a list with several
  * functions by whoever copies, and out of an entry for one by RxLookup.
  *
  * The header comes one cycle before the MAC table's answer; the selection in the same cycle as the answer. One frame a
  * cycle, no back-pressure. How many functions a list has is known with a delay: see ListSummary. Whoever copies asks
  * for the list itself at `lookup`, any cycle, with the answer after FunctionList.latency cycles.
  */
class FunctionSelect(p: ShellParam) extends Component {
  val io = new Bundle {
    val functions = in(FunctionFlags(p))
    val ports = in(Vec(PortFlags(p), p.ports))
    val group = slave(Flow(GroupWrite(p)))
    val header = in(RxHeader(p))
    val mac = in(MacResult(p))
    val selection = out(Selection(p))
    val lookup = slave(ListLookup(p))
  }
  val lists = new FunctionList(p)
  val summary = new ListSummary(p)
  lists.io.functions := io.functions
  lists.io.write << io.group
  lists.io.lookup.query.valid := True
  lists.io.lookup.query.payload := Mux(io.lookup.query.valid, io.lookup.query.payload, summary.io.query)
  io.lookup.list := lists.io.lookup.list
  summary.io.list := lists.io.lookup.list
  summary.io.grant := !io.lookup.query.valid

  // What the header alone tells, a cycle ahead.
  val ahead = new Area {
    val port = io.header.port.min(p.ports - 1).resize(log2Up(p.ports))
    val flags = io.ports(port)
    val broadcast = io.header.address.andR
    val multicast = RegNext(io.header.address(0))
    val isBroadcast = RegNext(broadcast)
    val enabled = RegNext(flags.rxEnable && io.header.port.resize(3) < p.ports)
    val inside = RegNext(io.header.source.inside)
    val listeners = Mux(broadcast, summary.io.broadcast(port), summary.io.multicast(port))
    val listener = RegNext(listeners)
    val senderOnly = RegNext(
      io.header.source.isFunction && !listeners.several && listeners.first === io.header.source.function
    )
    val promiscuous = RegNext(summary.io.promiscuous(port))
    val defaultValid = RegNext(flags.defaultValid)
    val defaultFunction = RegNext(flags.defaultFunction)
    val portNext = RegNext(io.header.port)
  }
  summary.io.port := ahead.portNext
  summary.io.group := io.mac.value.index.resized

  val hit = io.mac.hit
  val group = hit && io.mac.value.isGroup && io.mac.value.index.resize(9) < p.groups
  val toList = ahead.multicast || (hit && io.mac.value.isGroup)
  val listener = Mux(group, summary.io.size, ahead.listener)
  // Whether the one listener of a group is the sender is known too late: the copier finds out.
  val asList = listener.several || (group && ahead.inside && listener.some)

  io.selection.single := False
  io.selection.several := False
  io.selection.verdict := RxVerdict.noListener
  io.selection.function := listener.first
  io.selection.list.port := ahead.portNext
  io.selection.list.group := io.mac.value.index.resized
  io.selection.list.kind := ListKind.promiscuous
  when(toList) {
    io.selection.single := listener.some && !asList && (group || !ahead.senderOnly)
    io.selection.several := asList
    io.selection.list.kind := ListKind.multicast
    when(ahead.isBroadcast)(io.selection.list.kind := ListKind.broadcast)
    when(group)(io.selection.list.kind := ListKind.group)
  } elsewhen (hit) {
    io.selection.single := True
    io.selection.function := io.mac.value.index
  } elsewhen (ahead.inside) {
    io.selection.verdict := RxVerdict.noMatch
  } otherwise {
    io.selection.several := ahead.promiscuous.several
    io.selection.single := !ahead.promiscuous.several && (ahead.promiscuous.some || ahead.defaultValid)
    io.selection.function := Mux(ahead.promiscuous.some, ahead.promiscuous.first, ahead.defaultFunction)
    io.selection.verdict := RxVerdict.noMatch
  }
  when(!ahead.enabled) {
    io.selection.single := False
    io.selection.several := False
    io.selection.verdict := RxVerdict.hostDisabled
  }
}
