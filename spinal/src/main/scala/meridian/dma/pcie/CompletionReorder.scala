// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** A beat of what was read: full but for the first and the last one of a read. */
case class ReadBeat() extends Bundle {
  val data = Bits(256 bits)
  val empty = UInt(5 bits) // bytes behind the data, in the last beat
  val failed = Bool() // in the last beat: the read has failed, and the beat's data are none
}

/** Keeps completions until they leave in the order of requests, each read from its first byte on, which is at the place
  * in the first beat that the read asks for.
  *
  * A read leaves when it has come wholly, so one that fails is a single beat without data. Only a read of more pieces than
  * three quarters of the tags leaves before, and may fail later. Completions of a tag may come in any number of parts;
  * where a part belongs is told by the bytes that it says are still to come.
  *
  * The first beat leaves 9 cycles after the last part at the earliest; a beat a cycle, with one cycle between reads.
  *
  * @param isSlow  a beat leaves every other cycle only, and does not depend on whether the one before is taken
  */
class CompletionReorder(tags: Int, isSlow: Boolean) extends Component {
  val io = new Bundle {
    val part = slave(Flow(CompletionPart()))
    val inFlight = in Bits (tags bits)
    val address = out UInt (log2Up(tags) bits)
    val end = in UInt (10 bits)
    val failed, completed = master(Flow(UInt(log2Up(tags) bits)))
    val whole = slave(Stream(TagVerdict()))
    val partly = in Bool ()
    val oldest = in UInt (log2Up(tags) bits)
    val slot = in(ReadSlot())
    val slotReady, slotFailed, slotVoid = in Bool ()
    val release = out Bool ()
    val beat = master(Stream(Fragment(ReadBeat())))
    val progress = master(Flow(RoomProgress(tags))) // the cycle after part
  }

  // In: each double word goes to the lane of its address.
  val rowsOfTag = ReadPiece.limit / 32
  val lanes = Seq.fill(8)(Mem(Bits(32 bits), tags * rowsOfTag))
  val tag = io.part.tag.resize(log2Up(tags) bits)
  io.address := tag
  val wanted = io.part.valid && io.inFlight(tag)
  val start = (io.end - io.part.byteCount.resize(10 bits)).resize(9 bits)
  val next = Reg(UInt(7 bits))
  val place = io.part.first ? (start(8 downto 2) - 3) | next // of the beat's first double word
  when(io.part.valid)(next := place + 8)
  // A completion's last beat may have less, but then it ends at a block or is the tag's last.
  io.progress.valid := RegNext(wanted && (io.part.completed || !io.part.failed)) init False
  io.progress.tag := RegNext(tag)
  io.progress.reached := RegNext(((io.part.first ? (start(8 downto 2) +^ 5) | (next +^ 8)) >> 4).resized)
  io.progress.completed := RegNext(io.part.completed)
  val part = RegNext(io.part.payload)
  val isWanted = RegNext(wanted) init False
  val partTag = RegNext(tag)
  val at = RegNext(place)
  for ((lane, i) <- lanes.zipWithIndex) {
    val from = U(i, 3 bits) - at(2 downto 0)
    val row = at(6 downto 3) + (at(2 downto 0) > i).asUInt
    lane.write(
      address = RegNext(partTag @@ row),
      data = RegNext(part.data.subdivideIn(32 bits)(from)),
      enable = RegNext(isWanted && part.words(from), init = False)
    )
  }
  io.failed.valid := Delay(isWanted && part.failed, 2, init = False)
  io.failed.payload := Delay(partTag, 2)
  io.completed.valid := Delay(isWanted && part.completed, 2, init = False)
  io.completed.payload := Delay(partTag, 2)

  // Out: the rows of a read, in which its bytes are where they are in 32 bytes of memory.
  case class Row() extends Bundle {
    val tag = UInt(log2Up(tags) bits)
    val number = UInt(4 bits)
    val shift = UInt(5 bits) // bytes of a row that are in one beat with those of the row before
    val last = Bool()
    val end = UInt(6 bits) // bytes up to the read's end, in its last row
    val failed = Bool()
  }
  val row = Stream(Row())
  val begun, drops = RegInit(False) // a read leaves; the rest of it is dropped
  val padded = RegInit(False) // its first row is the next
  val inSlot = RegInit(False)
  val number, shift = Reg(UInt(5 bits))
  val lastByte = io.slot.lastByte
  val firstRow = io.slot.start(8 downto 5)
  val thisRow = inSlot ? number(3 downto 0) | firstRow
  val endsSlot = thisRow === lastByte(8 downto 5)
  val starts = io.slotReady && !io.slotVoid && (begun || io.whole.valid || io.partly)
  val fails = io.slotFailed || (!begun && io.whole.valid && io.whole.failed)
  // A row without bytes is before the first one, if that alone makes the first beat.
  val pads = !begun && !padded && io.slot.shift.msb
  row.valid := starts && !drops
  row.tag := io.oldest
  row.number := thisRow
  row.shift := begun ? shift | io.slot.shift(4 downto 0).asUInt
  row.last := !pads && (fails || (endsSlot && io.slot.last))
  row.end := lastByte(4 downto 0) +^ 1
  row.failed := fails
  io.release := io.slotReady && io.slotVoid
  io.whole.ready := False
  // A read's last slot is released with its verdict.
  val isDone = !io.slot.last || io.whole.valid
  when(starts && drops && isDone) {
    io.release := True
    io.whole.ready := io.slot.last
    when(io.slot.last) {
      drops := False
      begun := False
    }
  }
  when(row.fire)(padded := pads)
  when(row.fire && !pads) {
    begun := True
    when(!begun)(shift := io.slot.shift(4 downto 0).asUInt)
    inSlot := True
    number := (thisRow + 1).resized
    when(fails) {
      drops := True
      inSlot := False
    } elsewhen (endsSlot) {
      inSlot := False
      io.release := True
      io.whole.ready := io.slot.last
      when(io.slot.last)(begun := False)
    }
  }

  val fetched = row.m2sPipe()
  val data = Vec(lanes.map(_.readSync(row.tag @@ row.number, enable = row.ready))).asBits

  // Two rows make a beat.
  val has = RegInit(False)
  val before = Reg(Row())
  val beforeData = Reg(Bits(256 bits))
  val both = Mux(before.last, B(0, 256 bits), data) ## beforeData
  val beat = Stream(Fragment(ReadBeat()))
  val cut = fetched.failed || (fetched.last && fetched.end <= before.shift)
  beat.valid := has && (before.last || fetched.valid)
  beat.last := before.last || cut
  beat.data := (both |>> (before.shift @@ U(0, 3 bits))).resize(256 bits)
  beat.failed := before.last ? before.failed | fetched.failed
  val used = before.last ? (before.end - before.shift) | (U(32, 6 bits) - before.shift + fetched.end)
  beat.empty := Mux(beat.last && !beat.failed, (U(32, 6 bits) - used).resize(5 bits), U(0, 5 bits))
  fetched.ready := !has || (beat.ready && !before.last)
  when(fetched.fire) {
    has := True
    before := fetched.payload
    beforeData := data
  }
  when(beat.fire && beat.last)(has := False)
  // Slots are released by ready, which is a register in both, so that it is short.
  io.beat << (if (isSlow) beat.halfPipe() else beat.m2sPipe().s2mPipe())
}
