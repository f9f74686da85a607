// SPDX-License-Identifier: Apache-2.0
package meridian.dma.push

import meridian.dma.descriptor.{PushChunk, PushHeader, PushPort, PushWindow}
import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** The slot that PushSender sends, and what is in it. */
case class PushSource(p: DmaParam) extends Bundle with IMasterSlave {
  val slot = Flow(PushWindow.slotType(p)) // valid as long as it is sent
  val row = UInt(3 bits) // of its data
  val data = Bits(256 bits)
  val metadata = Bits(32 bits)
  val length = UInt(16 bits)

  override def asMaster(): Unit = {
    master(slot)
    out(row)
    in(data, metadata, length)
  }
}

/** Frames that the host writes into the card, each in a slot until its doorbell.
  *
  * A function's queue has one slot, by the lowest bits of its number and the function's. A queue that writes to another's
  * slot gets it, and what was in it is lost; its frame is then read from the host's memory as any other. A slot that is
  * being sent takes no write. One whose frame waits for credit is its queue's until something is written to it.
  *
  * A chunk is taken in each cycle, and is in its slot 3 cycles later. The offer for `function` and `number` is that of 3
  * cycles ago. `rung` ends what is in the slot of that function and number a cycle later, unless the slot is kept in the same
  * cycle; `clear` ends what is in all.
  */
class PushSlots(p: DmaParam) extends Component {
  import PushWindow._
  val io = new Bundle {
    val chunk = slave(Flow(PushChunk()))
    val function = in(DmaParam.functionType())
    val number = in UInt (11 bits) // of the queue, as the function has it; none beyond 511 has a place in the window
    val port = slave(PushPort(p))
    val rung = in Bool ()
    val clear = in Bool ()
    val sent = slave(PushSource(p))
  }

  case class Owner() extends Bundle {
    val function = DmaParam.functionType()
    val number = UInt(9 bits)
  }
  private def slotOf(owner: Owner): UInt = (owner.number + owner.function).resize(slotType(p).getWidth)
  private def ownerOf(function: UInt, number: UInt): Owner = {
    val owner = Owner()
    owner.function := function
    owner.number := number
    owner
  }

  // Words go to one of four banks by the lowest bits of their place.
  case class Placed() extends Bundle {
    val owner = Owner()
    val slot = slotType(p)
    val rows = Vec(UInt(4 bits), 4) // 8: the row of the header
    val words = Vec(Bits(64 bits), 4)
    val whole = Bits(4 bits)
  }
  val taken = io.chunk.stage()
  val placed = Reg(Placed())
  val isPlaced = RegNext(taken.valid) init False
  val place = taken.place(5 downto 0)
  placed.owner := ownerOf(taken.function, taken.place(14 downto 6))
  placed.slot := slotOf(ownerOf(taken.function, taken.place(14 downto 6)))
  for (bank <- 0 until 4) {
    val word = (U(bank, 2 bits) - place(1 downto 0)).resize(2 bits)
    val at = place +^ word
    placed.words(bank) := taken.words(word)
    placed.rows(bank) := at(5 downto 2)
    placed.whole(bank) := taken.whole(word) && !at.msb
  }

  case class Kept() extends Bundle {
    val owner = Owner()
    val words = Bits(PushWindow.words + 1 bits) // these have come; the last is the header
  }
  val slots = Mem(Kept(), p.pushSlots)
  val metadata = Mem(Bits(32 bits), p.pushSlots)
  val lengths, indices = Mem(UInt(16 bits), p.pushSlots)
  val banks = Seq.fill(4)(Mem(Bits(64 bits), p.pushSlots * words / 4))
  val live = Reg(Bits(p.pushSlots bits)) init 0 // something is in the slot
  val kept = Reg(Bits(p.pushSlots bits)) init 0 // a frame that waits for credit, until something is written there

  val isSent = io.sent.slot.valid && io.sent.slot.payload === placed.slot ||
    io.port.claims && io.port.kept.slot === placed.slot
  val takes = isPlaced && !isSent
  val before = slots.readAsync(placed.slot)
  // What is written to a slot whose frame waits begins another.
  val isSame = live(placed.slot) && !kept(placed.slot) && before.owner === placed.owner
  val comes = Bits(PushWindow.words + 1 bits)
  for (word <- 0 until PushWindow.words + 1)
    comes(word) := placed.whole(word % 4) && placed.rows(word % 4) === word / 4
  val now = Kept()
  now.owner := placed.owner
  now.words := before.words.andMask(isSame) | comes
  slots.write(placed.slot, now, takes)
  val header = placed.words(0).as(PushHeader())
  metadata.write(placed.slot, header.metadata, takes && comes.msb)
  lengths.write(placed.slot, header.length, takes && comes.msb)
  indices.write(placed.slot, header.index, takes && comes.msb)
  for ((bank, i) <- banks.zipWithIndex) {
    val row = placed.rows(i)
    bank.write(placed.slot @@ row.resize(3 bits), placed.words(i), takes && placed.whole(i) && !row.msb)
  }
  io.sent.data := Vec(banks.map(_.readAsync(io.sent.slot.payload @@ io.sent.row))).asBits
  io.sent.metadata := metadata.readAsync(io.sent.slot.payload)
  io.sent.length := lengths.readAsync(io.sent.slot.payload)

  val owner = ownerOf(io.function, io.number.resize(9 bits))
  val asked = RegNext(owner)
  val hasPlace = RegNext(io.number < 512)
  val slot = RegNext(slotOf(owner))
  val found = slots.readAsync(slot)
  val length = lengths.readAsync(slot)
  val isOwn = live(slot) && hasPlace && found.owner === asked
  val count = RegNext(length(8 downto 3) +^ length(2 downto 0).orR.asUInt) // words of the frame
  val fits = RegNext(length =/= 0 && length <= longest && found.words.msb && isOwn) init False
  val come = RegNext(found.words)
  val missing = Bits(PushWindow.words bits)
  for (word <- 0 until PushWindow.words) missing(word) := count > word && !come(word)
  io.port.offer.complete := RegNext(fits && !missing.orR) init False
  io.port.offer.slot := Delay(slot, 2)
  io.port.offer.index := Delay(indices.readAsync(slot), 2)

  val keepers = Vec.fill(p.pushSlots)(Reg(UInt(log2Up(p.queues) bits)))
  io.port.isKept := kept(io.port.kept.slot) && keepers(io.port.kept.slot) === io.port.kept.queue.resized
  when(takes) {
    live(placed.slot) := True
    kept(placed.slot) := False
  }
  val ends = RegNext(io.rung && isOwn && !io.port.keep.valid) init False
  val ended = RegNext(slot)
  when(ends) {
    live(ended) := False
    kept(ended) := False
  }
  when(io.port.keep.valid) {
    live(io.port.keep.slot) := True
    kept(io.port.keep.slot) := True
    keepers(io.port.keep.slot) := io.port.keep.queue.resized
  }
  when(io.sent.slot.valid) {
    live(io.sent.slot.payload) := False
    kept(io.sent.slot.payload) := False
  }
  when(io.clear) {
    live := 0
    kept := 0
  }
}
