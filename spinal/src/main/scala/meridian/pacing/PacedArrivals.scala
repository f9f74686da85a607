// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import meridian.frame.FrameWord
import meridian.meta.TxMeta
import meridian.queue.CreditBank
import spinal.core._
import spinal.lib._

/** What has come of a function since reset; the counts wrap. */
case class Arrived(p: ShellParam) extends Bundle {
  val frames = UInt(Arrived.framesBits bits)
  val bytes = UInt(Arrived.bytesBits bits)
  val mean = UInt(Arrived.meanBits(p) bits) // of the bytes of a descriptor, the last weighing one in eight
}

object Arrived {
  val framesBits = 16
  val bytesBits = 24
  val firstMean = 1536

  /** Bits of a mean. The segments of a frame have more bytes together than the frame. */
  def meanBits(p: ShellParam): Int = if (p.segmentation) 17 else 16

  /** Cycles from a question to its answer. */
  val latency = CreditBank.latency
}

/** Counts the frames of paced queues that have arrived, for the function that pays for them. What becomes of them later
  * does not matter, because they have used the DMA engine's stream. Bytes are those of layer 2 as frames go out: padded
  * to 60, without FCS. A frame that was refused is charged what it was before.
  *
  * The segments of one frame are one descriptor, so they count as one frame. What they need of a port's buffer together
  * becomes the mean at once if it is more, and above the largest frame the mean falls by a 32nd: as much is at stake.
  *
  * frames: the frames that TxFilter takes, which this block only watches. One frame a cycle. A frame shows in `arrived`
  * Arrived.latency cycles after a question that was asked in a later cycle than the one in which `news` reported the
  * frame.
  */
class PacedArrivals(p: ShellParam, functionBits: Int) extends Component {
  val io = new Bundle {
    val frames = slave(Flow(Fragment(FrameWord(p.hostBytes, TxMeta(p)))))
    val queue = out(p.queueType()) // of the beat a cycle ago
    val payer = in(Payer(functionBits)) // of queue, 1 cycle later
    val question = in UInt (functionBits bits)
    val arrived = out(Arrived(p))
    val news = master(Flow(UInt(functionBits bits)))
    val ready = out Bool ()
  }

  val clearing = Reg(UInt(functionBits + 1 bits)) init 0
  io.ready := clearing.msb
  when(!io.ready)(clearing := clearing + 1)

  val frame = new Area {
    val most = (1 << 16) / p.hostBytes
    val beats = Reg(UInt(log2Up(most + 1) bits)) init 0
    when(io.frames.valid) {
      when(io.frames.last)(beats := 0) elsewhen (beats =/= most)(beats := beats + 1)
    }
    val valid = RegNext(io.frames.valid && io.frames.last) init False
    val queue = RegNext(io.frames.meta.queue)
    val empty = RegNext(io.frames.meta.zero)
    val came = beats * p.hostBytes + (p.hostBytes - io.frames.mty)
    val length = RegNext(if (p.segmentation) Mux(io.frames.meta.refused, refused.resize(came.getWidth), came) else came)
    io.queue := queue

    val bytes = RegNext(Mux(length > 65535, U(65535), length).resize(16))
    when(empty || length < Pacing.minBytes)(bytes := Pacing.minBytes)
    val paid = RegNext(valid) init False

    /** Bytes of the beats that a refused frame stands for. */
    def refused: UInt = (io.frames.data.take(16).asUInt << log2Up(p.hostBytes))

    // The segments of a frame: what they need of a port's buffer together.
    val cut = p.segmentation generate new Area {
      val more = RegNext(RegNext(io.frames.meta.more))
      val space = RegNext(((length +^ (p.hostBytes + 3)) >> log2Up(p.hostBytes)) << log2Up(p.hostBytes))
      val before = Reg(UInt(Arrived.meanBits(p) bits)) init 0
      val sum = before +^ space
      val total = Mux(sum >= (1 << Arrived.meanBits(p)), U(before.maxValue), sum).resize(before.getWidth)
      when(paid)(before := more ? total | U(0))
    }
    val isWhole = if (p.segmentation) !cut.more else True
    val isSegment = if (p.segmentation) cut.more || cut.before =/= 0 else False
    val total = if (p.segmentation) Mux(isSegment, cut.total, bytes.resize(Arrived.meanBits(p))) else bytes
    io.news.valid := paid && io.payer.valid && io.ready
    io.news.payload := io.payer.function
  }

  val bank = new CreditBank(functionBits, widthOf(Arrived(p)), reads = 2)
  bank.io.read(0) := io.payer.function
  bank.io.read(1) := io.question
  bank.io.write.valid := io.news.valid || !io.ready
  bank.io.write.payload := io.ready ? io.payer.function | clearing.resized
  io.arrived.assignFromBits(bank.io.value(1).asBits)

  val count = new Area {
    val before, after = Arrived(p)
    val bytes = Delay(frame.bytes, CreditBank.latency)
    before.assignFromBits(bank.io.value(0).asBits)
    val total = Delay(frame.total, CreditBank.latency)
    val isWhole = if (p.segmentation) Delay(frame.isWhole, CreditBank.latency) else True
    after.frames := before.frames + U(isWhole)
    after.bytes := before.bytes + bytes
    // An eighth of the way to the last length, rounded away from 0: frames of one length have just that mean.
    val way = total.intoSInt - before.mean.intoSInt
    val more = (!way.msb && way(2 downto 0).orR).asUInt.intoSInt
    after.mean := (before.mean.intoSInt + (way >> 3) + more).asUInt.resized
    if (p.segmentation) {
      when(way.msb && before.mean > p.maxFrame)(after.mean := (before.mean.intoSInt + (way >> 5)).asUInt.resized)
      when(Delay(frame.isSegment, CreditBank.latency) && !way.msb)(after.mean := total)
      when(!isWhole)(after.mean := before.mean)
    }
    when(!Delay(io.ready, CreditBank.latency, init = False)) {
      after.frames := 0
      after.bytes := 0
      after.mean := Arrived.firstMean
    }
    bank.io.next := after.asBits.asUInt
  }
}
