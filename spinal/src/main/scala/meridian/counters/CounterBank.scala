// SPDX-License-Identifier: Apache-2.0
package meridian.counters

import spinal.core._
import spinal.lib._

/** What is to be added to which counter. */
case class CounterAdd(entries: Int, amountBits: Int) extends Bundle {
  val index = UInt(log2Up(entries) bits)
  val amount = UInt(amountBits bits)
}

/** Many counters in one memory. io.add is taken every cycle for ever, the same index back to back included; no add is
  * lost. Every index is below `entries`.
  *
  * io.read is taken every cycle; io.value follows 2 cycles later, in order, all bits of one instant: the sum of the
  * adds given 5 or more cycles before the read. Reads and adds do not delay each other.
  *
  * After reset, and after each io.clear, the memory is walked and cleared in `entries` + 5 cycles. io.ready is low
  * meanwhile: adds then are ignored, and reads show the counters half cleared.
  *
  * @param entries    number of counters; up to 64 become distributed RAM, more become block RAM (two copies)
  * @param width      bits of a counter, which wraps
  * @param amountBits bits of the amount of one add
  */
class CounterBank(val entries: Int, val width: Int = 64, val amountBits: Int = 16) extends Component {
  require(entries >= 2 && entries <= 65536, s"entries is $entries: choose 2 to 65536")
  require(width >= 2 && width <= 64, s"width is $width: choose 2 to 64")
  require(amountBits >= 1 && amountBits <= width, s"amountBits is $amountBits: choose 1 to $width")

  val io = new Bundle {
    val add = slave(Flow(CounterAdd(entries, amountBits)))
    val read = slave(Flow(UInt(log2Up(entries) bits)))
    val value = master(Flow(UInt(width bits)))
    val clear = in Bool () default False
    val ready = out Bool ()
  }

  val memory = Mem(UInt(width bits), entries)

  /** What was in the memory before the write of the same cycle, one cycle later. */
  private def lookup(address: UInt): UInt =
    if (entries <= 64) RegNext(memory.readAsync(address, readUnderWrite = writeFirst))
    else memory.readSync(address, readUnderWrite = readFirst)

  /** Waits until the last add has left the pipeline, then writes zero to each entry. */
  val clearing = new Area {
    val active = RegInit(True)
    val settle = Reg(UInt(3 bits)) init 0
    val index = Reg(UInt(log2Up(entries) bits)) init 0
    val writes = active && settle.msb
    when(active && !settle.msb) {
      settle := settle + 1
    }
    when(writes) {
      index := index + 1
      when(index === entries - 1) {
        active := False
      }
    }
    when(io.clear) {
      active := True
      settle := 0
      index := 0
    }
  }
  io.ready := !clearing.active

  /** The add itself: address (1), old value out of the memory (2), sum (3), written (4). The memory is read three
    * cycles before it is written, so the old value is replaced by a younger one: of stage 4 in stage 2 or 3, and of the
    * write just done (stage 5) in stage 2.
    */
  val update = new Area {
    val valid1 = RegNext(io.add.valid && io.ready) init False
    val index1 = RegNext(io.add.index)
    val amount1 = RegNext(io.add.amount)

    val valid2 = RegNext(valid1) init False
    val index2 = RegNext(index1)
    val amount2 = RegNext(amount1)
    val stored2 = lookup(index1)

    val valid3 = RegNext(valid2) init False
    val index3 = RegNext(index2)
    val amount3 = RegNext(amount2)
    val old3 = Reg(UInt(width bits))
    // Whether stage 4 will then hold the same index: decided a cycle early to keep the compare out of the sum's path.
    val repeated3 = RegNext(valid3 && index3 === index2) init False

    val valid4 = RegNext(valid3) init False
    val index4 = RegNext(index3)
    val sum4 = Reg(UInt(width bits))
    sum4 := Mux(repeated3, sum4, old3) + amount3.resized

    val valid5 = RegNext(valid4) init False
    val index5 = RegNext(index4)
    val sum5 = RegNext(sum4)

    // Decided a cycle early too: stage 3 and 4 of now are stage 4 and 5 then.
    val from4 = RegNext(valid3 && index3 === index1) init False
    val from5 = RegNext(valid4 && index4 === index1) init False
    old3 := Mux(from4, sum4, Mux(from5, sum5, stored2))
  }

  memory.write(
    address = Mux(clearing.writes, clearing.index, update.index4),
    data = Mux(clearing.writes, U(0, width bits), update.sum4),
    enable = clearing.writes || update.valid4
  )

  val reading = new Area {
    val valid = RegNext(RegNext(io.read.valid) init False) init False
    val stored = lookup(io.read.payload)
    io.value.valid := valid
    io.value.payload := RegNext(stored)
  }
}
