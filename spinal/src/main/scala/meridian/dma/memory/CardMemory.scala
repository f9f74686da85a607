// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Memory of the card, from address 0 on, in ultra RAM. What is not in it is answered with DECERR, and reads as zeros. Bursts
  * are to go upwards in whole rows; what size and kind of burst say is not looked at.
  *
  * A row a cycle in each direction. The first row of a read is there 3 cycles after its address; one burst of a direction
  * follows the other.
  */
class CardMemory(bytes: Int = CardMemory.bytes) extends Component {
  val io = new Bundle {
    val axi = slave(Axi4(MemoryTransfer.axi))
  }
  require(isPow2(bytes) && bytes >= 8192, s"the card's memory is $bytes bytes: choose a power of two, 8192 or more")
  private val place = log2Up(bytes)
  val rows = Mem(Bits(256 bits), bytes / 32)
  rows.addAttribute("ram_style", "ultra")
  private def isOutside(address: UInt): Bool = address(63 downto place) =/= 0

  val writes = RegInit(False) // a burst
  val answers = RegInit(False)
  val row = Reg(UInt(place - 5 bits))
  val isWrong = Reg(Bool())
  io.axi.aw.ready := !writes && !answers
  io.axi.w.ready := writes
  when(io.axi.aw.fire) {
    writes := True
    row := io.axi.aw.addr(place - 1 downto 5)
    isWrong := isOutside(io.axi.aw.addr)
  }
  rows.write(row, io.axi.w.data, io.axi.w.fire && !isWrong, mask = io.axi.w.strb)
  when(io.axi.w.fire) {
    row := row + 1
    when(io.axi.w.last) {
      writes := False
      answers := True
    }
  }
  io.axi.b.valid := answers
  io.axi.b.resp := isWrong ? B(3, 2 bits) | B(0, 2 bits)
  when(io.axi.b.fire)(answers := False)

  case class Tag() extends Bundle {
    val row = UInt(place - 5 bits)
    val isWrong, last = Bool()
  }
  val left = RegInit(U(0, 9 bits)) // rows of the burst
  val next = Reg(Tag())
  io.axi.ar.ready := left === 0
  val asked = Stream(Tag())
  asked.valid := left =/= 0
  asked.payload := next
  asked.last.removeAssignments() := left === 1
  when(asked.fire) {
    left := left - 1
    next.row := next.row + 1
  }
  when(io.axi.ar.fire) {
    left := io.axi.ar.len +^ 1
    next.row := io.axi.ar.addr(place - 1 downto 5)
    next.isWrong := isOutside(io.axi.ar.addr)
  }
  next.last := False
  val fetched = asked.m2sPipe()
  val data = rows.readSync(asked.row, enable = asked.ready)
  io.axi.r << fetched
    .map { of =>
      val r = Axi4R(MemoryTransfer.axi)
      r.data := data.andMask(!of.isWrong)
      r.resp := of.isWrong ? B(3, 2 bits) | B(0, 2 bits)
      r.last := of.last
      r
    }
    .m2sPipe()
}

object CardMemory {
  val bytes = 256 * 1024
}
