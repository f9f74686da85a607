// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.selftest.TestFrame
import spinal.core._
import spinal.lib._

/** A frame that is to be made at the MAC's side. */
case class PortFrameJob(p: ShellParam) extends Bundle {
  val length = p.lengthType()
  val sequence = UInt(64 bits)
}

/** Makes the beats of test frames of 8 bytes each, as [[meridian.selftest.TestFrame]] has them, in the transmit clock of
  * the MAC. A frame begins in the cycle in which its job is taken, and `stamp` of that cycle is its time stamp; what has
  * begun is made to its end.
  *
  * Latency: 1 cycle from a job to its first beat at the output. Throughput: one beat a cycle, no bubble between frames,
  * for frames of 40 bytes on. Back-pressure passes through; a first beat that waits keeps its stamp.
  */
class PortFrameMaker(p: ShellParam) extends Component {
  val io = new Bundle {
    val label = in Bits (16 bits)
    val destination, source = in Bits (48 bits)
    val stamp = in UInt (64 bits)
    val job = slave(Stream(PortFrameJob(p)))
    val frames = master(FrameStream(p.macBytes, HardType(new NoData)))
    val inFrame = out Bool ()
  }
  require(p.macBytes == 8, s"macBytes is ${p.macBytes}: the words of the header are of 8 bytes")
  val inFrame = RegInit(False)
  val index = Reg(UInt(log2Up(p.maxFrame / 8 + 2) bits)) init 0
  val header = Reg(UInt(3 bits)) init 0 // the word of the header, 4 is the one with the length, 5 none
  val left = Reg(p.lengthType()) // bytes behind the beats made
  val job = RegNextWhen(io.job.payload, io.job.fire)
  val stamp = RegNextWhen(io.stamp, io.job.fire)
  val rest = inFrame ? left | io.job.length

  val made = FrameStream(p.macBytes, HardType(new NoData))
  made.valid := inFrame || io.job.valid
  io.job.ready := !inFrame && made.ready
  made.last := rest <= p.macBytes
  made.fragment.mty := (U(0) - rest.resize(3)).andMask(made.last)

  /** The seed as it is turned for this beat, from the fifth on. */
  val turned = Reg(Bits(64 bits))
  val seed = RegNext(TestFrame.seed(job.sequence, stamp, io.label)) // right two cycles behind the job
  val pattern = TestFrame.word(turned, index)
  val words = TestFrame.header(io.destination, io.source, io.label, job.sequence, stamp).subdivideIn(64 bits)
  made.fragment.data := pattern
  for ((word, i) <- words.zipWithIndex) when(header === i)(made.fragment.data := word)
  when(header === 4)(made.fragment.data(15 downto 0) := job.length.asBits)

  when(made.fire) {
    inFrame := !made.last
    index := index + 1
    turned := TestFrame.turn(turned, index)
    // The seed is the pattern of word 0; word 4 is the first that has any.
    when(header === 3)(turned := seed.rotateLeft(7 * 4))
    when(header =/= 5)(header := header + 1)
    left := rest - p.macBytes
    when(made.last) {
      index := 0
      header := 0
    }
  }
  io.frames << made.m2sPipe()
  io.inFrame := inFrame
}
