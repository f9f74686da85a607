// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any values and requests, and a block that passes requests on at any time, up to two a cycle, or never. */
class PostedOrderProof(patience: Int) extends Component {
  val dut = FormalDut(new PostedOrder(patience))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.value)
  anyseq(io.taken)
  anyseq(io.passed)
  anyseq(io.ordered.ready)

  val inside = Reg(UInt(3 bits)) init 0 // requests that the block has taken and not passed on
  assume(io.passed <= 2 && io.passed <= inside && !(io.taken && inside === 5))
  inside := inside + io.taken.asUInt - io.passed
  val before = RegNext(inside) init 0 // a cycle ago, when the register's value was looked at
  val passed = RegNext(io.passed) init 0

  val isLater = RegInit(False) // the value was there before
  val left = Reg(UInt(3 bits)) init 0 // requests that are before it
  val waited = Reg(UInt(log2Up(patience) + 2 bits)) init 0
  when(io.value.valid && !io.ordered.fire) {
    left := (isLater ? left | (before - passed)) - io.passed.min(isLater ? left | (before - passed))
    when(!waited.andR)(waited := waited + 1)
  } otherwise (waited := 0)
  isLater := io.value.valid && !io.ordered.fire
  when(io.ordered.fire) {
    assert((isLater ? left | before) === 0 || waited > patience, "a value passes a request")
    assert(io.value.fire && io.ordered.payload === io.value.payload)
  }
  val stalled = RegNext(io.ordered.isStall) init False
  assert(!stalled || io.ordered.valid, "what is offered is taken back")
  assert(!(waited > patience + 1) || io.ordered.valid, "a value waits for too long")
  when(before === 0 && !isLater && io.value.valid)(assert(io.ordered.valid, "a value waits for nothing"))
  cover(io.ordered.fire && isLater && waited > 3 && left === 0)
  cover(io.ordered.fire && left =/= 0 && isLater)
}

class PostedOrderFormal extends AnyFunSuite {
  test("no value passes a request that the block had before, and none waits for longer than it may, in any run") {
    Pdr.prove(new PostedOrderProof(4), reduce = true)
  }
}
