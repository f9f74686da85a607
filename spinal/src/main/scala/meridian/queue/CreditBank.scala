// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import spinal.core._
import spinal.lib._

/** Counters in block RAM with one writer that changes one a cycle, seen by every read as if each change took no time.
  *
  * An operation enters with its addresses, write and reads at once. CreditBank.latency cycles later value shows the
  * counters read, with all writes of operations before this one, and the writer gives next in the same cycle.
  *
  * @param addressBits a bank of 2^addressBits counters
  * @param countBits   bits of a counter
  * @param reads       read ports
  */
class CreditBank(addressBits: Int, countBits: Int, reads: Int) extends Component {
  val io = new Bundle {
    val read = in Vec (UInt(addressBits bits), reads)
    val value = out Vec (UInt(countBits bits), reads)
    val write = slave(Flow(UInt(addressBits bits)))
    val next = in UInt (countBits bits)
  }

  // The operation in the cycles after the one it enters in; its value is known from the third on.
  val write1 = io.write.stage()
  val write2 = write1.stage()
  val write3 = write2.stage()
  val value3 = RegNext(io.next)
  val value4 = RegNext(value3)

  val memory = for (port <- 0 until reads) yield {
    val memory = Mem(UInt(countBits bits), 1 << addressBits)
    memory.write(write3.payload, value3, write3.valid)
    // The three operations before this one are not yet in the memory when it is read.
    val address = io.read(port)
    def meets(write: Flow[UInt]): Bool = RegNext(write.valid && write.payload === address)
    val (meets1, meets2, meets3) = (meets(write1), meets(write2), meets(write3))
    val read = memory.readSync(address, readUnderWrite = readFirst)
    val older = RegNext(meets2 ? value3 | (meets3 ? value4 | read))
    io.value(port) := RegNext(meets1) ? value3 | older
    memory
  }
}

object CreditBank {
  val latency = 2
}
