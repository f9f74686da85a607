// SPDX-License-Identifier: Apache-2.0
package meridian.host.tunnel

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.host.PacketShape
import meridian.meta.TxMeta
import meridian.queue.FlushPoint
import spinal.core._
import spinal.lib._

/** Puts the outer headers that [[OuterStrip]] took off before each frame with meta.outer, or before each of its segments.
  *
  * They are as the host wrote them, so it writes lengths and checksums that are right for a segment. One thing is changed,
  * as Linux asks of a card (segmentation-offloads, "Partial Generic Segmentation Offload"): an outer header of IPv4 behind
  * at most one 802.1Q tag has an identification that grows by one from segment to segment, and the checksum that this
  * makes of its own. Of an error frame with meta.refused the beats that OuterStrip has taken are added to its count.
  *
  * Latency: none for other frames. Such a frame takes a beat a cycle and leaves a cycle later, and a segment takes the
  * beats that it has with its headers. Back-pressure passes through.
  *
  * `flush` asks when every frame begun before has left; `flushed` answers with a pulse.
  */
class OuterPrepend(p: ShellParam) extends Component {
  val io = new Bundle {
    val frames = slave(FrameStream(p.hostBytes, TxMeta(p)))
    val whole = master(FrameStream(p.hostBytes, TxMeta(p)))
    val source = master(OuterSource(p))
    val flush = in Bool ()
    val flushed = out Bool ()
    val idle = out Bool ()
  }
  val bytes = p.hostBytes
  val placeBits = log2Up(bytes)
  val rowBits = widthOf(io.source.row) + 1

  val start = io.source.start
  val moved = start - PacketShape.l3Start
  val turned = moved(placeBits - 1 downto 0)
  val gone = moved.dropLow(placeBits).asUInt // beats that it has more
  val row = Reg(UInt(rowBits bits)) init 0 // of the frame that leaves; the highest stands for those behind, too
  val isFirst = row === 0
  val before = Reg(Bits(8 * bytes bits)) // the beat before
  val rest = new Area {
    val valid = RegInit(False) // the frame has come, and its last bytes have not left
    val mty = Reg(UInt(placeBits bits))
    val meta = Reg(TxMeta(p))
  }

  val make = FrameStream(bytes, TxMeta(p))
  val made = make.m2sPipe()
  val isOuter = io.frames.valid && io.frames.meta.outer
  val isRefused = io.frames.meta.refused
  val isAhead = row < gone // nothing of the frame is in this beat
  val came =
    U(bytes, placeBits + 1 bits) - io.frames.mty +^ turned // bytes up to its end, in the beat at hand and the next

  // Bytes of the beat before, and from `turned` on those of the one at hand.
  val free = U(bytes, placeBits + 1 bits) - turned
  val window =
    Vec((0 until bytes).map(i => Mux(free > i, io.frames.data(8 * i, 8 bits), before(8 * i, 8 bits)))).asBits
  val shifted = (1 until placeBits).foldLeft(window)((data, i) => turned(i) ? data.rotateLeft(8 << i) | data)

  /** The outer header of IPv4, which is in the first row. */
  val ip = new Area {
    val data = io.source.data
    def word(at: Int): UInt = (data(8 * at, 8 bits) ## data(8 * at + 8, 8 bits)).asUInt
    val isTagged = word(12) === 0x8100
    def ofIp(at: Int): UInt = Mux(isTagged, word(PacketShape.l3Start + 4 + at), word(PacketShape.l3Start + at))
    val is = Mux(isTagged, word(16), word(12)) === 0x0800
    val isLater = RegInit(False) // a segment of the frame has left
    val number, checksum = Reg(UInt(16 bits)) // of the segment at hand, if it is a later one
    val numberNow = isLater ? number | ofIp(4)
    val checksumNow = isLater ? checksum | ofIp(10)
    val patched = Bits(8 * bytes bits)
    patched := data
    when(isLater && is) {
      for ((tag, at) <- Seq((False, PacketShape.l3Start), (True, PacketShape.l3Start + 4))) when(isTagged === tag) {
        for ((value, place) <- Seq((number, at + 4), (checksum, at + 10)))
          patched(8 * place, 16 bits) := (value(7 downto 0) ## value(15 downto 8))
      }
    }
    // In ones' complement both zeros are the same number: from 0xFFFF to 0 the sum does not grow.
    def grow(): Unit = {
      number := numberNow + 1
      checksum := numberNow.andR ? checksumNow | ((checksumNow === 0) ? U(0xfffe, 16 bits) | (checksumNow - 1))
    }
  }
  io.source.row := row.resized
  val header = isFirst ? ip.patched | io.source.data
  val ownRow = start.dropLow(placeBits).asUInt // it has headers and what is behind them
  val own = ((U(1, bytes bits) |<< start(placeBits - 1 downto 0)) - 1).asBits
  val lanes = B(bytes bits, default -> (row < ownRow)) | own.andMask(row === ownRow)

  make.valid := rest.valid || isOuter
  make.meta := rest.valid ? rest.meta | io.frames.meta
  make.last := rest.valid || !isAhead && io.frames.last && came <= bytes
  make.mty := rest.valid ? rest.mty | (U(bytes) - came).resize(placeBits).andMask(make.last)
  make.data := Vec(
    (0 until bytes).map(i => Mux(lanes(i), header(8 * i, 8 bits), shifted(8 * i, 8 bits)))
  ).asBits
  when(!rest.valid && isRefused) {
    make.data := (io.frames.data.asUInt + gone).asBits
    make.last := True
    make.mty := 0
  }
  val takes = isOuter && !rest.valid && (isRefused || !isAhead)
  when(make.fire) {
    when(!row.andR)(row := row + 1)
    when(isFirst)(ip.grow())
    when(takes) {
      before := io.frames.data
      rest.valid := io.frames.last && !make.last
      rest.mty := (U(2 * bytes) - came).resized
      rest.meta := io.frames.meta
    }
    when(make.last) {
      row := 0
      rest.valid := False
      ip.isLater := make.meta.more
    }
  }
  io.source.pop := make.fire && make.last && !make.meta.more

  val passes = !isOuter && !rest.valid && !made.valid
  made.ready := io.whole.ready
  io.frames.ready := takes && make.ready || passes && io.whole.ready
  io.whole.valid := made.valid || passes && io.frames.valid
  io.whole.payload := made.valid ? made.payload | io.frames.payload
  io.whole.meta.outer.allowOverride() := False

  val starts = RegNextWhen(io.frames.last, io.frames.fire) init True
  val flushing = new FlushPoint(2)
  flushing.io.begin := io.frames.fire && starts
  flushing.io.end := io.whole.fire && io.whole.last
  flushing.io.flush := io.flush
  io.flushed := flushing.io.flushed
  io.idle := flushing.io.idle
  assert(!isOuter || io.source.valid, "a frame has lost its outer headers", FAILURE)
}
