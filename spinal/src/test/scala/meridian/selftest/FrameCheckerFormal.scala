// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.{LongTest, Pdr, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any beats on all queues while the checker is switched on and off. Frames are followed from outside; counters by their
  * lowest bits, which change with each event.
  */
class FrameCheckerProof extends Component {
  val p = ShellParam(queues = 16)
  val bits = 4
  val dut = FormalDut(new FrameChecker(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  anyseq(io.on)
  anyseq(io.beat.valid)
  anyseq(io.beat.payload)
  anyseq(io.now)
  for (field <- io.run.flatten if !Seq(io.run.settings.first, io.run.last).contains(field))
    field.assignFromBits(B(0, widthOf(field) bits))
  io.run.settings.first := 4
  io.run.last := 5
  io.restart := False
  io.clear.valid := False
  io.clear.payload := 0

  // A frame of the test's queues begins, and the checker is on in each cycle up to the one behind its last beat.
  val inFrame, its = RegInit(False)
  val inRange = io.beat.meta.queue >= 4 && io.beat.meta.queue <= 5
  val counts = io.on && (inFrame ? its | inRange)
  when(!io.on)(its := False)
  when(io.beat.valid) {
    inFrame := !io.beat.last
    its := counts && !io.beat.last
  }
  val ended = RegNext(io.beat.valid && io.beat.last && counts, False) && io.on
  val marked = RegNext(io.beat.meta.error || io.beat.meta.zero)

  def event(name: String): UInt = {
    val count = io.counts(FrameChecker.counts.indexWhere(_._1 == name)).resize(bits)
    count - RegNext(count, U(0, bits bits))
  }
  // One of the stages has passed, and the counters come one behind them.
  val latency = FrameChecker.stages
  val isDue = Delay(ended, latency, init = False)
  assert(event("frames") === U(isDue).resized, "a frame is not counted once with its last beat")
  assert(
    event("marked") === U(isDue && Delay(marked, latency)).resized,
    "a frame that was marked bad is not told as such"
  )
  val kinds = Seq("good", "damaged", "foreign", "too_short", "marked").map(event)
  assert(
    kinds.map(_ <= 1).andR && kinds.map(_.lsb.asUInt.resize(3)).reduce(_ + _) === U(isDue).resized,
    "a frame has not one kind"
  )
  when(event("late") =/= 0)(assert(event("skipped") === 0, "a frame is late and passes numbers over"))

  cover(event("good") === 1)
  cover(event("damaged") === 1)
  cover(event("foreign") === 1 && event("frames") === 1)
  cover(event("too_short") === 1)
}

class FrameCheckerFormal extends AnyFunSuite {
  test("each frame of the test that ends while the checker is on is counted once, and has one kind") {
    Pdr.prove(new FrameCheckerProof, seconds = 170)
  }
  test("the proof notices a frame that goes on when the checker is switched on inside it", LongTest) {
    Pdr.catches(new FrameCheckerProof, "(! came_on)", "1'b0")
  }
}
