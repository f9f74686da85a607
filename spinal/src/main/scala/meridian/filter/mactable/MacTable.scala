// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.ShellParam
import spinal.core._
import spinal.lib._

object MacTable {

  /** Cycles from a query to its result. */
  val latency = 4

  /** Cycles from a command to its answer, at most. */
  def commandCycles(p: ShellParam): Int = MacTableShape(p).commandCycles

  /** Cycles that the drawing of the hash's rows takes. */
  def drawingCycles(p: ShellParam): Int = MacHashRows.cycles(MacTableShape(p))

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
  * macEntries or, which a half-full table makes very unlikely, when no room can be made by moving others; the table is
  * then as before. The answer's value is the one held before the command.
  *
  * A function that chooses its addresses cannot choose their slots, because the rows of the hash are drawn from a key that
  * nobody can read. The table takes words of a key while it is empty and no command waits, and refuses them otherwise
  * (`refused`). `start` comes with the last word; commands then wait for MacTable.drawingCycles.
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
    val hashKey = slave(MacHashKey())
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

  val rows = new MacHashRows(shape)
  val mayDraw = update.io.idle && update.io.count === 0 && !io.command.valid
  rows.io.key.valid := io.hashKey.word.valid && mayDraw
  rows.io.key.payload := io.hashKey.word.payload
  rows.io.start := io.hashKey.start && mayDraw
  update.io.hold := rows.io.drawing
  update.io.row := rows.io.row
  io.hashKey.refused := RegNext(io.hashKey.word.valid && (!mayDraw || rows.io.drawing)) init False
  io.hashKey.drawing := rows.io.drawing
  io.hashKey.drawn := rows.io.drawn

  for (lookup <- io.lookup) {
    val search = new MacSearch(shape)
    search.io.enable := update.io.ready
    search.io.key := MacTable.key(lookup.query.payload, False)
    search.io.write := update.io.write
    search.io.row := rows.io.row
    lookup.result.valid := Delay(lookup.query.valid, MacTable.latency, init = False)
    lookup.result.hit := RegNext(search.io.exact.hit || search.io.any.hit)
    lookup.result.value.assignFromBits(
      RegNext(search.io.exact.hit ? search.io.exact.value | search.io.any.value)
    )
  }
}
