// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** The half of a descriptor that software writes: 16 bytes, little endian. */
case class Descriptor() extends Bundle {
  val address = UInt(40 bits)

  /** Bits 63 to 40 of the address are 0. */
  val addressValid = Bool()
  val length = UInt(16 bits)
  val flags = Bits(16 bits)
  val tag = Bits(16 bits)
}

/** Reads descriptors of a ring before they are needed.
  *
  * One AXI read of two beats a descriptor, up to 8 in flight or waiting. Latency: memory's plus 4 cycles. Throughput: 8
  * descriptors per memory latency, at most one every 2 cycles. Back-pressure on the output stops new reads only, as
  * each read in flight has room. When the ring closes, descriptors read but not taken are dropped, not consumed.
  */
class DescriptorFetch(axiConfig: Axi4Config) extends Component {
  val depth = 8
  val io = new Bundle {
    val config = in(RingConfig())
    val producer = in UInt (16 bits)
    val axi = master(Axi4ReadOnly(axiConfig))
    val descriptor = master(Stream(Descriptor()))

    /** Index of the descriptor at the output, or of the next one to come there. */
    val index = out UInt (16 bits)

    /** Software has posted nothing that is not taken. */
    val empty = out Bool ()

    /** More than half of the ring is posted and not taken. */
    val halfPosted = out Bool ()

    /** A quarter of the ring or more is posted and not taken. */
    val quarterPosted = out Bool ()
    val readError, producerError = out Bool () // pulses
    val busError = out Bool () // a pulse a beat
    val idle = out Bool ()

    /** Nothing is in flight, nor about to be. */
    val atRest = out Bool ()
  }
  val taken, asked = Reg(UInt(16 bits)) init 0
  val inFlight = Reg(UInt(log2Up(depth + 1) bits)) init 0

  val request = Stream(Axi4Ar(axiConfig))
  val waiting = asked(3 downto 0) - taken(3 downto 0)
  request.valid := io.config.open && asked =/= io.producer && !waiting(3)
  PsAxi.fill(request.payload, io.config.address(asked, 0), U(1))
  when(request.fire)(asked := asked + 1)
  io.axi.ar << request.m2sPipe()

  val r = io.axi.r
  r.ready := True
  val firstBeat = RegNextWhen(r.data, r.fire && !r.last)
  val firstError = RegNextWhen(PsAxi.isError(r.resp), r.fire && !r.last) init False
  val arrived = r.fire && r.last
  val bad = PsAxi.isError(r.resp) || firstError
  inFlight := inFlight + U(request.fire) - U(arrived)

  val fifo = StreamFifo(Descriptor(), depth, latency = 1)
  fifo.io.push.valid := arrived && !bad && io.config.open
  fifo.io.push.address := firstBeat(39 downto 0).asUInt
  fifo.io.push.addressValid := firstBeat(63 downto 40) === 0
  fifo.io.push.length := r.data(15 downto 0).asUInt
  fifo.io.push.flags := r.data(31 downto 16)
  fifo.io.push.tag := r.data(47 downto 32)
  fifo.io.flush := !io.config.open
  io.descriptor << fifo.io.pop
  when(io.descriptor.fire)(taken := taken + 1)
  when(!io.config.open)(asked := taken)
  when(io.config.clear) {
    taken := 0
    asked := 0
  }

  val posted = RegNext(io.producer - taken) init 0
  io.index := taken
  io.halfPosted := RegNext(posted > (io.config.size >> 1)) init False
  io.quarterPosted := RegNext((posted & ~(io.config.mask >> 2).resize(16 bits)).orR) init False
  io.empty := RegNext(io.producer === taken) init True
  io.readError := RegNext(arrived && bad && io.config.open) init False
  io.producerError := RegNext(io.config.open && posted > io.config.size) init False
  io.busError := RegNext(r.fire && PsAxi.isError(r.resp)) init False
  io.idle := inFlight === 0
  io.atRest := io.idle && !request.valid && !io.readError && !io.producerError
}
