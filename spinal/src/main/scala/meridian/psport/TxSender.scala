// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.PsTxMeta
import spinal.core._
import spinal.lib._

/** What became of a descriptor of a transmit ring. */
case class TxDone() extends Bundle {
  val length = UInt(16 bits)
  val error = FrameError()
}

/** The transmit buffer, and what takes frames out of it: moves the first byte to lane 0, hands the frame on and
  * completes it.
  *
  * A frame leaves only when all of it is in the buffer, so one that met a bus error is never sent. It is completed when
  * its first beat is offered: its memory is then software's again. When the ring is closing and the MAC side has taken
  * nothing for patience cycles, frames that have not been offered are completed as aborted; one that is half gone stays
  * and leaves whenever the MAC side takes it, also after the ring has been started again.
  *
  * Latency: 4 cycles from the frame's arrival to the first beat. Throughput: one beat a cycle, 4 cycles between frames.
  *
  * @param words    64-bit words of the buffer, a power of two
  * @param patience cycles without progress after which a closing ring aborts its frames
  */
class TxSender(p: ShellParam, words: Int, patience: Int) extends Component {
  val maxCompletions = 16
  require(isPow2(words), s"words is $words: choose a power of two")
  require(patience >= 16, s"patience is $patience cycles: choose at least 16")
  val io = new Bundle {
    val open = in Bool ()
    val word = slave(Flow(Bits(64 bits)))
    val frame = slave(Stream(TxFrame()))
    val released = out UInt (log2Up(words) + 1 bits)
    val tx = master(FrameStream(8, PsTxMeta()))
    val completion = master(Stream(Completion()))
    val done = master(Flow(TxDone()))

    /** No frame is taken that is not completed. */
    val idle = out Bool ()

    /** No frame is on its way out. */
    val atRest = out Bool ()
  }

  val buffer = new Area {
    val memory = Mem(Bits(64 bits), words)
    val fill = Reg(UInt(log2Up(words) bits)) init 0
    memory.write(fill, io.word.payload, io.word.valid)
    when(io.word.valid)(fill := fill + 1)

    val drain = Reg(UInt(log2Up(words) + 1 bits)) init 0
    val left = Reg(UInt(12 bits)) init 0 // words of the frame in turn still to be read
    val skip = Reg(UInt(log2Up(words) + 1 bits)) init 0 // words behind them of frames that are not sent
    val skipMore = UInt(12 bits) // words of a frame that turns out not to be sent in this cycle
    // Frames may be given up in the very cycle in which those before them are skipped.
    skip := (((left === 0) ? U(0) | skip) + skipMore).resized
    val address = Stream(UInt(log2Up(words) bits))
    address.valid := left =/= 0
    address.payload := drain.resized
    val word = memory.streamReadSync(address)
    when(address.fire) {
      drain := drain + 1
      left := left - 1
    } elsewhen (left === 0) {
      drain := drain + skip
    }
    io.released := drain
  }

  val abort = new Area {
    val waited = Reg(UInt(log2Up(patience + 1) bits)) init 0
    val now = RegInit(False) setWhen (waited === patience - 1)
    when(!now)(waited := waited + 1)
    when(io.open || io.tx.fire) {
      waited := 0
      now := False
    }
  }

  // Moves bytes down: a beat leaves when the word after it is here, or when there is none.
  val align = new Area {
    val active, primed = RegInit(False)
    val frame = Reg(TxFrame())
    val wordsLeft = Reg(UInt(12 bits))
    val beatsLeft = Reg(UInt(11 bits))
    val previous = Reg(Bits(64 bits))
    val last = beatsLeft === 1
    val tx = cloneOf(io.tx)
    tx.valid := active && primed && (buffer.word.valid || wordsLeft === 0)
    tx.data := ((buffer.word.payload ## previous) >> (frame.offset @@ U(0, 3 bits))).resized
    tx.last := last
    tx.mty := last ? (U(0, 3 bits) - frame.length(2 downto 0)) | U(0)
    tx.meta.timestamp := frame.timestamp
    tx.meta.tag := frame.tag
    buffer.word.ready := active && (!primed || (tx.ready && wordsLeft =/= 0))
    when(buffer.word.fire) {
      previous := buffer.word.payload
      primed := True
      wordsLeft := wordsLeft - 1
    }
    when(tx.fire) {
      beatsLeft := beatsLeft - 1
      when(last)(active := False)
    }
    io.tx << tx.m2sPipe()
  }

  val decide = new Area {
    val frame = io.frame.m2sPipe()
    val error = FrameError()
    error := frame.error
    when(frame.error === FrameError.none && abort.now)(error := FrameError.aborted)
    val send = error === FrameError.none
    // A frame starts only when those that were skipped before it are out of the way.
    val ready = !send || (!align.active && buffer.left === 0 && buffer.skip === 0)

    val flags = B(0, 16 bits)
    flags(CompletionFlags.timestamp) := frame.timestamp
    flags(CompletionFlags.error) := !send
    flags(CompletionFlags.cause, 2 bits) := error.asBits
    val completion = frame.haltWhen(!ready).swapPayload(Completion())
    completion.index := frame.index
    completion.low := frame.tag ## (send ? frame.length | U(0)) ## B(0, 32 bits)
    completion.high := flags ## B(0, 48 bits)
    io.completion << completion.queue(maxCompletions, latency = 1)

    buffer.skipMore := 0
    when(completion.fire) {
      when(send) {
        buffer.left := frame.beats
        align.active := True
        align.primed := False
        align.frame := frame.payload
        align.wordsLeft := frame.beats
        align.beatsLeft := ((frame.length +^ 7) >> 3).resized
      } elsewhen (frame.error === FrameError.bus || frame.error === FrameError.none) {
        buffer.skipMore := frame.beats // all of it is in the buffer
      }
    }
    io.done.valid := RegNext(completion.fire) init False
    io.done.length := RegNext(frame.length)
    io.done.error := RegNext(error)
  }

  val completing = Reg(UInt(log2Up(maxCompletions + 3) bits)) init 0
  completing := completing + U(decide.completion.fire) - U(io.completion.fire)
  io.idle := !decide.frame.valid && completing === 0
  io.atRest := !align.active && !io.tx.valid && buffer.skip === 0
}
