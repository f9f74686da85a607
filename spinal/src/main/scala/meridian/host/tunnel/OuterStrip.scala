// SPDX-License-Identifier: Apache-2.0
package meridian.host.tunnel

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.host.{H2cMeta, H2cRequest, PacketShape}
import meridian.queue.FlushPoint
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Takes the outer headers off a frame whose descriptor and queue tell where its inner packet begins (meta.outer). What
  * is behind sees a frame of the inner packet, and does with that what the descriptor asks for. [[OuterPrepend]] puts the
  * headers back.
  *
  * The inner packet is of IPv4 or IPv6, as its first four bits say. It gets an Ethernet header of that type; the addresses
  * in it mean nothing. A frame with a place out of the bounds of OuterHeaders passes as an error frame. A frame that ends
  * before its inner packet begins becomes an error frame of one beat with meta.refused, whose data say how many beats it
  * was.
  *
  * Latency: none for other frames. Such a frame takes a cycle for each beat of which nothing is left, and 2 more; then a
  * beat a cycle. Back-pressure passes through. A frame waits as long as OuterHeaders has no room.
  *
  * `flush` asks when every frame begun before has left; `flushed` answers with a pulse.
  */
class OuterStrip(p: ShellParam) extends Component {
  val io = new Bundle {
    val h2c = slave(FrameStream(p.hostBytes, H2cMeta(p)))
    val frames = master(FrameStream(p.hostBytes, H2cMeta(p)))
    val fill = master(OuterFill(p))
    val flush = in Bool ()
    val flushed = out Bool ()
    val idle = out Bool ()
  }
  val bytes = p.hostBytes
  val placeBits = log2Up(bytes)
  val count = HardType(UInt(placeBits + 1 bits))
  val starts = RegNextWhen(io.h2c.last, io.h2c.fire) init True

  // The frame at hand.
  val start = Reg(OuterHeaders.placeType())
  val meta = Reg(H2cMeta(p))
  val taken = Reg(UInt(log2Up(OuterHeaders.most / bytes + 2) bits)) // its beats
  val moved = start - PacketShape.l3Start // how far its inner packet moves
  val turned = moved(placeBits - 1 downto 0) // in a beat
  val gone = moved.dropLow(placeBits).asUInt // beats of which nothing is left
  val begins = Reg(Bool()) // no beat has left

  // The beat whose bytes come next.
  val held = new Area {
    val data = Reg(Bits(8 * bytes bits))
    val last, error, zero = Reg(Bool())
    val size = Reg(count())
    def take(): Unit = {
      data := io.h2c.data
      last := io.h2c.last
      error := io.h2c.meta.error
      zero := io.h2c.meta.zero
      size := U(bytes, placeBits + 1 bits) - io.h2c.mty
    }
  }

  val make = FrameStream(bytes, H2cMeta(p))
  val made = make.m2sPipe()
  make.valid := False
  make.last := False
  make.mty := 0
  make.meta := meta
  make.meta.error.allowOverride() := False
  make.meta.zero.allowOverride() := False

  // Bytes of the held beat from `turned` on, and then those of the next one.
  val window = Vec(
    (0 until bytes).map(i => Mux(turned > i, io.h2c.data(8 * i, 8 bits), held.data(8 * i, 8 bits)))
  ).asBits
  val shifted = (1 until placeBits).foldLeft(window)((data, i) => turned(i) ? data.rotateRight(8 << i) | data)
  make.data := shifted
  when(begins) {
    val version = shifted(8 * PacketShape.l3Start + 4, 4 bits)
    val kind = B(0x0008, 16 bits).andMask(version === 4) | B(0xdd86, 16 bits).andMask(version === 6)
    make.data(8 * (PacketShape.l3Start - 2), 16 bits) := kind
  }

  val next = U(bytes, placeBits + 1 bits) - io.h2c.mty // bytes of the next beat
  val endsHere = held.last || io.h2c.last && next <= turned
  val size = Mux(held.last, held.size, U(bytes, placeBits + 1 bits) + Mux(next < turned, next, turned.resized)) - turned

  val isInBounds = {
    val at = io.h2c.meta.request(H2cRequest.innerStart.high downto H2cRequest.innerStart.low).asUInt
    at >= OuterHeaders.least && at <= OuterHeaders.most && !at.lsb
  }
  val isWrong =
    starts ? (io.h2c.meta.outer && !isInBounds) | RegNextWhen(io.h2c.meta.outer && !isInBounds, starts && io.h2c.fire)
  val isAsked = io.h2c.valid && starts && io.h2c.meta.outer && isInBounds
  val takes = False
  val passes = False

  io.fill.push.valid := False
  io.fill.push.payload := start
  io.fill.write.valid := takes && io.h2c.valid && begins && taken < OuterHeaders.most / bytes // not behind the push
  io.fill.write.row := taken.resized
  io.fill.write.data := io.h2c.data

  val control = new StateMachine {
    val pass = new State with EntryPoint
    val swallow, cut, refuse = new State
    pass.whenIsActive {
      passes := !isAsked && !made.valid
      start := io.h2c.meta.request(H2cRequest.innerStart.low, widthOf(start) bits).asUInt
      meta := io.h2c.meta
      taken := 0
      begins := True
      when(isAsked && io.fill.room)(goto(swallow))
    }
    swallow.whenIsActive {
      takes := True
      when(io.h2c.valid) {
        held.take()
        when(taken === gone)(goto(cut)) elsewhen (io.h2c.last)(goto(refuse))
      }
    }
    cut.whenIsActive {
      val isShort =
        begins && endsHere && (held.last && (held.zero || held.size <= turned) || size <= PacketShape.l3Start)
      val has = held.last || io.h2c.valid
      make.valid := has && !isShort
      make.last := endsHere
      make.mty := (U(bytes, placeBits + 1 bits) - size).resize(placeBits).andMask(endsHere)
      make.meta.error := held.last ? held.error | io.h2c.meta.error
      takes := !held.last && (make.ready || isShort)
      when(make.fire) {
        io.fill.push.valid := begins
        begins := False
        when(!held.last)(held.take())
        when(endsHere)(goto(pass))
      }
      when(has && isShort)(goto(refuse))
    }
    refuse.whenIsActive {
      make.valid := True
      make.data := taken.asBits.resized
      make.last := True
      make.meta.error := True
      make.meta.zero := held.last && held.zero
      make.meta.refused := True
      make.meta.segments := False
      make.meta.outer := False
      when(make.ready)(goto(pass))
    }
  }
  when(takes && io.h2c.valid && !taken.andR)(taken := taken + 1)

  made.ready := io.frames.ready
  io.frames.valid := made.valid || passes && io.h2c.valid
  io.h2c.ready := takes || passes && io.frames.ready
  io.frames.payload := io.h2c.payload
  io.frames.meta.outer.allowOverride() := False
  when(isWrong) {
    io.frames.meta.error := True
    io.frames.meta.segments := False
  }
  when(made.valid)(io.frames.payload := made.payload)

  val flushing = new FlushPoint(2)
  flushing.io.begin := io.h2c.fire && starts
  flushing.io.end := io.frames.fire && io.frames.last
  flushing.io.flush := io.flush
  io.flushed := flushing.io.flushed
  io.idle := flushing.io.idle && control.isActive(control.pass)
}
