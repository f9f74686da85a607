// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.C2hMeta
import meridian.queue.{BufferCount, CreditQuery, QueueCredit}
import spinal.core._
import spinal.lib._

object FrameGenerator {

  /** Counters of the generator, 64 bits each. */
  val counts = Seq(
    "frames" -> "frames that the generator has begun",
    "bytes" -> "their bytes",
    "denied" -> "questions for receive buffers that were denied",
    "cut" -> "frames that were planned when the test ended, and did not go"
  )
}

/** Sends test frames to the host, each with receive buffers that it has taken before, and numbered for each queue.
  *
  * It begins when `go` rises. When go falls no further frame begins, in the same cycle; that under way is made to its
  * end, buffers taken ahead are given back, and then `idle` rises.
  *
  * Latency: QueueCredit.latency + 6 cycles from go to the first beat, if buffers are there. Throughput: one beat a cycle
  * without a bubble, for frames from 60 bytes on: a frame of n bytes takes n / hostBytes cycles, rounded up. At 32 bytes a
  * beat, frames of a single beat, which are shorter than Ethernet's, reach 8 in 9 cycles. With a rate, a frame takes two
  * cycles at least. Back-pressure passes through.
  */
class FrameGenerator(p: ShellParam) extends Component {
  val io = new Bundle {
    val go = in Bool ()
    val restart = in Bool () // counters to 0
    val run = in(SelfTestRun(p))
    val now = in UInt (64 bits)
    val clear = slave(Flow(p.queueType())) // the next frame of this queue is its first
    val query = master(Stream(CreditQuery(p)))
    val answer = slave(Flow(BufferAnswer(BufferCount.neededBits)))
    val drained = slave(Flow(p.queueType()))
    val giveBack = master(Stream(BufferReturn(p, BufferCount.neededBits)))
    val frames = master(FrameStream(p.hostBytes, C2hMeta(p)))
    val begun = out Bool () // a pulse with the beginning of each frame
    val complete = out Bool () // all planned frames have begun
    val idle = out Bool ()
    val counts = out Vec (UInt(64 bits), FrameGenerator.counts.size)
  }
  // The ring has to cover the cycles from a plan to its frame, unless frames take two beats at least.
  val depth = if (p.hostBytes == 64) 16 else 8
  val plan = new FramePlan(p)
  val pace = new FramePace(p, cycles = 250 / p.hostMhz)
  val claims = new BufferClaims(p, QueueCredit.latency, BufferCount.neededBits, depth)
  val maker = new FrameMaker(p)
  for (run <- Seq(plan.io.run, claims.io.run, pace.io.run)) run := io.go
  for (settings <- Seq(plan.io.settings, pace.io.settings)) settings := io.run.settings
  plan.io.last := io.run.last
  claims.io.first := io.run.settings.first
  claims.io.last := io.run.last
  claims.io.plan << plan.io.frames
  io.query << claims.io.query
  claims.io.answer << io.answer
  claims.io.drained << io.drained
  io.giveBack << claims.io.giveBack
  maker.io.run := io.run
  maker.io.now := io.now
  io.frames << maker.io.frames

  /** The number of the oldest frame, read when it is or becomes the oldest. */
  val numbers = new Area {
    val memory = Mem(UInt(64 bits), p.queues)
    val loaded = RegInit(False)
    val frame = claims.io.frame
    val moves = frame.fire
    val read = io.go && (moves ? claims.io.nextValid | (frame.valid && !loaded))
    val address = moves ? claims.io.next | frame.payload.queue
    val stored = memory.readSync(address.resized, read, readUnderWrite = readFirst)
    when(moves || read)(loaded := read)
    when(!frame.valid && !moves)(loaded := False)
    // A frame that goes writes its queue's number while that of the next is read.
    val same = RegNextWhen(moves && claims.io.next === frame.payload.queue, read) init False
    val after = UInt(64 bits)
    val number = same ? RegNextWhen(after, moves) | stored
    after := number + 1
    memory.write(
      (io.clear.valid ? io.clear.payload | frame.payload.queue).resized,
      after.andMask(!io.clear.valid),
      moves || io.clear.valid
    )
    val goes = loaded && pace.io.open
    maker.io.job.valid := frame.valid && goes
    maker.io.job.payload.queue := frame.payload.queue
    maker.io.job.length := frame.length
    maker.io.job.sequence := number
    frame.ready := maker.io.job.ready && goes
  }

  io.begun := maker.io.job.fire
  pace.io.begun.valid := maker.io.job.fire
  pace.io.begun.payload := maker.io.job.length
  // Plans come from a register behind which a frame shows in the ring a cycle later.
  io.complete := RegNext(plan.io.complete && claims.io.idle) init False
  io.idle := RegNext(claims.io.idle && !maker.io.inFrame && !io.frames.valid && !io.go) init True

  val counting = new Area {
    val amounts = Seq(
      U(io.begun, 16 bits),
      maker.io.job.length.andMask(io.begun),
      U(claims.io.denied, 16 bits),
      claims.io.cut.payload.resize(16).andMask(claims.io.cut.valid)
    )
    for ((count, amount) <- io.counts.zip(amounts)) {
      val sum = Reg(UInt(64 bits)) init 0
      sum := sum + RegNext(amount, U(0))
      when(io.restart)(sum := 0)
      count := sum
    }
  }
}
