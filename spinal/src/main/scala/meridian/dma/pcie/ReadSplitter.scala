// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Bytes in the host's memory that a function is to read. */
case class ReadCommand() extends Bundle {
  val function = DmaParam.functionType()
  val address = UInt(64 bits)
  val bytes = UInt(16 bits) // not 0
  val place = UInt(5 bits) // of the first byte in its first beat
}

/** What of a read is one request. */
case class ReadPiece() extends Bundle {
  val function = DmaParam.functionType()
  val address = UInt(64 bits)
  val bytes = UInt(10 bits)
  // In the 512 bytes of its address: its last byte, and what is behind it.
  val lastByte = UInt(9 bits)
  val end = UInt(10 bits)
  val last = Bool() // of its read
  val place = UInt(5 bits) // of the read's first byte in its first beat
  val allowed = Bool() // the function may access memory
}

object ReadPiece {
  val limit = 512 // bytes, whatever the host allows
}

/** Cuts reads at multiples of the maximum read request size, or of 512 bytes if that is less, and so at those of 4 KiB.
  *
  * The first piece is there the cycle after its read, and then one a cycle; a read is taken with the last piece of the one
  * before. What is left of a read fails when it is cut, or its function is revoked or may not access memory any more.
  */
class ReadSplitter(p: DmaParam) extends Component {
  val io = new Bundle {
    val command = slave(Stream(ReadCommand()))
    val piece = master(Stream(ReadPiece()))
    val maxReadRequest = in UInt (3 bits) // 128 bytes times two to the power of it
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType())) // it may ask for nothing, from the next cycle on
    val cut = in Bool () // likewise, what is left of this read
  }

  private def isMaster(function: UInt): Bool =
    p.hasFunction(function) && io.busMaster(function.resize(log2Up(p.functions) bits))

  val busy = RegInit(False)
  val rest = Reg(ReadCommand())
  val allowed = Reg(Bool())
  val inPiece = RegNext(io.maxReadRequest.mux(0 -> U(127, 9 bits), 1 -> U(255, 9 bits), default -> U(511, 9 bits)))
  val room = (~rest.address(8 downto 0) & inPiece) +^ 1
  val last = rest.bytes <= room
  io.piece.valid := busy
  io.piece.function := rest.function
  io.piece.address := rest.address
  io.piece.bytes := last ? rest.bytes.resize(10 bits) | room
  private val begin = rest.address(8 downto 0)
  private val end = begin.resize(10 bits) + rest.bytes.resize(10 bits)
  io.piece.lastByte := last ? (end - 1).resize(9 bits) | (begin | inPiece)
  io.piece.end := last ? end | ((begin | inPiece) +^ 1)
  io.piece.last := last
  io.piece.place := rest.place
  io.piece.allowed := allowed
  io.command.ready := !busy || (io.piece.ready && last)
  when(io.piece.fire) {
    rest.address := (rest.address | inPiece.resize(64 bits)) + 1
    rest.bytes := rest.bytes - room
    when(last)(busy := False)
  }
  when(io.command.fire) {
    busy := True
    rest := io.command.payload
  }
  private def mayRead(function: UInt): Bool =
    isMaster(function) && !(io.revoked.valid && io.revoked.payload === function)
  val (mayBegin, mayGoOn) = (mayRead(io.command.function), allowed && mayRead(rest.function) && !io.cut)
  allowed := io.command.fire ? mayBegin | mayGoOn
}
