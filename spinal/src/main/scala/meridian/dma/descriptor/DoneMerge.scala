// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import spinal.core._
import spinal.lib._

/** Descriptors of a queue that have ended, one behind the other; one alone if it has failed. */
case class RingDones() extends Bundle {
  val done = RingDone()
  val count = UInt(DoneMerge.bits bits)
}

object DoneMerge {
  val bits = 5

  /** Joins two sources. Of each, too, queue and epoch are there in the cycle before its turn. */
  def turns(usual: Stream[RingDone], other: Stream[RingDone]): Stream[RingDone] = {
    val isOther = RegInit(False)
    val isSettled = RegNext(isOther) === isOther
    val joined = Stream(RingDone())
    joined.valid := isSettled && (isOther ? other.valid | usual.valid)
    joined.payload := isOther ? other.payload | usual.payload
    usual.ready := joined.ready && isSettled && !isOther
    other.ready := joined.ready && isSettled && isOther
    // What is offered stays until it is taken.
    when(isSettled && !joined.isStall)(isOther := !isOther && other.valid)
    joined
  }
}

/** Makes one of descriptors that have ended while FetchEngine was at something else: those of a queue that follow one
  * another and have not failed. It has room for those of one queue, up to 31; one of another queue waits until they are
  * taken. One that has failed is taken when FetchEngine has taken it, so that the queue is stopped then. One passes in
  * a cycle, and the next may follow it in each. Queue and epoch of one are there in the cycle before it, too.
  *
  * `taken` of those at `dones` are taken with its ready, at least one.
  */
class DoneMerge extends Component {
  val io = new Bundle {
    val done = slave(Stream(RingDone()))
    val dones = master(Stream(RingDones()))
    val taken = in UInt (DoneMerge.bits bits)
  }

  val kept = Reg(RingDone())
  val count = RegInit(U(0, DoneMerge.bits bits))
  val isEmpty = count === 0
  // What comes is kept while there is none, so it is the same in the next cycle.
  val isOfKept = RegNext(isEmpty || (io.done.payload.queue === kept.queue && io.done.epoch === kept.epoch))
  private def isKept(now: Data): Bool = now.asBits === RegNext(now.asBits)
  assert(
    !io.done.valid || (isKept(io.done.payload.queue) && isKept(io.done.epoch)),
    "a descriptor has ended whose queue or epoch was not there before",
    FAILURE
  )
  val isSame = isOfKept && !io.done.failed && !kept.failed
  io.done.ready := io.done.failed ? (io.dones.fire && kept.failed) | (isEmpty || (isSame && !count.andR))
  val adds = isEmpty ? io.done.valid | (io.done.fire && !io.done.failed)
  io.dones.valid := !isEmpty
  io.dones.done := kept
  io.dones.count := count
  when(isEmpty)(kept := io.done.payload)
  count := count + adds.asUInt - (io.dones.fire ? io.taken | U(0, DoneMerge.bits bits))
}
