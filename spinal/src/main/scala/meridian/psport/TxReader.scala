// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ShellParam
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** A frame to send, as it lies in the transmit buffer: beats words, with the first byte offset bytes into the first. */
case class TxFrame() extends Bundle {
  val beats = UInt(12 bits)
  val offset = UInt(3 bits)
  val length = UInt(16 bits)
  val index = UInt(16 bits)
  val tag = Bits(16 bits)
  val timestamp = Bool()
  val error = FrameError()
}

/** Reads the frames of a transmit ring into the transmit buffer.
  *
  * Bursts end at 128-byte lines; 8 may be in flight, which covers a memory latency of over 100 cycles at full rate.
  * Room for each is kept before it is asked for, so that data from memory is always taken at once. Latency: memory's
  * plus 6 cycles. Throughput: one beat a cycle, 3 cycles between frames. Back-pressure: with the buffer full, or 16
  * frames in it, no further descriptor is taken.
  *
  * @param words    64-bit words of the transmit buffer, a power of two
  */
class TxReader(p: ShellParam, axiConfig: Axi4Config, words: Int) extends Component {
  val maxFrames = 16
  val maxBursts = 8
  // Used words are known a cycle late, so two bursts more may be asked for.
  val margin = 2 * PsAxi.lineBeats
  require(words >= p.maxFrame / 8 + 2 + margin, s"words is $words: the transmit buffer must hold the largest frame")
  val io = new Bundle {
    val config = in(RingConfig())
    val descriptor = slave(Stream(Descriptor()))
    val index = in UInt (16 bits)
    val axi = master(Axi4ReadOnly(axiConfig))
    val word = master(Flow(Bits(64 bits)))
    val frame = master(Stream(TxFrame()))

    /** Words ever taken out of the buffer, modulo twice its size. */
    val released = in UInt (log2Up(words) + 1 bits)
    val busError = out Bool () // a pulse a beat

    /** No descriptor is taken that is not with the sender. */
    val idle = out Bool ()
  }
  val frames = Reg(UInt(log2Up(maxFrames + 1) bits)) init 0
  val burstsInFlight = Reg(UInt(log2Up(maxBursts + 1) bits)) init 0
  val reserved = Reg(UInt(log2Up(words) + 1 bits)) init 0
  val room = RegNext((reserved - io.released) <= words - margin) init False

  val request = new Area {
    val busy, checked = RegInit(False)
    val address = Reg(UInt(40 bits))
    val left = Reg(UInt(13 bits))
    val frame = Reg(TxFrame())
    val accepted = Stream(TxFrame())

    io.descriptor.ready := !busy && io.config.open && frames =/= maxFrames
    when(io.descriptor.fire) {
      val valid = io.descriptor.addressValid && io.descriptor.length =/= 0 && io.descriptor.length <= p.maxFrame
      val offset = io.descriptor.address(2 downto 0)
      val beats = ((offset +^ io.descriptor.length + 7) >> 3).resize(13 bits)
      busy := True
      checked := False
      address := io.descriptor.address
      left := beats
      frame.beats := beats.resized
      frame.offset := offset
      frame.length := io.descriptor.length
      frame.index := io.index
      frame.tag := io.descriptor.tag
      frame.timestamp := io.descriptor.flags(0)
      frame.error := Mux(valid, FrameError.none(), FrameError.badDescriptor())
    }

    // The tracker learns of the frame before its first burst is asked for. A frame that is not read at all waits for
    // the data of those before it, so that data that arrives is always of the tracker's first frame.
    val valid = frame.error === FrameError.none
    val allArrived = Bool()
    accepted.valid := busy && !checked && (valid || allArrived)
    accepted.payload := frame
    when(!valid)(accepted.beats := 0)
    when(accepted.fire) {
      checked := True
      when(!valid)(busy := False)
    }

    val beats = PsAxi.burstBeats(address, left)
    val ar = Stream(Axi4Ar(axiConfig))
    ar.valid := busy && checked && room && burstsInFlight =/= maxBursts
    PsAxi.fill(ar.payload, address, beats - 1)
    when(ar.fire) {
      address := PsAxi.nextLine(address)
      left := left - beats
      reserved := reserved + beats
      when(left === beats)(busy := False)
    }
    io.axi.ar << ar.m2sPipe()
  }

  val response = new Area {
    val r = io.axi.r
    val head = request.accepted.queue(maxFrames, latency = 1)
    val seen = Reg(UInt(12 bits)) init 0
    val error = RegInit(False)
    r.ready := True
    when(r.fire) {
      seen := seen + 1
      error setWhen PsAxi.isError(r.resp)
    }
    io.word.valid := r.fire
    io.word.payload := r.data

    val complete = seen === head.beats
    val frame = head.haltWhen(!complete).map { f =>
      val ret = CombInit(f)
      when(error)(ret.error := FrameError.bus)
      ret
    }
    // Room for as many frames as can be in flight: this never holds up the data of the next frame.
    val output = frame.queue(maxFrames, latency = 1)
    when(frame.fire) {
      seen := U(r.fire).resized
      error := r.fire && PsAxi.isError(r.resp)
    }
    io.frame << output
    io.busError := RegNext(r.fire && PsAxi.isError(r.resp)) init False
  }

  request.allArrived := burstsInFlight === 0 && response.seen === 0
  frames := frames + U(io.descriptor.fire) - U(io.frame.fire)
  burstsInFlight := burstsInFlight + U(request.ar.fire) - U(io.axi.r.fire && io.axi.r.last)
  io.idle := frames === 0
}
