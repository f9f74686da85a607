// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** Keeps the value of a register back until the block has sent what was written to the host before. PCIe wants that order,
  * and drivers rely on it: "nothing is under way" or "the queue has ended" must not be heard before the last write. The block
  * does not keep it between RQ and CC (PG213, "Transmit Transaction Ordering"). It tells of each request when no completion
  * can pass it any more.
  *
  * A value waits for the posted requests that RQ took 2 cycles before or earlier; those that come behind it do not count.
  * Without any, it leaves in the cycle in which it comes. It never waits longer than `patience` cycles, in case that the
  * block does not tell of a request.
  */
class PostedOrder(patience: Int = 1 << 18) extends Component {
  val io = new Bundle {
    val taken = in Bool () // RQ has taken the first beat of a posted request
    val passed = in UInt (2 bits) // the block tells of so many
    val value = slave(Stream(Bits(32 bits)))
    val ordered = master(Stream(Bits(32 bits)))
  }

  val taken = RegNext(io.taken, init = False)
  val passed = RegNext(io.passed, init = U(0, 2 bits))
  private def less(count: UInt): UInt = (count < passed) ? U(0, 10 bits) | (count - passed)
  val within = Reg(UInt(10 bits)) init 0 // the block
  within := less(within) + taken.asUInt

  val waits = RegInit(False) // the value that is there has been counted for
  val ahead = Reg(UInt(10 bits)) init 0 // of it
  val waited = Reg(UInt(log2Up(patience) + 1 bits)) init 0
  val isFree = waits ? (ahead === 0 || waited.msb) | (within === 0)
  io.ordered << io.value.haltWhen(!isFree)
  ahead := less(waits ? ahead | within)
  waited := waits ? (waited + (!waited.msb).asUInt) | U(0)
  waits := io.value.valid && !io.ordered.fire
}
