// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The bridge with an AXI4-Lite slave that does anything. */
class RegToAxiLiteProof extends Component {
  val timeout = 4
  val dut = FormalDut(new RegToAxiLite(4, timeout))
  assumeInitial(ClockDomain.current.isResetActive)
  val (bus, axi) = (dut.io.bus, dut.io.axi)
  val waits = RegInit(False) setWhen (bus.cmd.fire) clearWhen (bus.rsp.valid)
  Proof.drive(bus.cmd)
  assume(!waits || !bus.cmd.valid)
  for (ready <- Seq(axi.aw.ready, axi.w.ready, axi.ar.ready)) anyseq(ready)
  anyseq(axi.b.valid)
  anyseq(axi.b.payload)
  anyseq(axi.r.valid)
  anyseq(axi.r.payload)
  anyseq(dut.io.clear)

  when(bus.rsp.valid)(assert(waits, "an answer that nobody asked for"))
  val since = Proof.count(waits, !waits, timeout + 4)
  assert(since < timeout + 3, "an access without an answer")
  when(waits)(assert(!bus.cmd.ready || bus.rsp.valid))
  // Until a time-out, a reset or its end an access keeps the rules of AXI.
  val calm = !dut.io.clear && !dut.io.hung
  for (stream <- Seq(axi.aw, axi.ar)) {
    val stalled = RegNext(stream.isStall && calm) init False
    when(stalled && calm)(assert(stream.valid && stream.payload.asBits === RegNext(stream.payload.asBits)))
  }
  when(dut.io.hung && RegNext(dut.io.hung, False)) {
    assert(!axi.aw.valid && !axi.w.valid && !axi.ar.valid, "a slave that hangs is asked again")
  }
  cover(bus.rsp.valid && !bus.rsp.refused)
  cover(dut.io.hung)
}

class RegToAxiLiteFormal extends AnyFunSuite {
  test("each access is answered once and in time, whatever the slave does, for any run") {
    Pdr.prove(new RegToAxiLiteProof)
  }
}
