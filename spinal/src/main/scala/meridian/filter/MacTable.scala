// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import spinal.core._
import spinal.lib._

object MacTable {

  /** Cycles from a query to its result. */
  val latency = 4

  /** Cycles from a command to its answer, at most. */
  def commandCycles(p: ShellParam): Int = MacTableShape(p).commandCycles

  /** Key of an entry. An entry for any VLAN carries VLAN 0 and a bit more; any VLAN with a VLAN of all ones is left for
    * empty slots.
    */
  def key(query: MacQuery, anyVlan: Bool): Bits =
    anyVlan ## query.vid.asBits.andMask(!anyVlan) ## query.address ## query.port
}

/** Addresses of all functions and multicast groups: exact match of port, address and VLAN, or of port and address for
  * any VLAN; the very VLAN wins.
  *
  * A 4-way hash table with twice the slots of the entries it promises, with a copy for each client and kind of match.
  * Every client looks up one query a cycle; the result comes MacTable.latency cycles later, always. Queries before
  * ready find nothing.
  *
  * A command is answered at most MacTable.commandCycles (108) cycles after it is taken; meanwhile the next one waits.
  * Entries that a command does not name are found as before in every cycle. The entry it names is found as before or as
  * after, and as after by every query from the cycle of the answer on. An add is answered full when the table holds
  * macEntries or, which a half-full table makes very unlikely unless keys are chosen to collide, when no room can be
  * made by moving others; the table is then as before. The answer's value is the one held before the command.
  *
  * ready macEntries / 2 cycles after reset, when every slot is cleared.
  */
class MacTable(p: ShellParam, clients: Int) extends Component {
  require(clients >= 1, s"clients is $clients: choose 1 or more")
  val shape = MacTableShape(p)
  val io = new Bundle {
    val lookup = Vec(slave(MacLookup(p)), clients)
    val command = slave(Stream(MacCommand(p)))
    val answer = master(Flow(MacAnswer(p)))
    val count = out UInt (shape.countBits bits)
    val ready = out Bool ()
  }

  val update = new MacTableUpdate(shape)
  update.io.command.arbitrationFrom(io.command)
  update.io.command.operation := io.command.operation
  update.io.command.slot.key := MacTable.key(io.command.query, io.command.anyVlan)
  update.io.command.slot.value := io.command.value.asBits
  io.answer.valid := update.io.answer.valid
  io.answer.status := update.io.answer.status
  io.answer.value.assignFromBits(update.io.answer.value)
  io.count := update.io.count
  io.ready := update.io.ready

  def search(query: MacQuery, anyVlan: Bool): MacSearch = {
    val ret = new MacSearch(shape)
    ret.io.enable := update.io.ready
    ret.io.key := MacTable.key(query, anyVlan)
    ret.io.write := update.io.write
    ret
  }

  for (lookup <- io.lookup) {
    val exact = search(lookup.query.payload, False)
    val any = search(lookup.query.payload, True)
    lookup.result.valid := Delay(lookup.query.valid, MacTable.latency, init = False)
    lookup.result.hit := RegNext(exact.io.hit || any.io.hit)
    lookup.result.value.assignFromBits(RegNext(exact.io.hit ? exact.io.value | any.io.value))
  }
}
