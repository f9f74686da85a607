// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{C2hMeta, HashType}
import spinal.core._
import spinal.lib._

/** A frame that is to be made. */
case class FrameJob(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val length = p.lengthType()
  val sequence = UInt(64 bits)
}

/** Makes the beats of test frames, as [[TestFrame]] has them. A frame begins in the cycle in which its job is taken, and
  * that cycle is its time stamp; what has begun is made to its end.
  *
  * Latency: 1 cycle from a job to its first beat at the output. Throughput: one beat a cycle, no bubble between frames,
  * whatever their length. Back-pressure passes through; a first beat that waits keeps its stamp.
  */
class FrameMaker(p: ShellParam) extends Component {
  val bytes = p.hostBytes
  val beatBits = TestFrame.beatBits(p)
  val io = new Bundle {
    val run = in(SelfTestRun(p))
    val now = in UInt (64 bits)
    val job = slave(Stream(FrameJob(p)))
    val frames = master(FrameStream(bytes, C2hMeta(p)))
    val inFrame = out Bool ()
  }
  val inFrame = RegInit(False)
  val beat = Reg(UInt(beatBits bits)) init 0
  val left = Reg(p.lengthType()) // bytes behind the beats made
  val job = RegNextWhen(io.job.payload, io.job.fire)
  val current = inFrame ? job | io.job.payload
  val label = TestFrame.label(current.queue, io.run.number)
  val seedNow = TestFrame.seed(io.job.sequence, io.now, label)
  val seed = RegNextWhen(seedNow, io.job.fire)

  val made = FrameStream(bytes, C2hMeta(p))
  val rest = inFrame ? left | io.job.length
  made.valid := inFrame || io.job.valid
  io.job.ready := !inFrame && made.ready
  made.last := rest <= bytes
  made.fragment.mty := (U(0) - rest.resize(log2Up(bytes))).andMask(made.last)
  made.fragment.meta.function := io.run.settings.function
  made.fragment.meta.queue := current.queue
  made.fragment.meta.length := current.length
  made.fragment.meta.hash.value := 0
  made.fragment.meta.hash.kind := HashType.none
  made.fragment.meta.stripped := False
  made.fragment.meta.tci := 0

  val header = {
    val s = io.run.settings
    TestFrame.header(s.destination, s.source, label, io.job.sequence, io.now)
  }
  val pattern = TestFrame.pattern(inFrame ? seed | seedNow, beat, bytes)
  made.fragment.data := pattern
  when(!inFrame)(made.fragment.data(0, widthOf(header) bits) := header)
  val lengthBeat = TestFrame.lengthAt / bytes
  when(beat === lengthBeat) {
    made.fragment.data(8 * (TestFrame.lengthAt % bytes), p.lengthBits bits) := current.length.asBits
  }
  when(made.fire) {
    inFrame := !made.last
    beat := made.last ? U(0) | (beat + 1)
    left := rest - bytes
  }
  io.frames << made.m2sPipe()
  io.inFrame := inFrame
}
