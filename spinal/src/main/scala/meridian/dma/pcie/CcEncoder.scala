// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Makes completions of headers and of the values that follow each.
  *
  * A request that is served is answered with data. Completions end at multiples of 128 bytes, the read completion boundary
  * of an endpoint (PCIe 2.3.1.1), so a read of up to 64 bytes that is aligned to its size has one. One that is unsupported
  * is answered with the descriptor that the block needs for its header log (PG213, "Completions with Error Status").
  *
  * A completion is sent when it is whole, as the block wants it without gaps. It starts 2 cycles after its last value, and
  * has a beat a cycle. Headers and values wait while one is sent.
  */
class CcEncoder extends Component {
  val io = new Bundle {
    val header = slave(Stream(CompletionHeader()))
    val value = slave(Stream(Bits(32 bits)))
    val cc = master(Stream(Fragment(CcBeat())))
  }

  val boundary = 32 // double words
  val taken = Reg(CompletionHeader())
  val request = RequestDescriptor(taken.request)
  val lower = Reg(UInt(7 bits))
  val bytes = Reg(UInt(13 bits)) // still to be answered
  val left = Reg(UInt(11 bits)) // the same in double words
  val chunk = Reg(UInt(6 bits)) // double words of this completion
  val place = Reg(UInt(6 bits)) // of the next value in it, its descriptor included
  val row = Reg(UInt(3 bits))
  val lanes = Seq.fill(8)(Mem(Bits(32 bits), 8))

  val descriptor = B(0, 1 bits) ## request.attributes ## request.trafficClass ## B(0, 9 bits) ## request.function ##
    request.tag ## request.requester ## B(0, 2 bits) ## (taken.unsupported ? B(1, 3 bits) | B(0, 3 bits)) ##
    chunk.resize(11 bits) ## B(0, 2 bits) ## (request.kind === RequestKind.lockedRead) ## bytes ## B(0, 6 bits) ##
    request.addressType ## B(0, 1 bits) ## lower
  val errorWord = B(0, 8 bits) ## taken.tph(10 downto 3) ## B(0, 5 bits) ## taken.tph(2 downto 0) ## taken.lastBe ##
    taken.firstBe

  io.header.ready := False
  io.value.ready := False
  io.cc.valid := False
  val lastPlace = (chunk + 2).resize(6 bits)
  val lastRow = lastPlace(5 downto 3)
  io.cc.last := taken.unsupported || row === lastRow
  for (i <- 0 until 8) io.cc.keep(i) := !io.cc.last || taken.unsupported || lastPlace(2 downto 0) >= i
  // The descriptor is not kept: it is the first three lanes of the first row.
  val kept = Vec(lanes.map(_.readAsync(row)))
  val head = Vec((0 until 3).map(i => descriptor(32 * i, 32 bits)))
  when(taken.unsupported) {
    io.cc.data := taken.request ## errorWord ## descriptor
  } otherwise {
    io.cc.data := kept.asBits
    when(row === 0)(io.cc.data(95 downto 0) := head.asBits)
  }

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val plan, fill, send = new State

    idle.whenIsActive {
      io.header.ready := True
      taken := io.header.payload
      lower := io.header.lowerAddress
      bytes := io.header.byteCount
      left := io.header.dwords
      row := 0
      chunk := 0
      when(io.header.valid) {
        when(io.header.unsupported)(goto(send)) otherwise goto(plan)
      }
    }
    plan.whenIsActive {
      val room = U(boundary, 6 bits) - lower(6 downto 2)
      chunk := (left < room) ? left.resize(6 bits) | room
      place := 3
      row := 0
      goto(fill)
    }
    fill.whenIsActive {
      io.value.ready := True
      when(io.value.valid) {
        place := place + 1
        when(place === lastPlace)(goto(send))
      }
    }
    send.whenIsActive {
      io.cc.valid := True
      when(io.cc.ready) {
        row := row + 1
        when(io.cc.last) {
          left := left - chunk
          bytes := bytes - ((chunk @@ U(0, 2 bits)) - lower(1 downto 0))
          lower := 0
          when(taken.unsupported || left === chunk)(goto(idle)) otherwise goto(plan)
        }
      }
    }
  }
  for ((lane, i) <- lanes.zipWithIndex)
    lane.write(place(5 downto 3), io.value.payload, io.value.fire && place(2 downto 0) === i)
}
