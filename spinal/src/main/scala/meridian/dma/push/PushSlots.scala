// SPDX-License-Identifier: Apache-2.0
package meridian.dma.push

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Frames that the host writes into the card, each in a slot until its doorbell.
  *
  * A function's queue has one slot, by the lowest bits of its number and the function's. A queue that writes to another's
  * slot gets it, and what was in it is lost; its frame is then read from the host's memory as any other. A slot that is
  * being sent takes no write.
  *
  * A chunk is taken in each cycle, and is in its slot 3 cycles later. The offer for `function` and `number` is that of 2
  * cycles ago. `rung` ends what is in the slot of that function and number, `clear` what is in all.
  */
class PushSlots(p: DmaParam) extends Component {
  import PushWindow._
  val io = new Bundle {
    val chunk = slave(Flow(PushChunk()))
    val function = in(DmaParam.functionType())
    val number = in UInt (11 bits) // of the queue, as the function has it; none beyond 511 has a place in the window
    val offer = out(PushOffer(p))
    val rung = in Bool ()
    val clear = in Bool ()
    val sending = slave(Flow(slotType(p))) // it is valid as long as the slot is sent
    val row = in UInt (3 bits) // of that slot
    val data = out Bits (256 bits)
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
  val headers = Mem(PushHeader(), p.pushSlots)
  val banks = Seq.fill(4)(Mem(Bits(64 bits), p.pushSlots * words / 4))
  val live = Reg(Bits(p.pushSlots bits)) init 0 // something is in the slot

  val isSent = io.sending.valid && io.sending.payload === placed.slot
  val takes = isPlaced && !isSent
  val before = slots.readAsync(placed.slot)
  val isSame = live(placed.slot) && before.owner === placed.owner
  val comes = Bits(PushWindow.words + 1 bits)
  for (word <- 0 until PushWindow.words + 1)
    comes(word) := placed.whole(word % 4) && placed.rows(word % 4) === word / 4
  val now = Kept()
  now.owner := placed.owner
  now.words := before.words.andMask(isSame) | comes
  slots.write(placed.slot, now, takes)
  headers.write(placed.slot, placed.words(0).as(PushHeader()), takes && comes.msb)
  for ((bank, i) <- banks.zipWithIndex) {
    val row = placed.rows(i)
    bank.write(placed.slot @@ row.resize(3 bits), placed.words(i), takes && placed.whole(i) && !row.msb)
  }
  io.data := Vec(banks.map(_.readAsync(io.sending.payload @@ io.row))).asBits

  val owner = ownerOf(io.function, io.number.resize(9 bits))
  val asked = RegNext(owner)
  val hasPlace = RegNext(io.number < 512)
  val slot = RegNext(slotOf(owner))
  val found = slots.readAsync(slot)
  val header = headers.readAsync(slot)
  val isOwn = live(slot) && hasPlace && found.owner === asked
  val count = header.length(8 downto 3) +^ header.length(2 downto 0).orR.asUInt // words of the frame
  val missing = Bits(PushWindow.words bits)
  for (word <- 0 until PushWindow.words) missing(word) := count > word && !found.words(word)
  val fits = header.length =/= 0 && header.length <= longest
  io.offer.complete := RegNext(isOwn && found.words.msb && fits && !missing.orR) init False
  io.offer.slot := RegNext(slot)
  io.offer.header := RegNext(header)

  when(takes)(live(placed.slot) := True)
  when(io.rung && isOwn)(live(slot) := False)
  when(io.clear)(live := 0)
}
