// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import meridian.filter.TxMeta
import meridian.filter.queue.CreditBank
import meridian.frame.FrameWord
import spinal.core._
import spinal.lib._

/** What has come of a function since reset; the counts wrap. */
case class Arrived() extends Bundle {
  val frames = UInt(Arrived.framesBits bits)
  val bytes = UInt(Arrived.bytesBits bits)
  val mean = UInt(16 bits) // of the bytes of a descriptor, the last weighing one in eight
}

object Arrived {
  val framesBits = 16
  val bytesBits = 24
  val firstMean = 1536

  /** Cycles from a question to its answer. */
  val latency = CreditBank.latency
}

/** Counts the frames of paced queues that have arrived, for the function that pays for them. What becomes of them later
  * does not matter, because they have used the DMA engine's stream. Bytes are those of layer 2 as frames go out: padded
  * to 60, without FCS. The segments of one frame are one descriptor, so they count as one frame of their bytes together.
  * If these are more than the mean, they become the mean at once, and above the largest frame it falls by a 32nd: as much of
  * a port's buffer is at stake.
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
    val arrived = out(Arrived())
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
    val length = RegNext(beats * p.hostBytes + (p.hostBytes - io.frames.mty))
    io.queue := queue

    val bytes = RegNext(Mux(length > 65535, U(65535), length).resize(16))
    when(empty || length < Pacing.minBytes)(bytes := Pacing.minBytes)
    val more = if (p.segmentation) RegNext(RegNext(io.frames.meta.more)) else False
    val segments = Reg(UInt(17 bits)) init 0 // bytes of those before
    val all = segments + bytes
    val isSegmented = segments =/= 0
    val total = all.sat(1)
    val paid = RegNext(valid) init False
    when(paid)(segments := more ? (U(0, 1 bits) @@ total) | U(0, 17 bits))
    io.news.valid := paid && io.payer.valid && io.ready
    io.news.payload := io.payer.function
  }

  val bank = new CreditBank(functionBits, widthOf(Arrived()), reads = 2)
  bank.io.read(0) := io.payer.function
  bank.io.read(1) := io.question
  bank.io.write.valid := io.news.valid || !io.ready
  bank.io.write.payload := io.ready ? io.payer.function | clearing.resized
  io.arrived.assignFromBits(bank.io.value(1).asBits)

  val count = new Area {
    val before, after = Arrived()
    val bytes = Delay(frame.bytes, CreditBank.latency)
    before.assignFromBits(bank.io.value(0).asBits)
    val total = Delay(frame.total, CreditBank.latency)
    val isWhole = !Delay(frame.more, CreditBank.latency)
    after.frames := before.frames + U(isWhole)
    after.bytes := before.bytes + bytes
    // An eighth of the way to the last length, rounded away from 0: frames of one length have just that mean.
    val way = total.intoSInt - before.mean.intoSInt
    val more = (!way.msb && way(2 downto 0).orR).asUInt.intoSInt
    after.mean := (before.mean.intoSInt + (way >> 3) + more).asUInt.resized
    if (p.segmentation) when(way.msb && before.mean > p.maxFrame) {
      after.mean := (before.mean.intoSInt + (way >> 5)).asUInt.resized
    }
    when(Delay(frame.isSegmented, CreditBank.latency) && !way.msb)(after.mean := total)
    when(!isWhole)(after.mean := before.mean)
    when(!Delay(io.ready, CreditBank.latency, init = False)) {
      after.frames := 0
      after.bytes := 0
      after.mean := Arrived.firstMean
    }
    bank.io.next := after.asBits.asUInt
  }
}
