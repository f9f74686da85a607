// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.{LongTest, Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any operations as FetchEngine does them: on a queue that was there a cycle before, and one whose turn came is taken
  * before the next operation. What one of 4
  * queues owes is followed.
  */
class NoticesProof extends Component {
  val queues = 4
  val dut = FormalDut(new Notices(queues))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Seq(io.queue, io.add.valid, io.add.payload, io.forget, io.take, io.next.ready).foreach(anyseq(_))
  val filled = RegInit(U(0, 3 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)
  io.clear := fills
  assume(!fills || io.queue === filled.resize(2 bits))
  assume(CountOne(Seq(fills, io.add.valid, io.forget, io.take)) <= 1)
  assume(io.add.status || io.add.interrupt)
  val isSteady = RegNext(io.queue) === io.queue
  assume(fills || isSteady || !(io.add.valid || io.forget || io.take))

  // The queue whose turn came.
  val called = RegInit(False)
  val turn = Reg(UInt(2 bits))
  assume(!(called && (io.next.ready || io.add.valid || io.forget)))
  assume(!io.take || (called && io.queue === turn))
  assume(!(fills && io.next.ready))
  when(io.take)(called := False)
  when(io.next.fire) {
    called := True
    turn := io.next.payload
  }

  val followed = UInt(2 bits)
  anyconst(followed)
  val isIt = io.queue === followed
  val status, interrupt = RegInit(False)
  when(isIt && (io.take || io.forget)) {
    status := False
    interrupt := False
  }
  when(isIt && io.add.valid) {
    status := status || io.add.status
    interrupt := interrupt || io.add.interrupt
  }
  assert(
    fills || !isIt || !isSteady || (io.owed.status === status && io.owed.interrupt === interrupt),
    "what is owed is lost"
  )

  val owes = status || interrupt
  val isCalled = called && turn === followed
  val idle = Proof.count(owes && !called && !io.next.valid, io.next.valid || called || !owes, 7)
  assert(idle <= 2, "a queue owes, and no turn comes")
  val others = Proof.count(io.next.fire, !owes || isCalled, 7)
  assert(others <= queues, "a queue's turn does not come")
  cover(io.take && isIt && status && interrupt)
  cover(others === queues - 1 && owes)
}

class NoticesFormal extends AnyFunSuite {
  private val claim = "what a ring owes is told when its turn comes, which is after one of each other ring"
  test(s"$claim, in 20 cycles") {
    Pdr.bounded(new NoticesProof, cycles = 20, seconds = 200, reduce = true)
  }
  test(s"$claim, in any run", LongTest) {
    Pdr.prove(new NoticesProof, seconds = 200, reduce = true)
  }
}
