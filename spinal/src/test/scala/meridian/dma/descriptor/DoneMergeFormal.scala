// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any descriptors that have ended, each there for a cycle before it comes, and any engine that takes at least one of those that it is offered, and one that has
  * failed. Those of one queue and epoch are followed.
  */
class DoneMergeProof extends Component {
  val dut = FormalDut(new DoneMerge)
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.done)
  anyseq(io.dones.ready)
  anyseq(io.taken)
  assume(!io.dones.fire || (io.taken =/= 0 && io.taken <= io.dones.count))
  private def isSame(a: RingDone, b: RingDone): Bool = a.queue === b.queue && a.epoch === b.epoch
  assume(!io.done.valid || isSame(RegNext(io.done.payload), io.done.payload))
  assert(
    !(io.done.valid && io.dones.valid) || dut.isOfKept.pull() === isSame(io.done.payload, io.dones.done),
    "a descriptor is compared with another than the one that is kept"
  )
  // The engine stands at what it was offered: its number may grow meanwhile, and nothing else.
  val stalled = RegNext(io.dones.isStall) init False
  val before = RegNext(io.dones.payload)
  when(stalled) {
    assert(io.dones.valid && io.dones.done.asBits === before.done.asBits, "what is offered changes")
    assert(io.dones.count >= before.count, "what is offered becomes less")
  }
  assert(!io.dones.valid || io.dones.count =/= 0)
  assert(
    !(io.dones.valid && io.dones.done.failed) || io.dones.count === 1,
    "one that has failed is counted with others"
  )
  assert(
    !(io.dones.valid && io.dones.done.failed) || (io.done.valid && io.done.payload.asBits === io.dones.done.asBits),
    "one that has failed is not the one that waits"
  )

  val followed = RingDone()
  anyconst(followed.queue)
  anyconst(followed.epoch)
  followed.failed := False
  followed.onDescriptor := False
  private def isIt(done: RingDone): Bool =
    done.queue === followed.queue && done.epoch === followed.epoch && !done.failed
  // A failed one leaves when the engine has taken it, and in its place alone.
  assert(!(io.done.fire && io.done.failed) || (io.dones.fire && io.dones.done.asBits === io.done.payload.asBits))
  assert(!(io.dones.fire && io.dones.done.failed) || io.done.fire, "one that has failed is told twice")
  val inside = RegInit(U(0, 6 bits))
  val comes = io.done.fire && isIt(io.done.payload)
  val goes = io.dones.fire && isIt(io.dones.done)
  inside := inside + comes.asUInt - (goes ? io.taken.resize(6 bits) | U(0, 6 bits))
  val offered = io.dones.valid && isIt(io.dones.done)
  assert(inside === (offered ? io.dones.count.resize(6 bits) | U(0, 6 bits)), "one that has ended is lost")
  cover(goes && io.taken === 3 && io.dones.count === 4)
}

class DoneMergeFormal extends AnyFunSuite {
  test("each descriptor that has ended is counted once, and one that has failed alone, in any run") {
    Pdr.induction(new DoneMergeProof, steps = 3, cycles = 12)
  }
}
