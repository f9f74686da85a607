// SPDX-License-Identifier: Apache-2.0
package meridian.host.tunnel

import meridian.{LongTest, Pdr, ShellParam}
import meridian.frame.FrameStream
import meridian.host.{H2cMeta, H2cRequest}
import meridian.meta.TxMeta
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Both ends, with a beat between them, as there are more in the shell. Nothing is cut. */
class TunnelEnds(p: ShellParam) extends Component {
  val io = new Bundle {
    val h2c = slave(FrameStream(p.hostBytes, H2cMeta(p)))
    val whole = master(FrameStream(p.hostBytes, TxMeta(p)))
    val flush = in Bits (2 bits)
  }
  val tunnel = new Tunnel(p, frames = 2)
  tunnel.strip.io.h2c << io.h2c
  tunnel.strip.io.flush := io.flush(0)
  tunnel.prepend.io.flush := io.flush(1)
  io.whole << tunnel.prepend.io.whole
  val between = tunnel.strip.io.frames.m2sPipe()
  val frames = tunnel.prepend.io.frames
  frames.arbitrationFrom(between)
  frames.last := between.last
  frames.data := between.data
  frames.mty := between.mty
  frames.meta.assignFromBits(B(0, widthOf(frames.meta) bits))
  frames.meta.error.allowOverride() := between.meta.error
  frames.meta.refused.allowOverride() := between.meta.refused
  frames.meta.outer.allowOverride() := between.meta.outer
}

/** What goes in comes out. Any frames and requests. */
class TunnelProof extends Component {
  val p = ShellParam(queues = 16, segmentation = true)
  val dut = FormalDut(new TunnelEnds(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  anyseq(io.h2c.valid)
  anyseq(io.h2c.payload)
  anyseq(io.whole.ready)
  anyseq(io.flush)

  // The stream keeps its rules, and so does the block before.
  when(pastValidAfterReset() && past(io.h2c.isStall)) {
    assume(io.h2c.valid && stable(io.h2c.payload.asBits))
  }
  when(!io.h2c.last)(assume(io.h2c.mty === 0))
  assume(!io.h2c.meta.more && !io.h2c.meta.refused && !io.h2c.meta.segments && !io.h2c.meta.zero)

  /** Where a stream is: how many frames have ended, and how many beats of the next one have passed. */
  class Place[T <: Data](stream: Stream[Fragment[T]]) extends Area {
    val frame, beat = Reg(UInt(4 bits)) init 0
    when(stream.fire) {
      beat := stream.last ? U(0) | (beat + 1)
      when(stream.last)(frame := frame + 1)
    }
  }
  val in = new Place(io.h2c)
  val out = new Place(io.whole)
  // Neither a frame nor their number is larger, in so few cycles.
  val watched = new Area {
    val frame, beat = anyconst(UInt(4 bits))
    val lane = anyconst(UInt(log2Up(p.hostBytes) bits))
    val isOuter, isShort, came = RegInit(False)
    val start = Reg(UInt(8 bits))
    val value = Reg(Bits(8 bits))
    val beats = Reg(UInt(4 bits))
    val mty = Reg(UInt(log2Up(p.hostBytes) bits))
    val error = Reg(Bool())
    val ended = RegInit(False)
  }
  val asked = io.h2c.meta.request(H2cRequest.innerStart.high downto H2cRequest.innerStart.low).asUInt
  val request = Reg(cloneOf(asked))
  val outer = Reg(Bool())
  when(in.beat =/= 0)(assume(io.h2c.meta.outer === outer && asked === request))
  when(io.h2c.fire && in.beat === 0) {
    outer := io.h2c.meta.outer
    request := asked
  }
  when(io.h2c.fire && in.frame === watched.frame) {
    when(in.beat === watched.beat) {
      watched.came := True
      watched.value := io.h2c.data.subdivideIn(8 bits)(watched.lane)
    }
    when(io.h2c.last) {
      watched.ended := True
      watched.beats := in.beat
      watched.mty := io.h2c.mty
      watched.error := io.h2c.meta.error
      watched.isOuter := io.h2c.meta.outer
      watched.start := asked
      watched.isShort := ((in.beat +^ 1) << log2Up(p.hostBytes)) - io.h2c.mty <= asked.resized
    }
  }
  val isOut =
    watched.isOuter && (watched.start < OuterHeaders.least || watched.start > OuterHeaders.most || watched.start.lsb)
  val isRefused = watched.isOuter && !isOut && watched.isShort
  when(io.whole.fire && out.frame === watched.frame) {
    // Of another frame its end has come, or this beat is not its last one.
    when(out.beat === watched.beat && !io.whole.meta.refused) {
      val isIn = !io.whole.last || watched.lane < p.hostBytes - io.whole.mty
      when(watched.came && isIn) {
        assert(io.whole.data.subdivideIn(8 bits)(watched.lane) === watched.value, "a byte is another one")
      }
    }
    when(io.whole.last) {
      when(watched.ended && isRefused) {
        assert(io.whole.meta.refused && io.whole.meta.error, "a frame without a packet goes on")
        assert(io.whole.data.asUInt === watched.beats +^ 1, "beats are counted wrongly")
      }
      when(watched.ended && !isRefused) {
        assert(!io.whole.meta.refused && out.beat === watched.beats && io.whole.mty === watched.mty, "another length")
        assert(io.whole.meta.error === (watched.error || isOut), "another error")
      }
    }
  }
  assert(out.frame <= in.frame, "a frame is made up")
  cover(
    io.whole.fire && io.whole.last && out.frame === watched.frame && watched.ended && watched.isOuter && !isOut && !isRefused
  )
  cover(io.whole.fire && io.whole.last && out.frame === watched.frame && watched.ended && isRefused)

  // While both sides are willing, something moves.
  val still = Reg(UInt(4 bits)) init 0
  when(io.h2c.fire || io.whole.fire || !io.h2c.valid || !io.whole.ready)(still := 0) otherwise (still := still + 1)
  assert(still < 8, "nothing moves")
}

class TunnelFormal extends AnyFunSuite {
  for ((cycles, more) <- Seq(10 -> Nil, 12 -> Seq(LongTest)))
    test(
      s"a frame that both ends of a tunnel pass is the same, or refused if it has no packet, in $cycles cycles",
      more: _*
    ) {
      Pdr.bounded(new TunnelProof, cycles, reduce = true)
    }
}
