// SPDX-License-Identifier: Apache-2.0
package meridian.counters

import meridian.SymbiYosys
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The bank with what is to be proved of it, for any one counter. */
class ProvenCounterBank(size: Int) extends CounterBank(size, 3, 2) {
  val key = anyconst(UInt(log2Up(size) bits))
  val stored = memory.readAsync(key, readUnderWrite = writeFirst)

  val sum = Reg(UInt(width bits)) init 0
  when(io.add.valid && io.ready && io.add.index === key) {
    sum := sum + io.add.amount.resized
  }
  val written = Delay(sum, 4, init = U(0, width bits))

  assume(key < size && io.add.index < size && io.read.payload < size)

  // What holds between the memory and the sum, for the induction.
  when(!clearing.active || (clearing.writes && clearing.index > key)) {
    assert(stored === written)
  }
  when(clearing.active) {
    assert(!update.valid1 && !update.valid2 && !update.valid3 && !update.valid4 && !update.valid5)
    assert(sum === 0 && written === 0)
    assert(clearing.settle <= 4)
    assert(clearing.writes || clearing.index === 0)
    assert(clearing.index < size)
  }

  // What is promised.
  val asked = Delay(io.read.valid && io.read.payload === key && io.ready, 2, init = False)
  when(asked) {
    assert(io.value.valid)
    assert(io.value.payload === Delay(written, 2, init = U(0, width bits)))
  }
}

/** Proof for any counter and any run of adds and reads: the value read is the sum of the adds given 5 or more cycles
  * before, no more and no fewer. By induction, so of unbounded length; the size is small, the structure the same.
  */
class CounterBankFormal extends AnyFunSuite {

  private def prove(size: Int): Unit =
    new SymbiYosys()
      .addEngin(SmtBmc(solver = SmtBmcSolver.Z3))
      .withProve(12)
      .doVerify(new Component {
        val dut = FormalDut(new ProvenCounterBank(size))
        assumeInitial(ClockDomain.current.isResetActive)
        anyseq(dut.io.add)
        anyseq(dut.io.read)
        dut.io.clear := False
      })

  test("no add is lost or counted twice, distributed RAM") { prove(3) }
  test("no add is lost or counted twice, block RAM") { prove(65) }
}
