// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core._
import spinal.core.sim._
import spinal.lib._

/** The hash table of the MAC table at any size, with one search port: for a key in its scope or in any. */
class MacTableHarness(val shape: MacTableShape) extends Component {
  val io = new Bundle {
    val command = slave(Stream(MacSlotCommand(shape)))
    val answer = master(Flow(MacSlotAnswer(shape)))
    val hold = in Bool ()
    val row = slave(Flow(MacHashRow(shape)))
    val idle = out Bool ()
    val key = in Bits (shape.keyBits bits)
    val hit = out Bool ()
    val value = out Bits (shape.valueBits bits)
    val count = out UInt (shape.countBits bits)
    val ready = out Bool ()
  }

  val update = new MacTableUpdate(shape)
  val search = new MacSearch(shape)
  update.io.command << io.command
  io.answer << update.io.answer
  io.count := update.io.count
  io.ready := update.io.ready
  search.io.enable := update.io.ready
  update.io.hold := io.hold
  update.io.row << io.row
  io.idle := update.io.idle
  search.io.key := False ## io.key.dropHigh(1) // the scope beside any is not looked at
  search.io.write := update.io.write
  search.io.row << io.row
  val found = Delay(io.key.msb, MacTableHarness.latency) ? search.io.any | search.io.exact
  io.hit := found.hit
  io.value := found.value

  /** Gives a simulated table, which is empty, the rows of its hash; ends with commands on no hold. */
  def writeRows(rows: Seq[BigInt]): Unit = {
    val cd = clockDomain
    io.hold #= true
    cd.waitSampling()
    for ((row, i) <- rows.zipWithIndex) {
      io.row.valid #= true
      io.row.table #= i / MacHash.values
      io.row.value #= i % MacHash.values
      io.row.index #= row
      cd.waitSampling()
    }
    io.row.valid #= false
    io.hold #= false
  }
}

object MacTableHarness {

  /** Cycles from key to hit. */
  val latency = 3
}
