// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.selftest.TestFrame
import meridian.{Pdr, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The taker with any beats, also of runts and of frames without end, and a test that starts and ends at any time. */
class FrameTakerProof extends Component {
  val dut = FormalDut(new FrameTaker(ShellParam(selfTest = true)))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  for (input <- Seq(io.armed, io.label, io.beat.valid, io.beat.payload, io.stamp, io.length)) anyseq(input)

  /** Beats of the frame before this one, and whether those say that it is of the run. */
  val before = Reg(UInt(2 bits)) init 0
  val armed, mine, foreign = RegInit(False)
  val isTest =
    io.beat.data(47 downto 32) === B(((TestFrame.etherType & 255) << 8) | (TestFrame.etherType >> 8), 16 bits)
  when(io.beat.valid) {
    when(before =/= 2)(before := before + 1)
    when(before === 0)(armed := io.armed)
    when(before === 1) {
      mine := armed && io.armed && isTest && io.beat.data(63 downto 48) === io.label
      foreign := armed && io.armed && isTest && io.beat.data(63 downto 48) =/= io.label
    }
    when(io.beat.last)(before := 0)
  }
  val ends = io.beat.valid && io.beat.last
  when(ends)(assert(io.take === (before === 2 && mine), "a frame is taken if and only if it is of the run"))
  assert(io.result.taken === Delay(ends && before === 2 && mine, FrameTaker.latency, init = False), "each is told once")
  assert(io.result.foreign === Delay(ends && before === 2 && foreign, FrameTaker.latency, init = False))
  val passed = RegInit(False) setWhen (ends && before === 2 && !mine)
  cover(ends && io.take && passed)
}

class FrameTakerFormal extends AnyFunSuite {
  test("exactly the frames of the run are taken, whenever it starts and ends, and each is told once") {
    Pdr.prove(new FrameTakerProof, seconds = 170)
  }
}
