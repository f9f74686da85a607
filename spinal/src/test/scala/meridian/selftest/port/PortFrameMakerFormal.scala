// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.{Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The maker with jobs of any length up to seven beats, and any back-pressure. */
class PortFrameMakerProof extends Component {
  val dut = FormalDut(new PortFrameMaker(ShellParam(selfTest = true)))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  anyseq(io.job.valid) // a job may go again before it is taken, as at a stop
  anyseq(io.job.payload)
  anyseq(io.frames.ready)
  assume(io.job.length =/= 0 && io.job.length <= 7 * 8)
  io.stamp := 0
  io.label := 0
  io.destination := 0
  io.source := 0

  val out = io.frames
  assert(Proof.holds(out))
  // Beats that are still to come of the job taken last, and one in the register before the output.
  val due = Reg(UInt(3 bits)) init 0
  val length = RegNextWhen(io.job.length, io.job.fire)
  val beats = ((io.job.length + 7) >> 3).resize(3 bits)
  val moved = !out.valid || out.ready
  when(io.job.fire) {
    assert(due === 0, "a frame begins inside another")
    due := beats - 1
  } elsewhen (due =/= 0 && moved)(due := due - 1)
  assert(io.inFrame === (due =/= 0))
  when(due =/= 0)(assert(!io.job.fire))
  // What has begun goes on without a gap, whatever becomes of jobs.
  val made = RegNext(io.job.fire || due =/= 0 && moved, False)
  when(made)(assert(out.valid))
  when(out.valid && made) {
    assert(out.last === (due === 0))
    when(out.last)(assert(out.fragment.mty === (U(0) - length).resize(3)))
    when(!out.last)(assert(out.fragment.mty === 0))
  }
  cover(out.fire && out.last && RegNext(out.fire && out.last, False))
}

class PortFrameMakerFormal extends AnyFunSuite {
  test("a frame that has begun goes to its end, with as many beats as its length says, and begins in no other") {
    Pdr.prove(new PortFrameMakerProof, seconds = 170)
  }
}
