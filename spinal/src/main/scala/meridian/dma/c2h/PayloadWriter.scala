// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import meridian.dma.pcie.{RequestKind, RqBeat}
import spinal.core._
import spinal.lib._

/** A frame has left, or was dropped. */
case class FrameEnd() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val dropped = Bool()
  val failed = Bool() // dropped, and its completion says so
  val requested = Bool() // its last bytes are in a request, whose end is told by `written`
}

/** Writes frames into the buffers that they were granted, by memory writes of PCIe.
  *
  * A request begins when all of its bytes have come and there is room for it before RQ, so it has no gap. One of a queue that
  * has been changed, or of a function that may not access memory or is revoked, is not sent, and the rest of its frame is
  * dropped. A beat a cycle; a request of one beat takes 2 cycles, and one that is dropped 2. The first beat is at RQ 9 cycles
  * after its piece if RQ is free.
  *
  * `issued` and `left` count requests that were begun, and that have left or were dropped since: what was begun before a
  * moment has left when `left` has come to what `issued` was then.
  */
class PayloadWriter(p: DmaParam, rows: Int) extends Component {
  private val bits = log2Up(rows)
  private val room = 32 // beats before RQ
  val io = new Bundle {
    val piece = slave(Stream(WritePiece()))
    val stored = in UInt (bits + 1 bits) // see FrameStore
    val freed = out UInt (bits + 1 bits)
    val place = out UInt (bits + 5 bits)
    val window = in Bits (256 bits)
    val queue = out(DmaParam.queueType())
    val epoch = in(RingEpoch()) // of this queue now
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType()))
    val rq = master(Stream(Fragment(RqBeat())))
    val end = master(Stream(FrameEnd()))
    val written = master(Flow(Bool())) // a frame's last request has left RQ; true: some request of it was dropped here
    val issued, left = out UInt (8 bits)
  }
  private def isAllowed(function: UInt): Bool = p.hasFunction(function) &&
    io.busMaster(function.resize(log2Up(p.functions) bits)) && !(io.revoked.valid && io.revoked.payload === function)

  // A piece: its first cycle is for what is known of it a cycle late.
  val piece = io.piece.m2sPipe()
  val next = piece.payload
  val position = RegInit(U(0, bits + 6 bits)) // of its first byte among all that were ever kept
  val settled = RegNext(piece.isStall) init False
  io.queue := next.queue
  val isLive = RegNext(io.epoch === next.epoch && isAllowed(next.function))
  val spoiled = RegInit(False) // of this frame a piece was dropped
  val isFirstPiece = RegInit(True) // of its frame
  val hasCome = RegNext(((io.stored @@ U(0, 5 bits)) - position).resize(bits + 6 bits) >= next.bytes)
  val beats = RegNext(next.beats)
  val used = RegInit(U(0, 6 bits)) // beats before RQ
  val fits = used +^ beats <= room

  // The request that is being issued.
  val count = RegInit(U(0, 5 bits)) // beats that are left
  val isIdle = count === 0
  val drops = next.discard || spoiled || !isLive
  val mayLeave = piece.valid && settled && hasCome && io.end.ready
  val begins = mayLeave && !drops && fits && count <= 1
  val passes = mayLeave && drops && isIdle
  piece.ready := begins || passes
  val after = position + next.bytes
  when(piece.ready) {
    position := next.last ? (((after + 31) >> 5) @@ U(0, 5 bits)) | after
    spoiled := !next.last && (spoiled || drops)
    isFirstPiece := next.last
  }
  io.end.valid := piece.ready && next.last
  io.end.payload.queue := next.queue
  io.end.epoch := next.epoch
  io.end.dropped := drops
  io.end.failed := next.failed
  io.end.requested := !drops

  case class Tag() extends Bundle {
    val frameStart, frameEnd = Bool()
    val function = DmaParam.functionType()
    val address = UInt(64 bits)
    val dwords = UInt(8 bits)
    val firstBe, lastBe = Bits(4 bits)
    val keep = Bits(8 bits)
  }
  val at = Reg(UInt(bits + 5 bits))
  val first = Reg(Bool())
  val tag = Reg(Tag())
  val freed = RegInit(U(0, bits + 1 bits))
  val frees = Reg(UInt(bits + 1 bits)) // when this request has been issued
  io.freed := freed
  io.place := at
  when(!isIdle) {
    count := count - 1
    at := at + 32
    first := False
    when(count === 1)(freed := frees)
  }
  // What of the last beat of a frame is behind it is free, too.
  val ending = (next.last ? (after + 31) | after) >> 5
  when(passes)(freed := ending)
  val end = next.skipped + next.bytes(1 downto 0) // in the last double word
  val upTo = end.muxList(B(15, 4 bits), Seq(1 -> B(1, 4 bits), 2 -> B(3, 4 bits), 3 -> B(7, 4 bits)))
  val from = (B(15, 4 bits) |<< next.skipped).resize(4 bits)
  val words = next.dwords
  when(begins) {
    count := beats
    at := (position - next.skipped - 16).resized
    first := True
    frees := ending
    tag.function := next.function
    tag.address := next.address
    tag.dwords := words
    tag.firstBe := (words === 1) ? (from & upTo) | from
    tag.lastBe := (words === 1) ? B(0, 4 bits) | upTo
    val inLast = (words(2 downto 0) + 4).resize(3 bits) // double words of the last beat, 0 for 8
    tag.keep := inLast.muxList((0 until 8).map(n => n -> B(if (n == 0) 255 else (1 << n) - 1, 8 bits)))
    tag.frameStart := isFirstPiece
    tag.frameEnd := next.last
  }

  // Beside the bytes, which take 4 cycles.
  val shown = Delay(tag, 4)
  val isShown = Delay(!isIdle, 4, init = False)
  val isFirst = Delay(first, 4)
  val isLast = Delay(count === 1, 4)
  case class Waiting() extends Bundle {
    val beat = Fragment(RqBeat())
    val function = DmaParam.functionType()
    val frameStart, frameEnd = Bool()
  }
  val made = Stream(Waiting())
  val descriptor = B(0, 40 bits) ## shown.function ## B(0, 1 bits) ## B(RequestKind.memoryWrite, 4 bits) ##
    shown.dwords.resize(11 bits) ## shown.address(63 downto 2) ## B(0, 2 bits)
  made.valid := isShown
  made.beat.data := isFirst ? (io.window(255 downto 128) ## descriptor) | io.window
  made.beat.keep := isLast ? shown.keep | B(255, 8 bits)
  made.beat.firstBe := shown.firstBe
  made.beat.lastBe := shown.lastBe
  made.beat.last := isLast
  made.function := shown.function
  made.frameStart := shown.frameStart
  made.frameEnd := shown.frameEnd && isLast

  val waiting = made.queue(room)
  // Whether its function may still write is looked at when a request's first beat is about to leave.
  val starts = RegInit(True)
  val allowed = Reg(Bool())
  val allows = starts ? isAllowed(waiting.function) | allowed
  when(waiting.fire) {
    starts := waiting.beat.last
    allowed := allows
  }
  case class Leaving() extends Bundle {
    val waiting = Waiting()
    val allowed = Bool()
  }
  val leaving = waiting
    .map { w =>
      val out = Leaving()
      out.waiting := w
      out.allowed := allows
      out
    }
    .m2sPipe()
  io.rq << leaving.throwWhen(!leaving.allowed).map(_.waiting.beat)
  used := used + (begins ? beats.resize(6 bits) | U(0, 6 bits)) - waiting.fire.asUInt
  // A frame whose last bytes were dropped before has no end here.
  val lost = RegInit(False)
  val isLost = (lost && !leaving.waiting.frameStart) || !leaving.allowed
  when(leaving.fire)(lost := isLost)
  io.written.valid := leaving.fire && leaving.waiting.frameEnd
  io.written.payload := isLost
  val issued, left = RegInit(U(0, 8 bits))
  io.issued := issued
  io.left := left
  when(begins)(issued := issued + 1)
  when(leaving.fire && leaving.waiting.beat.last)(left := left + 1)
}
