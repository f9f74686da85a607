// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.DmaParam
import meridian.dma.pcie.ReadBeat
import spinal.core._
import spinal.lib._

/** Bytes in the host's memory that are a frame or a piece of one. */
case class H2cPiece() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val first, last = Bool() // of its frame
  val failed = Bool() // there is no such piece: its descriptor could not be fetched, or is malformed
  val malformed = Bool()
  val metadata = Bits(32 bits) // of the frame, in its first piece
  val length = UInt(16 bits)
  val address = UInt(64 bits)
}

/** Takes what was fetched apart. A descriptor of 16 bytes is a frame. One of 32 or 64 bytes has two or four entries of 16
  * bytes, each like a descriptor of that size; its frame has the bytes of all entries up to the one with the end bit, if
  * the first entry has the start bit and not the end bit, and of the first one alone otherwise.
  *
  * A piece leaves in a cycle: a descriptor a cycle of those of 16 and of 32 bytes with one piece, one in two cycles of those
  * of 64 bytes with one or two. A fetch that failed gives one piece that says so, behind those that came before. So does a
  * descriptor of several pieces if one of them is empty, or if all together have more than 65,535 bytes; the pieces behind
  * that one have failed, too.
  */
class DescriptorUnpack extends Component {
  val io = new Bundle {
    val fetch = slave(Stream(DescriptorFetch()))
    val beat = slave(Stream(Fragment(ReadBeat())))
    val piece = master(Stream(H2cPiece()))
  }

  val taken = Reg(UInt(5 bits)) init 0 // descriptors of this fetch
  val entry = Reg(UInt(2 bits)) init 0 // of this descriptor
  val skips = RegInit(False) // the descriptor's frame is over, and its second beat is not
  val before = Reg(UInt(16 bits)) // bytes in its entries before this one
  val isBad = RegInit(False) // one of these was malformed
  val isSmall = io.fetch.stride === 0
  val isLarge = io.fetch.stride === 2
  val words = io.beat.data.subdivideIn(128 bits)(((isSmall ? taken(0) | entry(0))).asUInt)
  val (start, end) = (words(48), words(49))
  val isFirst = entry === 0
  val length = words(47 downto 32).asUInt
  val total = (isFirst ? U(0, 16 bits) | before) +^ length
  val isAlone = isFirst && (isSmall || !start || end)
  val endsFrame = isAlone || (!isFirst && (end || (isLarge ? entry.andR | entry(0))))
  val malformed = !isAlone && (length === 0 || total.msb) && !io.beat.failed
  val isLast = endsFrame || io.beat.failed

  io.piece.valid := io.fetch.valid && io.beat.valid && (!skips || io.beat.failed)
  io.piece.payload.queue := io.fetch.payload.queue
  io.piece.epoch := io.fetch.epoch
  io.piece.function := io.fetch.function
  io.piece.first := isFirst
  io.piece.last := isLast || malformed || isBad
  io.piece.failed := io.beat.failed || malformed || isBad
  io.piece.malformed := malformed
  io.piece.metadata := words(31 downto 0)
  io.piece.payload.length := length
  io.piece.address := words(127 downto 64).asUInt

  val passes = io.fetch.valid && io.beat.valid && skips && !io.beat.failed
  val endsFetch = io.beat.failed || taken + 1 === io.fetch.count
  val leavesBeat = isLarge && isLast && !entry(1) && !io.beat.failed // another comes of this descriptor
  val endsDescriptor = passes || (io.piece.fire && isLast && !leavesBeat)
  io.fetch.ready := endsFetch && endsDescriptor
  io.beat.ready := passes || (io.piece.fire && (isSmall ? (endsFetch || taken(0)) | (isLast || entry(0))))
  when(io.piece.fire) {
    before := total.resized
    entry := isLast ? U(0, 2 bits) | (entry + 1)
    skips := leavesBeat
    isBad := !isLast && (isBad || malformed)
  }
  when(passes)(skips := False)
  when(endsDescriptor)(taken := endsFetch ? U(0, 5 bits) | taken + 1)
}
