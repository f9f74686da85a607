// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import spinal.core._
import spinal.lib._

/** A change of the buffers a queue has been given: amount more; with drain, none is left. */
case class CreditPost(queueBits: Int, countBits: Int) extends Bundle {
  val queue = UInt(queueBits bits)
  val amount = UInt(countBits bits)
  val drain = Bool()
}

/** A wish for buffers of a queue; without enforce it is granted and takes nothing. */
case class CreditTake(queueBits: Int) extends Bundle {
  val queue = UInt(queueBits bits)
  val known = Bool() // there is such a queue
  val enforce = Bool()
}

/** Buffers posted and taken, two counters a queue that wrap; their difference is what a queue has.
  *
  * One post and one take a cycle; needed, 1 or more, comes CreditBank.latency cycles after its take, granted
  * CreditCounters.latency cycles after it. Posts and takes are as if carried out in the order of their cycles; of the
  * same cycle and queue, a drain before the take and an amount after it. A queue must not be given more than
  * 2^countBits - 1 buffers at a time.
  *
  * The posted counter is written by posts, the taken counter by takes. A drain makes posted equal to taken.
  *
  * ready 2^queueBits cycles after reset; until then posts are lost and takes with enforce are not granted.
  */
class CreditCounters(queueBits: Int, countBits: Int, neededBits: Int) extends Component {
  require(neededBits <= countBits, s"neededBits is $neededBits: at most countBits, $countBits")
  val io = new Bundle {
    val post = slave(Flow(CreditPost(queueBits, countBits)))
    val take = slave(Flow(CreditTake(queueBits)))
    val needed = in UInt (neededBits bits)
    val granted = master(Flow(Bool()))
    val ready = out Bool ()
  }

  val clearing = Reg(UInt(queueBits + 1 bits)) init 0
  val ready = clearing.msb
  when(!ready)(clearing := clearing + 1)
  io.ready := ready

  val posted = new CreditBank(queueBits, countBits, reads = 2)
  val taken = new CreditBank(queueBits, countBits, reads = 2)
  for (bank <- Seq(posted, taken)) {
    bank.io.read(0) := io.post.queue
    bank.io.read(1) := io.take.queue
  }
  posted.io.write.valid := io.post.valid || !ready
  posted.io.write.payload := ready ? io.post.queue | clearing.resized
  taken.io.write.valid := io.take.valid || !ready
  taken.io.write.payload := ready ? io.take.queue | clearing.resized

  // Where the counters are known.
  val change = new Area {
    val post = Delay(io.post.payload, CreditBank.latency)
    val take = Delay(io.take.payload, CreditBank.latency)
    val valid = Delay(io.take.valid, CreditBank.latency, init = False)
    val live = Delay(ready, CreditBank.latency, init = False)
    val drained = Delay(io.post.valid && io.post.drain && io.post.queue === io.take.queue, CreditBank.latency)

    posted.io.next := post.drain ? taken.io.value(0) | (posted.io.value(0) + post.amount)
    val held = posted.io.value(1) - taken.io.value(1)
    val enough = held >= io.needed && take.known && !drained && live
    taken.io.next := taken.io.value(1)
    when(enough && take.enforce)(taken.io.next := taken.io.value(1) + io.needed)
    when(!live) {
      posted.io.next := 0
      taken.io.next := 0
    }
    io.granted.valid := RegNext(valid) init False
    io.granted.payload := RegNext(enough || !take.enforce)
  }
}

object CreditCounters {
  val latency = CreditBank.latency + 1
}
