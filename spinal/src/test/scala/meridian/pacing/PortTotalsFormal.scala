// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The totals with what is to be proved of them, for any visits, while functions change their port in any cycle. */
class ProvenPortTotals(functionBits: Int, shareBits: Int)
    extends PortTotals(ShellParam(ports = 2), functionBits, shareBits, totalBits = functionBits + shareBits) {
  val functions = 1 << functionBits
  val visiting = promised.visiting
  val kept = (0 until functions).map(function => shares.readAsync(U(function, functionBits bits)))
  def sum(port: Int): UInt = kept.zipWithIndex
    .map { case (share, function) =>
      share.bytes.andMask(share.port === port && !(visiting && io.function === function)).resize(totalBits)
    }
    .reduce(_ + _)

  when(io.ready) {
    for (port <- 0 until 2) {
      assert(io.totals(port) === sum(port))
      when(visiting && promised.age === PortTotals.latency - 1 && io.sampled === port)(assert(io.others === sum(port)))
    }
  } otherwise {
    assert(!visiting && io.totals.map(_ === 0).andR)
    // What the induction rests on: so far the clearing has come.
    for ((share, function) <- kept.zipWithIndex)
      when(clearing > function)(assert(share.asBits === 0))
  }
}

/** By induction, for any run of visits. Small counters and two functions, the structure the same. */
class PortTotalsFormal extends AnyFunSuite {
  class Dut extends Component {
    val dut = FormalDut(new ProvenPortTotals(functionBits = 1, shareBits = 2))
    assumeInitial(ClockDomain.current.isResetActive)
    for (signal <- Seq(dut.io.function, dut.io.port, dut.io.share)) anyseq(signal)
    for (signal <- Seq(dut.io.begins, dut.io.ends)) anyseq(signal)
  }
  test("the total of a port is what its functions have on their way, though they change their port") {
    Proof().withProve(8).doVerify(new Dut)
  }
  test("the proof notices a share that is kept for the port the function has at the end of its visit", LongTest) {
    Pdr.catches(new Dut, "assign next_port = port_1;", "assign next_port = io_port;")
  }
}
