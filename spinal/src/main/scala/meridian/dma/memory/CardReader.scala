// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.c2h.WritePiece
import meridian.dma.descriptor.{RingDone, RingEpoch}
import meridian.dma.pcie.{RequestKind, RqBeat}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._
import spinal.lib.fsm._

/** Transfers from the card: reads the card's memory and writes the host's, a request after the other, in the order of the
  * transfers. Requests end at multiples of the maximum payload size, or of 512 bytes if that is less, and at those of 4 KiB
  * of the card's memory; up to 3 are read ahead. A request begins when it has come wholly, so it has no gap, and one that
  * has failed is not sent.
  *
  * A transfer has ended when RQ has taken its last request. The first request that fails, or whose function may not access
  * memory, ends it with an error, and the ring is stopped before the next one is looked at. Nothing is sent for a queue that
  * has been changed or stopped, up to 2 cycles ago; a request that has begun leaves, and is `late` until then.
  */
class CardReader(p: DmaParam) extends Component {
  private val ahead = 3 // requests
  private val most = 17 // beats of one, with its descriptor
  val io = new Bundle {
    val transfer = slave(Stream(MemoryTransfer()))
    val axi = master(Axi4ReadOnly(MemoryTransfer.axi))
    val maxPayload = in UInt (2 bits) // 128 bytes times two to the power of it
    val busMaster = in Bits (p.functions bits)
    val revoked = slave(Flow(DmaParam.functionType())) // it may ask for nothing any more
    val rq = master(Stream(Fragment(RqBeat())))
    val queues = out Vec (DmaParam.queueType(), 2)
    val epochs = in Vec (RingEpoch(), 2) // of these queues now
    val done = master(Stream(RingDone()))
    val busy = out Bool () // a request of the function at revoked has begun
    val late = out Bool () // one of a queue from before its change
    val quiet = out Bool ()
  }

  /** A request, and whether there is none. */
  case class Piece() extends Bundle {
    val to = WritePiece()
    val malformed = Bool()
    val card = UInt(64 bits)

    def rows: UInt = ((card(4 downto 0) +^ to.bytes +^ U(31)) >> 5).resize(5 bits)
  }

  // Reading.
  val kept = io.transfer.m2sPipe()
  val rest = Reg(MemoryTransfer())
  val inHost = Reg(UInt(10 bits)) // bytes that a request may have
  val bytes = Reg(UInt(10 bits))
  val endsTransfer = Reg(Bool())
  val asked = RegInit(U(0, log2Up(ahead + 1) bits)) // requests that have not left
  io.queues(0) := rest.queue
  val isReading = RegNext(io.epochs(0) === rest.epoch)
  val piece = Stream(Piece())
  piece.valid := False
  piece.to.queue := rest.queue
  piece.to.epoch := rest.epoch
  piece.to.function := rest.function
  piece.to.address := rest.host
  piece.to.bytes := bytes
  piece.to.discard := rest.failed
  piece.to.failed := rest.failed
  piece.to.last := endsTransfer
  piece.malformed := rest.malformed
  piece.card := rest.card
  kept.ready := False
  val isCutting = False

  val cut = new StateMachine {
    val idle = new State with EntryPoint
    val look, compare, ask = new State

    idle.whenIsActive {
      kept.ready := True
      rest := kept.payload
      when(kept.valid)(goto(look))
    }
    look.whenIsActive {
      isCutting := True
      val inPiece = io.maxPayload.mux(0 -> U(127, 9 bits), 1 -> U(255, 9 bits), default -> U(511, 9 bits))
      val ofHost = (~rest.host(8 downto 0) & inPiece) +^ 1
      val ofCard = U(4096, 13 bits) - rest.card(11 downto 0)
      inHost := (ofCard < ofHost) ? ofCard.resize(10 bits) | ofHost
      goto(compare)
    }
    compare.whenIsActive {
      isCutting := True
      endsTransfer := rest.failed || rest.length <= inHost
      bytes := (rest.length <= inHost) ? rest.length.resize(10 bits) | inHost
      when(asked < ahead)(goto(ask))
    }
    ask.whenIsActive {
      isCutting := True
      when(!isReading)(goto(idle)) otherwise {
        piece.valid := True
        when(piece.ready) {
          rest.length := rest.length - bytes
          rest.host := rest.host + bytes
          rest.card := rest.card + bytes
          when(endsTransfer)(goto(idle)) otherwise (goto(look))
        }
      }
    }
  }
  val (toCard, toPieces) = StreamFork2(piece, synchronous = true)
  io.axi.ar << toCard
    .throwWhen(toCard.to.discard)
    .map { of =>
      val ar = Axi4Ar(MemoryTransfer.axi)
      ar.addr := of.card(63 downto 5) @@ U(0, 5 bits)
      ar.len := (of.rows - 1).resized
      ar.size := 5
      ar.burst := 1
      ar
    }
    .halfPipe() // it stays until it is taken
  val coming = toPieces.queue(ahead + 1)

  // What has come, and the request that it is for.
  case class Come() extends Bundle {
    val piece = Piece()
    val failed = Bool()
  }
  val shift = new RowShift
  shift.io.row << io.axi.r
  shift.io.task.valid := coming.valid && !coming.to.discard
  shift.io.task.from := coming.card(4 downto 0)
  shift.io.task.skipped := coming.to.skipped
  shift.io.task.beats := coming.to.beats
  val come = Stream(Come())
  come.valid := coming.valid && (coming.to.discard || shift.io.task.ready)
  come.piece := coming.payload
  come.failed := !coming.to.discard && shift.io.failed
  coming.ready := come.valid
  val beats = StreamFifo(Bits(256 bits), 64)
  beats.io.push.valid := shift.io.beat.valid
  beats.io.push.payload := shift.io.beat.payload
  require(ahead * most <= 64)
  assert(!beats.io.push.valid || beats.io.push.ready, "what was read has no room", FAILURE)
  val requests = come.queue(ahead + 1)

  // Sending.
  val now = requests.payload
  private def next = now.piece.to
  io.queues(1) := next.queue
  val isLive = RegNext(io.epochs(1) === next.epoch)
  val isAllowed = RegNext(
    p.hasFunction(next.function) && io.busMaster(next.function.resize(log2Up(p.functions) bits)) &&
      !(io.revoked.valid && io.revoked.payload === next.function)
  )
  val left = Reg(UInt(5 bits)) // beats
  val isFirst = Reg(Bool())
  val (failed, ofCard) = (Reg(Bool()), Reg(Bool()))
  val rq = Stream(Fragment(RqBeat()))
  val end = next.skipped + next.bytes(1 downto 0) // in the last double word
  val upTo = end.muxList(B(15, 4 bits), Seq(1 -> B(1, 4 bits), 2 -> B(3, 4 bits), 3 -> B(7, 4 bits)))
  val from = (B(15, 4 bits) |<< next.skipped).resize(4 bits)
  val inLast = (next.dwords(2 downto 0) + 4).resize(3 bits) // double words of the last beat, 0 for 8
  val keep = inLast.muxList((0 until 8).map(n => n -> B(if (n == 0) 255 else (1 << n) - 1, 8 bits)))
  val isSingle = next.dwords === 1
  val descriptor = B(0, 40 bits) ## next.function ## B(0, 1 bits) ## B(RequestKind.memoryWrite, 4 bits) ##
    next.dwords.resize(11 bits) ## next.address(63 downto 2) ## B(0, 2 bits)
  rq.valid := False
  rq.data := isFirst ? (beats.io.pop.payload(255 downto 128) ## descriptor) | beats.io.pop.payload
  rq.last := left === 1
  rq.keep := rq.last ? keep | B(255, 8 bits)
  rq.firstBe := isSingle ? (from & upTo) | from
  rq.lastBe := isSingle ? B(0, 4 bits) | upTo
  io.rq << rq.m2sPipe()
  beats.io.pop.ready := False
  requests.ready := False
  io.done.valid := False
  io.done.payload.queue := next.queue
  io.done.epoch := next.epoch
  io.done.failed := failed
  io.done.onDescriptor := next.discard
  io.done.malformed := now.piece.malformed || ofCard
  val sends = False

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val begin, send, settle, drop, tell = new State
    val tells = Reg(Bool())

    private def leave(): Unit = {
      requests.ready := True
      goto(idle)
    }
    // The comparisons are a cycle behind.
    idle.whenIsActive {
      isFirst := True
      left := next.beats
      ofCard := now.failed
      when(requests.valid)(goto(begin))
    }
    begin.whenIsActive {
      tells := isLive
      failed := True
      when(next.discard) {
        when(isLive)(goto(tell)) otherwise leave()
      } elsewhen (now.failed || !isLive || !isAllowed)(goto(drop)) otherwise {
        failed := False
        goto(send)
      }
    }
    send.whenIsActive {
      sends := True
      rq.valid := beats.io.pop.valid
      beats.io.pop.ready := rq.ready
      when(rq.fire) {
        isFirst := False
        left := left - 1
        when(rq.last)(goto(settle))
      }
    }
    settle.whenIsActive { // until RQ has taken it
      sends := True
      when(!io.rq.valid) {
        when(next.last)(goto(tell)) otherwise leave()
      }
    }
    drop.whenIsActive {
      beats.io.pop.ready := True
      when(beats.io.pop.valid) {
        left := left - 1
        when(left === 1) {
          when(tells)(goto(tell)) otherwise leave()
        }
      }
    }
    tell.whenIsActive {
      io.done.valid := True
      when(io.done.ready)(leave())
    }
  }
  asked := asked + piece.fire.asUInt - requests.fire.asUInt
  io.busy := sends && next.function === io.revoked.payload
  io.late := sends && !isLive
  io.quiet := !kept.valid && asked === 0 && !isCutting
}
