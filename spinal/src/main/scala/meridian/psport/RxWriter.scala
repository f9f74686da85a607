// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Where a received frame goes: length bytes (not 0) from any byte address. */
case class RxWrite() extends Bundle {
  val address = UInt(40 bits)
  val length = UInt(16 bits)
}

object RxWrite {

  /** Bursts, and so write responses, of a frame: the 128-byte lines it touches. */
  def bursts(address: UInt, length: UInt): UInt = {
    val bytes = address(PsAxi.lineBytesLog2 - 1 downto 0) +^ length + (1 << PsAxi.lineBytesLog2) - 1
    (bytes >> PsAxi.lineBytesLog2).resize(9 bits)
  }
}

/** Writes the bytes of a frame to memory: moves them to the byte lane of the address and cuts bursts at 128-byte lines.
  *
  * Latency: 2 cycles from beat to W. Throughput: one beat a cycle, 2 cycles between frames and one more for a frame
  * whose shift makes it a beat longer. Back-pressure from memory goes straight to the frame. Write responses are not
  * looked at here. As many beats as the command asks for are written, whatever the number of beats offered: a frame
  * that is shorter or longer than it said upsets nobody but itself.
  */
class RxWriter(axiConfig: Axi4Config) extends Component {
  val io = new Bundle {
    val command = slave(Stream(RxWrite()))
    val data = slave(Stream(Fragment(Bits(64 bits))))
    val aw = master(Stream(Axi4Aw(axiConfig)))
    val w = master(Stream(Axi4W(axiConfig)))
  }
  val offset = io.command.address(2 downto 0)
  val beats = ((offset +^ io.command.length + 7) >> 3).resize(13 bits)

  val bursts = new Area {
    val address = Reg(UInt(40 bits))
    val left = Reg(UInt(13 bits)) init 0
    val beats = PsAxi.burstBeats(address, left)
    val aw = Stream(Axi4Aw(axiConfig))
    aw.valid := left =/= 0
    PsAxi.fill(aw.payload, address, beats - 1)
    when(aw.fire) {
      address := PsAxi.nextLine(address)
      left := left - beats
    }
    io.aw << aw.m2sPipe()
  }

  val payload = new Area {
    val active = RegInit(False)
    val ended = Reg(Bool()) // the last beat of the frame has been taken
    val left = Reg(UInt(13 bits))
    val position = Reg(UInt(4 bits)) // beat in the line
    val shift = Reg(UInt(3 bits))
    val first = Reg(Bool())
    val endBytes = Reg(UInt(3 bits)) // bytes in the last beat; 0: all 8
    val previous = Reg(Bits(64 bits))

    val done = left === 0
    val w = Stream(Axi4W(axiConfig))
    w.valid := active && !done && (io.data.valid || ended)
    w.data := ((io.data.fragment ## previous) >> ((U(8) - shift) @@ U(0, 3 bits))).resized
    val startMask = first ? (B(0xff, 8 bits) |<< shift) | B(0xff, 8 bits)
    val endMask = (left === 1 && endBytes =/= 0) ? ~(B(0xff, 8 bits) |<< endBytes) | B(0xff, 8 bits)
    w.strb := startMask & endMask
    w.last := position === PsAxi.lineBeats - 1 || left === 1
    io.data.ready := active && !ended && (done || w.ready)
    when(io.data.fire) {
      previous := io.data.fragment
      when(io.data.last)(ended := True)
    }
    when(w.fire) {
      first := False
      left := left - 1
      position := position + 1
    }
    when(active && done && ended)(active := False)
    io.w << w.m2sPipe()
  }

  io.command.ready := !payload.active && bursts.left === 0
  when(io.command.fire) {
    bursts.address := io.command.address
    bursts.left := beats
    payload.active := True
    payload.ended := False
    payload.left := beats
    payload.position := io.command.address(6 downto 3)
    payload.shift := offset
    payload.first := True
    payload.endBytes := offset + io.command.length(2 downto 0)
  }
}
