// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Flags of a completion, bits 15 to 0 of its last two bytes. The generation bit (0) is put in by CompletionWriter. */
object CompletionFlags {
  val generation = 0
  val timestamp = 1
  val error = 2

  /** Of a received frame: a function of the host sent it inside the card, so it has no timestamp. */
  val inside = 3

  /** Bits 5 downto 4: what the error is. */
  val cause = 4
}

/** Why a frame was not delivered or sent. */
object FrameError extends SpinalEnum(binarySequential) {
  val none, badDescriptor, bus, aborted = newElement()
}

/** The half of a descriptor that the card writes back. */
case class Completion() extends Bundle {
  val index = UInt(16 bits)
  val low = Bits(64 bits) // bytes 16 to 23
  val high = Bits(64 bits) // bytes 24 to 31; bit 48, the generation bit, is not looked at
}

/** Writes completions into the ring and counts them once memory has acknowledged them.
  *
  * One AXI burst of two beats a completion; the half with the generation bit goes second. Latency: memory's plus 5
  * cycles from command to consumer index. Throughput: one completion every 2 cycles, at most 8 in flight, then the
  * command is stalled.
  */
class CompletionWriter(axiConfig: Axi4Config) extends Component {
  val maxInFlight = 8
  val io = new Bundle {
    val config = in(RingConfig())
    val command = slave(Stream(Completion()))
    val axi = master(Axi4WriteOnly(axiConfig))
    val consumer = out UInt (16 bits)
    val done, failed = out Bool () // pulses; failed comes with done
    val idle = out Bool ()
  }
  val inFlight = Reg(UInt(log2Up(maxInFlight + 1) bits)) init 0
  val accepted = io.command.haltWhen(inFlight === maxInFlight)
  inFlight := inFlight + U(accepted.fire) - U(io.axi.b.fire)

  val (address, data) = StreamFork2(accepted.m2sPipe())
  val aw = address.swapPayload(Axi4Aw(axiConfig))
  PsAxi.fill(aw.payload, io.config.address(address.index, 16), U(1))
  io.axi.aw << aw.m2sPipe()

  val second = RegInit(False)
  val w = Stream(Axi4W(axiConfig))
  val high = CombInit(data.high)
  high(48 + CompletionFlags.generation) := io.config.generation(data.index)
  w.valid := data.valid
  w.data := Mux(second, high, data.low)
  w.strb := 0xff
  w.last := second
  data.ready := w.ready && second
  when(w.fire)(second := !second)
  io.axi.w << w.m2sPipe()

  val consumer = Reg(UInt(16 bits)) init 0
  io.axi.b.ready := True
  when(io.axi.b.fire)(consumer := consumer + 1)
  when(io.config.clear)(consumer := 0)
  io.consumer := consumer
  io.done := RegNext(io.axi.b.fire) init False
  io.failed := RegNext(io.axi.b.fire && PsAxi.isError(io.axi.b.resp)) init False
  io.idle := inFlight === 0 && !io.done
}
