// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** A beat of a completion that a tag waits for. */
case class RoomProgress(tags: Int) extends Bundle {
  val tag = UInt(log2Up(tags) bits)
  val reached = UInt(CompletionRoom.bits bits) // the block of 64 bytes, in 512, at which what comes next begins
  val completed = Bool() // nothing more comes
}

/** Which blocks of 64 bytes the requests of a port wait for, for [[CompletionRoom]]: each needs a completion at most. Blocks
  * that have come are given back with the beat that ends them, the cycle after it is told.
  */
class RoomUse(tags: Int) extends Component {
  private def blockType() = UInt(CompletionRoom.bits bits)
  val io = new Bundle {
    val request = slave(Flow(RqRequest()))
    val tag = in UInt (log2Up(tags) bits) // of the request
    val bytes = in UInt (10 bits)
    val progress = slave(Flow(RoomProgress(tags)))
    val asked, ended = master(Flow(blockType()))
  }

  val begin = io.request.address(8 downto 6).resize(CompletionRoom.bits)
  val end = ((io.request.address(8 downto 0).resize(10 bits) + io.bytes - 1) >> 6) + 1
  io.asked.valid := io.request.valid
  io.asked.payload := end.resize(CompletionRoom.bits) - begin

  // Of a tag of which nothing has come yet its first block is left.
  val begins, ends, lefts = Mem(blockType(), tags)
  val hasCome = Reg(Bits(tags bits))
  begins.write(io.tag, begin, io.request.valid)
  ends.write(io.tag, end.resize(CompletionRoom.bits), io.request.valid)
  private val tag = io.progress.tag
  // `hasCome` is a cycle behind, so the tag that moved in the cycle before is compared, too.
  val moved = RegInit(False)
  val movedTag = RegNext(tag)
  val left = (hasCome(tag) || (moved && movedTag === tag)) ? lefts.readAsync(tag) | begins.readAsync(tag)
  private val last = ends.readAsync(tag)
  val reached = io.progress.completed ? last | io.progress.reached
  val moves = io.progress.valid && reached > left && reached <= last // whatever the host says
  lefts.write(tag, reached, moves)
  moved := moves
  when(moved)(hasCome(movedTag) := True)
  when(io.request.valid)(hasCome(io.tag) := False)
  io.ended.valid := moved
  io.ended.payload := RegNext(reached - left)
}
