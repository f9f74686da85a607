// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.crossing.Crossing
import meridian.frame.{FrameStream, FrameWord, PriorityMerge}
import meridian.ptp.PtpTime
import meridian.selftest.SelfTest
import spinal.core._
import spinal.lib._

/** Generator of a port's test, and where its frames join those of the host (transmit clock of the MAC). MacTx lets those
  * of the PS go before both.
  *
  * A frame of the host goes first, unless [[SelfTest.testAfter]] of them have gone since the test's last. So a frame
  * of the host waits for one test frame at most, and a test that was forced ends, unless the PS or an upper queue fills
  * the line.
  *
  * Latency: 1 cycle, for every frame. Throughput: one beat a cycle, no bubble between frames.
  */
class TestMerge(p: ShellParam, port: Int) extends Component {
  val io = new Bundle {
    val test = slave(PortTestTx(p)) // what comes is of the ps clock
    val time = in(PtpTime())
    val timeKnown = in Bool ()
    val host = slave(FrameStream(p.macBytes, HardType(new NoData)))
    val frames = master(FrameStream(p.macBytes, HardType(new NoData)))
    val ofTest = out Bool () // beside frames
  }
  val generator = new PortGenerator(p, port)
  generator.io.run := BufferCC(io.test.run, False)
  generator.io.plan := Crossing.held(
    io.test.plan,
    "The plan of a port test stands still from 32 cycles of ps_clk before its run begins until it ends, and what was taken over earlier is taken over again."
  )
  generator.io.time := io.time
  generator.io.timeKnown := io.timeKnown
  io.test.ready := generator.io.ready
  io.test.going := generator.io.going
  io.test.complete := generator.io.complete

  case class MergedBeat() extends Bundle {
    val word = FrameWord(p.macBytes, HardType(new NoData))
    val ofTest = Bool()
  }
  private def marked(frames: Stream[Fragment[FrameWord[NoData]]], test: Boolean) = {
    val beat = Fragment(MergedBeat())
    beat.last := frames.last
    beat.fragment.word := frames.fragment
    beat.fragment.ofTest := Bool(test)
    frames.translateWith(beat)
  }
  val merge = new PriorityMerge(MergedBeat(), SelfTest.testAfter)
  merge.io.first << marked(io.host, test = false)
  merge.io.firstThere := io.host.valid
  merge.io.second << marked(generator.io.frames, test = true)
  io.frames.arbitrationFrom(merge.io.out)
  io.frames.last := merge.io.out.last
  io.frames.fragment := merge.io.out.fragment.word
  io.ofTest := merge.io.out.fragment.ofTest
}
