// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import spinal.core._
import spinal.lib._

object MacHashRows {

  /** Cycles whose keystream is thrown away. */
  def warmUpCycles(shape: MacTableShape): Int = (Trivium.warmUp + shape.indexBits - 1) / shape.indexBits

  /** Cycles from a start until the rows are written. */
  def cycles(shape: MacTableShape): Int =
    warmUpCycles(shape) + MacHash.rowCount(shape) * shape.ways + 2
}

/** Draws the rows of the MAC table's hash from a key of 80 bits: the keystream of Trivium under that key.
  *
  * Words of the key are taken while nothing is drawn, and `start` with them. All rows are written behind it, one in every
  * `ways` cycles, while `drawing` (1,800 cycles with the table of a shell). A reset ends it at once; the rows are then a
  * mixture. Nobody can read the key or the rows. `drawn`: rows have been written since the card was configured.
  */
class MacHashRows(shape: MacTableShape) extends Component {
  val io = new Bundle {
    val key = slave(Flow(KeyWord()))
    val start = in Bool ()
    val drawing, drawn = out Bool ()
    val row = master(Flow(MacHashRow(shape)))
  }
  val cipher = new Trivium(shape.indexBits)
  val drawing = RegInit(False)
  val starts = io.start && !drawing
  cipher.io.key.valid := io.key.valid && !drawing
  cipher.io.key.payload := io.key.payload
  cipher.io.start := starts
  cipher.io.step := drawing

  val warmUp = Reg(UInt(log2Up(MacHashRows.warmUpCycles(shape) + 1) bits))
  val way = Reg(UInt(log2Up(shape.ways) bits))
  val index = Reg(Bits(shape.rowBits bits))
  val table = Reg(cloneOf(io.row.table))
  val value = Reg(cloneOf(io.row.value))
  val whole = RegNext(drawing && warmUp === 0 && way.andR) init False
  val last = table === MacHash.parts(shape).size
  when(drawing) {
    index := cipher.io.bits ## index.dropLow(shape.indexBits)
    when(warmUp =/= 0)(warmUp := warmUp - 1) otherwise (way := way + 1)
  }
  when(whole) {
    value := value + 1
    when(value.andR)(table := table + 1)
    when(last)(drawing := False)
  }
  when(starts) {
    drawing := True
    warmUp := MacHashRows.warmUpCycles(shape)
    way := 0
    table := 0
    value := 0
  }
  io.drawing := drawing
  io.row.valid := whole
  io.row.table := table
  io.row.value := value
  io.row.index := index
  io.drawn := ClockDomain.current.withBootReset()(RegNextWhen(True, whole && last) init False)
}
