// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.frame._
import meridian.meta.PsTxMeta
import spinal.core._
import spinal.lib._

/** Decides whether a frame of the PS goes to the wire, inside the card, or both (ps clock).
  *
  * With the port's switch off all frames go to the wire. With it on, broadcast and multicast go both ways. Unicast goes
  * inside if the MAC table of the host side has its destination, and to the wire otherwise. Only unicast is looked up,
  * as the frame comes in. A frame whose answer has not come `patience` cycles after all frames before it have left goes
  * to the wire, and so does one whose query could not be sent. So a host in reset, or without a clock, delays a frame
  * by that time at most.
  *
  * A frame that only goes inside requests no transmit timestamp.
  *
  * Latency: 4 cycles; for unicast that of the answer (about 20) if it is longer. Throughput: one beat a cycle, without
  * a bubble as long as 64 beats and 8 frames cover the latency of the answers. Back-pressure at wire stops what comes
  * behind; `inside` takes a beat in any cycle.
  */
class PsRoute(p: ShellParam, patience: Int = 128) extends Component {
  require(isPow2(patience) && patience >= 64, s"patience is $patience: choose a power of two, at least 64")
  val beatsAhead = 64
  val framesAhead = 8

  val io = new Bundle {
    val veb = in Bool ()
    val tx = slave(FrameStream(p.psBytes, PsTxMeta()))
    val wire = master(FrameStream(p.psBytes, PsTxMeta()))

    /** meta: the frame goes nowhere else. */
    val inside = master(Flow(Fragment(FrameWord(p.psBytes, HardType(Bool())))))
    val query = master(Stream(PsQuery()))
    val answer = slave(Stream(PsAnswer()))
    val idle = out Bool ()
  }

  /** A frame's way as far as it is known when it comes in. */
  case class Route() extends Bundle {
    val ask = Bool() // the answer under this tag tells
    val tag = UInt(8 bits)
    val group = Bool() // both ways; neither ask nor group: the wire
  }
  case class Way() extends Bundle { val wire, inside = Bool() }

  val words = StreamFifo(io.tx.payloadType, beatsAhead)
  val routes = StreamFifo(Route(), framesAhead)

  val entry = new Area {
    val beat = io.tx.payload
    // Bytes after the end count as zeros, as the frame would go out.
    val data = Vec(
      beat.data.subdivideIn(8 bits).zipWithIndex.map { case (byte, i) =>
        val beyond = if (i == 0) False else beat.last && beat.mty > p.psBytes - 1 - i
        byte.andMask(!beyond)
      }
    ).asBits
    val number = Reg(UInt(2 bits)) init 0 // of the beat, stops at 2
    val first = number === 0
    val destination = Reg(Bits(48 bits))
    val address = Mux(first, data(47 downto 0), destination)
    val tagged = !first && data(32, 16 bits) === B"16'x0081"
    val vid = (data(48, 4 bits) ## data(56, 8 bits)).asUInt.andMask(tagged)
    val decides = number === 1 || (first && beat.last)
    val group = address.lsb
    val tag = Reg(UInt(8 bits)) init 0

    val taken = io.tx.haltWhen(decides && !routes.io.push.ready)
    words.io.push << taken
    when(taken.fire) {
      when(first)(destination := data(47 downto 0))
      when(beat.last)(number := 0) elsewhen (number =/= 2)(number := number + 1)
    }
    val now = taken.fire && decides
    io.query.valid := now && io.veb && !group
    io.query.tag := tag
    io.query.address := address
    io.query.vid := vid
    when(io.query.fire)(tag := tag + 1)
    routes.io.push.valid := now
    routes.io.push.ask := io.query.fire
    routes.io.push.tag := tag
    routes.io.push.group := io.veb && group
  }

  val resolve = new Area {
    val route = routes.io.pop
    val waited = Reg(UInt(log2Up(patience) bits)) init 0
    val mine = io.answer.valid && io.answer.tag === route.tag
    // An answer that came too late is thrown away before the next one is looked for.
    io.answer.ready := route.valid && route.ask && (!mine || route.ready)
    val known = !route.ask || mine || waited.andR
    val way = route.haltWhen(!known).swapPayload(Way())
    way.wire := !(route.ask && mine && io.answer.known)
    way.inside := route.group || (route.ask && mine && io.answer.known)
    when(route.fire || !route.valid)(waited := 0) elsewhen (!waited.andR)(waited := waited + 1)
    val decided = way.m2sPipe()
  }

  val exit = new Area {
    val beat = words.io.pop
    val way = resolve.decided
    val go = way.valid && (io.wire.ready || !way.wire)
    io.wire.valid := beat.valid && way.valid && way.wire
    io.wire.payload := beat.payload
    beat.ready := go
    way.ready := beat.fire && beat.last
    io.inside.valid := beat.fire && way.inside
    io.inside.last := beat.last
    io.inside.data := beat.data
    io.inside.mty := beat.mty
    io.inside.meta := !way.wire
  }
  io.idle := words.io.occupancy === 0 && !io.tx.valid && !io.wire.valid
}
