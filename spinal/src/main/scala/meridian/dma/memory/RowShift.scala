// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.c2h.WritePiece
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4R

/** What is to be made of rows of the card's memory. */
case class RowShiftTask() extends Bundle {
  val from = UInt(5 bits) // the first byte's place in its row
  val skipped = UInt(2 bits) // its place in the request's first double word
  val beats = UInt(5 bits)
}

/** Makes the beats of a write request of rows of the card's memory: the first 16 bytes of the first beat are for the request's
  * descriptor, and bytes follow without a gap. Bytes before the first and behind the last are any: byte enables leave them
  * out.
  *
  * A beat leaves 2 cycles after its last row, whether or not somebody takes it; a row a cycle, and 3 cycles between tasks.
  */
class RowShift extends Component {
  val io = new Bundle {
    val task = slave(Stream(RowShiftTask())) // taken with its last beat
    val row = slave(Stream(Axi4R(MemoryTransfer.axi)))
    val beat = master(Flow(Bits(256 bits)))
    val failed = out Bool () // with task.ready: a row could not be read
  }

  // A row's bytes go round to where they are in their beats.
  val shift = (U(16, 6 bits) + io.task.skipped - io.task.from).resize(6 bits) // below 0: the first row fills no beat
  val begun = RegInit(False)
  val around = Reg(UInt(5 bits))
  val skips = Reg(Bool())
  val left = Reg(UInt(5 bits)) // beats
  val waits = RegInit(False) // all rows have come
  val failed = Reg(Bool())
  io.row.ready := begun && !waits
  val turned = RegNext(io.row.data.rotateLeft(around @@ U(0, 3 bits)))
  val isRow = RegNext(io.row.fire) init False
  val isLastRow = RegNext(io.row.last)
  val before = RegNextWhen(turned, isRow)
  val flushes = RegInit(False)
  flushes := isRow && isLastRow && left =/= (skips ? U(0, 5 bits) | U(1, 5 bits))
  val emits = (isRow && !skips) || flushes
  io.beat.valid := emits
  for (lane <- 0 until 32) {
    val (now, old) = (turned(8 * lane, 8 bits), before(8 * lane, 8 bits))
    io.beat.payload(8 * lane, 8 bits) := (lane < around) ? old | now
  }
  val ends = (isRow && isLastRow && left === (skips ? U(0, 5 bits) | U(1, 5 bits))) || flushes
  io.task.ready := ends
  io.failed := failed
  when(io.task.valid && !begun) {
    begun := True
    waits := False
    failed := False
    around := shift(4 downto 0)
    skips := shift.msb
    left := io.task.beats
  }
  when(io.row.fire) {
    when(io.row.resp(1))(failed := True)
    when(io.row.last)(waits := True)
  }
  when(isRow)(skips := False)
  when(emits)(left := left - 1)
  when(ends)(begun := False)
}
