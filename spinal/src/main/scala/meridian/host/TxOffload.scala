// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{TxMeta, TxTag}
import meridian.queue.FlushPoint
import meridian.settings.QueueSwitchWrite
import spinal.core._
import spinal.lib._

/** What is known of a frame once it may go on. */
case class TxRelease(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val tag = TxTag()
  val patches = ChecksumPatches()
  val unfilled = Bool()
  val taken = p.selfTest generate Bool()
  val outer = p.segmentation generate Bool()
}

object TxOffload {

  /** Beats in the buffer: the largest frame waits in it while the one before leaves. */
  def depth(p: ShellParam): Int = 1 << log2Up(p.maxFrame / p.hostBytes + 64)
}

/** Does what the descriptors of frames from the host request, if the frame's queue may request it (`transmit_offload`):
  * it fills in the checksums of IPv4 and of TCP or UDP, and passes on the request for a tag. Without that switch
  * descriptor metadata are ignored, because public drivers store other things there.
  *
  * A frame that requests a checksum waits until its end has come. Any other frame goes on at once, or in its turn, so
  * frames stay in order. A checksum for which the frame has no field is left out, and the frame goes on as `unfilled`.
  * So does a frame longer than the largest frame, which is dropped later for its length.
  *
  * Latency: 6 cycles from beat to beat, or 16 from the last beat of a frame that waits. Throughput: one beat a cycle,
  * no bubble between frames. Back-pressure: a stalled output fills the buffer, and then stalls the input.
  *
  * `flush` asks when every frame begun before it has left; `flushed` answers with a pulse. A new request replaces an
  * unanswered one.
  */
class TxOffload(p: ShellParam) extends Component {
  val depth = TxOffload.depth(p)
  val io = new Bundle {
    val h2c = slave(FrameStream(p.hostBytes, H2cMeta(p)))
    val take = p.selfTest generate (in Bool ()) // of the frame at h2c: frames.meta.taken is set
    val switches = slave(Flow(QueueSwitchWrite(p)))
    val frames = master(FrameStream(p.hostBytes, TxMeta(p)))
    val idle = out Bool ()
    val flush = in Bool ()
    val flushed = out Bool ()
  }

  case class Word() extends Bundle {
    val data = Bits(8 * p.hostBytes bits)
    val mty = UInt(log2Up(p.hostBytes) bits)
    val error, zero = Bool()
    val more, refused = p.segmentation generate Bool()
  }
  val words = new StreamFifo(Fragment(Word()), depth)
  // A beat is in the buffer three cycles after there was room for it.
  val room = RegNext(words.io.occupancy < depth - 8) init False
  io.h2c.ready := room

  val first = RegNextWhen(io.h2c.last, io.h2c.fire) init True
  val allowed = Mem(Bool(), p.queues)
  allowed.write(io.switches.queue.resized, io.switches.transmitOffload, io.switches.valid)

  val came = new Area {
    val valid = RegNext(io.h2c.fire) init False
    val beat = RegNext(io.h2c.payload)
    val first = RegNext(TxOffload.this.first)
    val allowNow = allowed.readSync(io.h2c.meta.queue.resized, readUnderWrite = readFirst)
    // The switch may change in a frame, and between segments of one.
    val mayAsk = if (p.segmentation) allowNow || beat.meta.segments else allowNow
    val allow = Mux(first, mayAsk, RegNextWhen(mayAsk, valid && first))
    def asks(at: Int): Bool = beat.meta.request(at) && allow
  }

  val asked = new Area {
    val valid = RegNext(came.valid) init False
    val beat = RegNext(came.beat)
    val first = RegNext(came.first)
    val ip = RegNext(came.asks(H2cRequest.ipChecksum.low))
    val l4 = RegNext(came.asks(H2cRequest.l4Checksum.low))
    val any = RegNext((came.asks(H2cRequest.ipChecksum.low) || came.asks(H2cRequest.l4Checksum.low)))
    val tag = TxTag()
    tag.insert := RegNext(came.asks(H2cRequest.insertVlan.low))
    tag.tci := beat.meta.request(15 downto 0)
    val take = p.selfTest generate RegNext(RegNext(io.take))

    words.io.push.valid := valid
    words.io.push.last := beat.last
    words.io.push.data := beat.data
    words.io.push.mty := beat.mty
    words.io.push.error := beat.meta.error
    words.io.push.zero := beat.meta.zero
    if (p.segmentation) {
      words.io.push.more := beat.meta.more
      words.io.push.refused := beat.meta.refused
    }
    assert(!valid || words.io.push.ready, "a beat found no room", FAILURE)

    // Once a frame is longer than any that is sent, nothing is gained by waiting for its end.
    val most = p.maxFrame / p.hostBytes + 1
    val before = Reg(UInt(log2Up(most + 2) bits)) init 0
    when(valid)(before := Mux(beat.last, U(0), Mux(before > most, before, before + 1)))
    val ends = beat.last && before <= most || before === most
  }

  /** A frame that asks for no checksum goes on at once, unless one before it has still to be released. */
  val order = new Area {
    val released = Bool()
    val before = Reg(UInt(log2Up(ChecksumFill.latency + 2) + 1 bits)) init 0
    val atOnce = !asked.any && before === 0
    val begins = asked.valid && asked.first && !atOnce
    before := before + U(begins) - U(released)
    val now = asked.valid && asked.first && atOnce
    val later = asked.valid && Mux(asked.any, asked.ends, asked.first && !atOnce)
    released := Delay(later, ChecksumFill.latency, init = False)
  }

  val fill = new ChecksumFill(p)
  fill.io.beat.valid := asked.valid
  fill.io.beat.last := asked.beat.last
  fill.io.beat.fragment.data := asked.beat.data
  fill.io.beat.fragment.mty := asked.beat.mty
  fill.io.beat.fragment.meta := asked.beat.meta.zero

  // With the patches; of a frame that has not ended there are none.
  val decided = new Area {
    def late[T <: Data](it: T): T = Delay(it, ChecksumFill.latency)
    val ip = late(asked.ip)
    val l4 = late(asked.l4)
    val found = fill.io.patches
    val release = TxRelease(p)
    release.queue := late(asked.beat.meta.queue)
    release.tag := late(asked.tag)
    release.patches := found.payload
    release.patches.ip.valid.allowOverride() := ip && found.valid && found.ip.valid
    release.patches.l4.valid.allowOverride() := l4 && found.valid && found.l4.valid
    release.unfilled := ip && !(found.valid && found.ip.valid) || l4 && !(found.valid && found.l4.valid)
    if (p.selfTest) release.taken := late(asked.take)
    if (p.segmentation) release.outer := late(asked.beat.meta.outer)
  }
  // As many as beats can be: it cannot overflow.
  val releases = new StreamFifo(TxRelease(p), depth)
  releases.io.push.valid := order.now || order.released
  releases.io.push.payload := decided.release
  when(order.now) {
    releases.io.push.payload.queue := asked.beat.meta.queue
    releases.io.push.tag := asked.tag
    releases.io.push.patches.ip.valid := False
    releases.io.push.patches.l4.valid := False
    releases.io.push.unfilled := False
    if (p.selfTest) releases.io.push.taken := asked.take
    if (p.segmentation) releases.io.push.outer := asked.beat.meta.outer
  }
  assert(!releases.io.push.valid || releases.io.push.ready, "a release found no room", FAILURE)

  val patcher = new FramePatcher(p)
  val leaving = new Area {
    val word = words.io.pop
    val release = releases.io.pop
    patcher.io.frames.valid := word.valid && release.valid
    word.ready := patcher.io.frames.ready && release.valid
    release.ready := patcher.io.frames.fire && word.last
    patcher.io.frames.last := word.last
    patcher.io.frames.data := word.data
    patcher.io.frames.mty := word.mty
    patcher.io.frames.meta.queue := release.payload.queue
    patcher.io.frames.meta.error := word.error
    patcher.io.frames.meta.zero := word.zero
    patcher.io.frames.meta.tag := release.tag
    patcher.io.frames.meta.unfilled := release.unfilled
    if (p.selfTest) patcher.io.frames.meta.taken := release.payload.taken
    if (p.segmentation) {
      patcher.io.frames.meta.more := word.more
      patcher.io.frames.meta.refused := word.refused
      patcher.io.frames.meta.outer := release.payload.outer
    }
    patcher.io.patches := release.patches
  }
  io.frames << patcher.io.patched

  val flushing = new FlushPoint(log2Up(depth) + 1)
  flushing.io.begin := io.h2c.fire && first
  flushing.io.end := io.frames.fire && io.frames.last
  flushing.io.flush := io.flush
  io.flushed := flushing.io.flushed
  io.idle := flushing.io.idle
}
