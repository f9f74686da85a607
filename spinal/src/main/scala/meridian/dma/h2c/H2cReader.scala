// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import meridian.dma.pcie._
import meridian.qdma.H2cPins
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Reads what descriptors point at, and makes frames of it, in the order of the descriptors. The pieces of a frame follow
  * one another.
  *
  * A frame of a queue that has been changed or stopped since is dropped before it begins; if it has begun, its next piece
  * ends it with err. A read that fails stops the queue before the next piece is looked at; a frame that has begun by then,
  * a long one or one of several pieces, ends with err. A frame of no bytes is a beat with zero_byte. A beat a cycle, and 4
  * cycles between frames, 2 between the pieces of one. Nothing is read for a queue that has been changed or stopped, up to
  * 2 cycles ago.
  */
class H2cReader(waiting: Int) extends Component {
  val io = new Bundle {
    val piece = slave(Stream(H2cPiece()))
    val read = master(Stream(ReadCommand()))
    val beat = slave(Stream(Fragment(ReadBeat())))
    val queue = out(DmaParam.queueType())
    val epoch = in(RingEpoch()) // of this queue now
    val nextQueue = out(DmaParam.queueType())
    val nextEpoch = in(RingEpoch())
    val done = master(Stream(RingDone()))
    val h2c = master(Stream(H2cPins(32)))
    val idle = out Bool () // no piece waits for its frame
  }

  /** A piece, and where its first byte is in the frame, in bytes of its beat. */
  case class Placed() extends Bundle {
    val piece = H2cPiece()
    val place = UInt(5 bits)
  }

  // The first cycle of a piece is for the comparison, which is a cycle behind. Both take it at once, or none.
  io.nextQueue := io.piece.payload.queue
  val isNextLive = RegNext(io.nextEpoch === io.piece.epoch)
  val isCompared = RegNext(io.piece.isStall) init False
  val enters = RegInit(False) // pieces of this frame have been taken, and more are to come
  val offset = Reg(UInt(5 bits))
  val compared = io.piece.haltWhen(!isCompared).throwWhen(!isNextLive && !enters)
  val living = compared.translateWith {
    val placed = Placed()
    placed.piece := compared.payload
    // One that a frame waits for ends it.
    placed.piece.failed.removeAssignments() := compared.failed || !isNextLive
    placed.piece.last.removeAssignments() := compared.last || !isNextLive
    placed.place := compared.first ? U(0, 5 bits) | offset
    placed
  }
  when(living.fire) {
    enters := !living.piece.last
    offset := living.place + living.piece.length.resize(5 bits)
  }
  val (asked, kept) = StreamFork2(living, synchronous = true)
  val reads = asked.throwWhen(asked.piece.failed || asked.piece.length === 0)
  io.read.arbitrationFrom(reads)
  io.read.function := reads.piece.function
  io.read.address := reads.piece.address
  io.read.bytes := reads.piece.length
  io.read.place := reads.place
  val pieces = kept.queue(waiting)
  val piece = pieces.piece
  io.idle := !pieces.valid && !io.piece.valid

  io.queue := piece.queue
  val isLive = RegNext(io.epoch === piece.epoch)
  val failed = Reg(Bool())
  val hasData = RegNext(!piece.failed && piece.length =/= 0) // of a piece that is there for the second cycle
  val begun = RegInit(False) // a frame, by pieces before
  val inPiece = RegInit(False) // beats of this piece have been passed
  val cuts = False // the frame ends here, and is none
  val made = Stream(H2cPins(32))
  made.valid := False
  made.tdata := io.beat.data.andMask(
    !io.beat.failed && !cuts
  ) // else they are of another read, perhaps another function's
  made.tcrc := 0
  made.tuser_qid := piece.queue
  made.tuser_port_id := 0
  made.tuser_err := io.beat.failed || cuts
  made.tuser_mdata := piece.metadata
  made.tuser_mty := io.beat.empty.resized
  made.tuser_zero_byte := !hasData && !cuts
  val ends = !hasData || (io.beat.last && (piece.last || io.beat.failed))
  made.tlast := cuts || ends
  when(!hasData && !cuts) {
    made.tdata := 0
    made.tuser_err := False
  }
  when(!hasData || cuts)(made.tuser_mty := 0)

  // A beat that its frame's next piece fills up stays.
  val shown = Reg(H2cPins(32))
  val isShown = RegInit(False)
  val stays = !made.tlast && made.tuser_mty =/= 0
  made.ready := !isShown || io.h2c.ready
  when(io.h2c.ready)(isShown := False)
  when(made.fire) {
    isShown := !stays
    shown.tuser_err := made.tuser_err
    shown.tuser_mty := made.tlast ? made.tuser_mty | U(0, 6 bits)
    shown.tuser_zero_byte := made.tuser_zero_byte
    shown.tlast := made.tlast
    when(!begun && !inPiece) {
      shown.tuser_qid := made.tuser_qid
      shown.tuser_mdata := made.tuser_mdata
    }
    for (lane <- 0 until 32) when(inPiece || cuts || pieces.place <= lane) {
      shown.tdata.subdivideIn(8 bits)(lane) := made.tdata.subdivideIn(8 bits)(lane)
    }
    inPiece := True
  }
  shown.tcrc := 0
  shown.tuser_port_id := 0
  io.h2c.valid := isShown
  io.h2c.payload := shown

  io.beat.ready := False
  pieces.ready := False
  io.done.valid := False
  io.done.payload.queue := piece.queue
  io.done.epoch := piece.epoch
  io.done.failed := failed
  io.done.onDescriptor := piece.failed
  io.done.malformed := piece.malformed

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val begin, pass, cut, drop, tell = new State
    val mayTell = Reg(Bool())

    private def leave(): Unit = {
      pieces.ready := True
      goto(idle)
    }

    // The comparison is a cycle behind.
    idle.whenIsActive {
      inPiece := False
      when(pieces.valid)(goto(begin))
    }
    begin.whenIsActive {
      failed := piece.failed
      mayTell := isLive
      when(!isLive) {
        when(begun)(goto(cut)) elsewhen (hasData)(goto(drop)) otherwise leave()
      } elsewhen (piece.failed) {
        when(begun)(goto(cut)) otherwise (goto(tell))
      } elsewhen (!hasData) {
        goto(pass)
      } elsewhen (io.beat.valid) {
        when(io.beat.failed) {
          io.beat.ready := True
          failed := True
          when(begun)(goto(cut)) otherwise (goto(tell))
        } otherwise goto(pass)
      }
    }
    pass.whenIsActive {
      val passes = !hasData || io.beat.valid
      made.valid := passes
      io.beat.ready := made.ready && hasData
      when(passes && made.ready) {
        when(ends) {
          begun := False
          failed := hasData && io.beat.failed
          goto(tell)
        } elsewhen (io.beat.last) {
          begun := True
          leave()
        }
      }
    }
    cut.whenIsActive {
      cuts := True
      made.valid := True
      when(made.ready) {
        begun := False
        when(mayTell)(goto(tell)) elsewhen (hasData)(goto(drop)) otherwise leave()
      }
    }
    drop.whenIsActive {
      io.beat.ready := True
      when(io.beat.valid && io.beat.last)(leave())
    }
    tell.whenIsActive {
      io.done.valid := True
      when(io.done.ready)(leave())
    }
  }
}
