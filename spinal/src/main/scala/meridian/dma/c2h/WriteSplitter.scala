// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import spinal.core._
import spinal.lib._

/** Where the next bytes of a frame go: a buffer in the host's memory, or nowhere. */
case class BufferGrant() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val address = UInt(64 bits)
  val bytes = UInt(16 bits) // not 0
  val discard = Bool() // these bytes are dropped, and with them the whole frame
  val failed = Bool() // with discard: the frame's completion is to say that its descriptor is bad
  val last = Bool() // of its frame
}

/** What of a buffer is one request. */
case class WritePiece() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val address = UInt(64 bits)
  val bytes = UInt(10 bits)
  val discard, failed = Bool()
  val last = Bool() // of its frame

  /** What of the first double word is before the address. */
  def skipped: UInt = address(1 downto 0)
  def dwords: UInt = ((skipped +^ bytes +^ U(3)) >> 2).resize(8 bits)

  /** Beats of the request, with the 16 bytes of its descriptor. */
  def beats: UInt = ((skipped +^ bytes +^ U(16 + 31)) >> 5).resize(5 bits)
}

object WritePiece {
  val limit = 512 // bytes, whatever the host allows
}

/** Cuts writes at multiples of the maximum payload size, or of 512 bytes if that is less, and so at those of 4 KiB.
  *
  * The first piece is there the cycle after its buffer, and then one a cycle; a buffer is taken with the last piece of the
  * one before.
  */
class WriteSplitter extends Component {
  val io = new Bundle {
    val grant = slave(Stream(BufferGrant()))
    val piece = master(Stream(WritePiece()))
    val maxPayload = in UInt (2 bits) // 128 bytes times two to the power of it
  }

  val busy = RegInit(False)
  val rest = Reg(BufferGrant())
  val inPiece = RegNext(io.maxPayload.mux(0 -> U(127, 9 bits), 1 -> U(255, 9 bits), default -> U(511, 9 bits)))
  val room = (~rest.address(8 downto 0) & inPiece) +^ 1
  val ends = rest.bytes <= room
  io.piece.valid := busy
  io.piece.payload.queue := rest.queue
  io.piece.epoch := rest.epoch
  io.piece.function := rest.function
  io.piece.address := rest.address
  io.piece.bytes := ends ? rest.bytes.resize(10 bits) | room
  io.piece.discard := rest.discard
  io.piece.failed := rest.failed
  io.piece.last := rest.last && ends
  io.grant.ready := !busy || (io.piece.ready && ends)
  when(io.piece.fire) {
    rest.address := (rest.address | inPiece.resize(64 bits)) + 1
    rest.bytes := rest.bytes - room
    when(ends)(busy := False)
  }
  when(io.grant.fire) {
    busy := True
    rest := io.grant.payload
  }
}
