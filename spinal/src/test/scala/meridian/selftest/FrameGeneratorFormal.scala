// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.selftest.port.PortGenerator
import meridian.{Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** What a generator may do behind a stop. */
object StopProof {

  /** @param may whether a frame may begin in this cycle
    * @param out  its frames
    */
  def apply[T <: Data](may: Bool, out: Stream[Fragment[T]]): Unit = {
    assert(Proof.holds(out), "a beat that waits changes")
    // The frame under way, and no beat of another.
    val ended = RegInit(False)
    when(may)(ended := False) elsewhen (out.fire && out.last)(ended := True)
    when(!may && ended)(assert(!out.valid, "a second frame goes behind a stop"))
    val inFrame = RegNextWhen(!out.last, out.fire) init False
    // None begins behind it but what waits since before.
    val waits = RegNext(out.isStall || may, False)
    when(!may && !inFrame && !RegNext(may, False) && !waits)(assert(!out.valid, "a frame begins behind a stop"))
    cover(!may && out.fire && out.last && RegNext(!may, False))
  }

  def anything(io: Bundle): Unit = for (input <- io.flatten if input.isInput) {
    val free = cloneOf(input)
    anyseq(free)
    input := free.asInstanceOf[input.type]
  }
}

/** The generator with anything at its inputs, also answers to what was not asked. */
class FrameGeneratorProof extends Component {
  val dut = FormalDut(new FrameGenerator(ShellParam(functions = 4, queues = 16)))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  StopProof.anything(io)
  assume(!(io.drained.valid && io.giveBack.ready)) // as HostSelfTest has it
  when(io.begun)(assert(io.go, "a frame begins behind a stop"))
  StopProof(io.go, io.frames)
}

/** The same at the MAC's side, where a stop takes a cycle more. */
class PortGeneratorProof extends Component {
  val dut = FormalDut(new PortGenerator(ShellParam(functions = 4, queues = 16, selfTest = true), 0))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  StopProof.anything(io)
  StopProof(RegNext(io.run, False), io.frames)
}

class FrameGeneratorFormal extends AnyFunSuite {
  test("behind a stop no frame begins and the one under way goes to its end, towards the host and for any run") {
    Pdr.prove(new FrameGeneratorProof, seconds = 300, reduce = true)
  }
  test("behind a stop no frame begins and the one under way goes to its end, at the side of the MAC") {
    Pdr.prove(new PortGeneratorProof, seconds = 300, reduce = true)
  }
  test("the proof notices a generator that goes on behind a stop") {
    Pdr.catches(new FrameGeneratorProof, " && (! all_1)) && io_run)", " && (! all_1)))", cycles = 40)
  }
}
