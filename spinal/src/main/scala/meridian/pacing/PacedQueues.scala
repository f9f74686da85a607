// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.promise.Promise
import meridian.queue.CreditBank
import spinal.core._
import spinal.lib._

/** The descriptors of paced queues: how many were posted, how many granted, and which function pays for them.
  *
  * news: a message of the DMA engine, one a cycle; it counts for paced queues only. switch: sets whether a queue is
  * paced; a queue that is switched off loses its descriptors. News and switches must not come in the same cycle.
  *
  * active: announces each queue once when it gets its first descriptor, until it is released. So a queue is in one
  * place: at rest, waiting in active, or with the block that took it from there, which may also give it `back`.
  *
  * A look at a queue (io.look) shows its descriptors in `pending` PacedQueues.latency cycles later, until the next
  * look. commit, at least that many cycles after the look, grants amount of them. In the same cycle taken says whether
  * it holds: not if the queue was drained since the look, or memory is busy with a drain. rest: the queue keeps
  * descriptors, or has to be looked at again. If not, it is released, and will be announced as active again.
  *
  * drained: the payer of a queue that was drained, whose outstanding frames may never come.
  *
  * ready 2^queueBits cycles after reset; until then messages are lost.
  */
class PacedQueues(queueBits: Int, functionBits: Int, countBits: Int = 16, segmentation: Boolean = false)
    extends Component {
  val io = new Bundle {
    val switch = slave(Flow(PacedSwitch(queueBits)))
    val news = slave(Flow(DescriptorNews(queueBits, countBits)))
    val active = master(Stream(UInt(queueBits bits)))
    val back = slave(Stream(UInt(queueBits bits)))
    val look = slave(Flow(UInt(queueBits bits)))
    val pending = out UInt (countBits bits)
    val segments = segmentation generate (out Bool ()) // with pending, of the queue's switch
    val commit = slave(Flow(UInt(countBits bits)))
    val taken, rest = out Bool ()
    val assign = slave(Flow(QueueAssign(queueBits, functionBits)))
    val drained = master(Flow(UInt(functionBits bits)))
    val arrival = in UInt (queueBits bits)
    val payer = out(Payer(functionBits)) // of arrival, 1 cycle later
    val ready = out Bool ()
  }
  val clearing = Reg(UInt(queueBits + 1 bits)) init 0
  val ready = clearing.msb
  when(!ready)(clearing := clearing + 1)
  io.ready := ready

  /** A memory with one writer that starts with zeros. */
  private def table[T <: Data](kind: HardType[T], write: Bool, at: UInt, value: T): Mem[T] = {
    val data = kind()
    data.assignFromBits(value.asBits.andMask(ready))
    val memory = Mem(kind, 1 << queueBits)
    memory.write(ready ? at | clearing.resized, data, write || !ready)
    memory
  }
  private def read[T <: Data](memory: Mem[T], at: UInt): T = memory.readSync(at, readUnderWrite = readFirst)

  val queue = RegNextWhen(io.look.payload, io.look.valid)

  /** What happens to queues, by the cycle: it enters the counters in the first, and is known in the third. */
  val news = new Area {
    val switches = table(Bool(), io.switch.valid, io.switch.queue, io.switch.paced)
    val paced = Seq(io.news.queue, io.arrival).map(read(switches, _))
    val off = RegNext(io.switch.valid && !io.switch.paced) init False
    val told = RegNext(io.news.valid && (io.news.drain || io.news.amount =/= 0)) init False
    val first = Flow(DescriptorNews(queueBits, countBits))
    first.valid := ready && (off || told && paced(0))
    first.queue := RegNext(io.switch.valid ? io.switch.queue | io.news.queue)
    first.amount := RegNext(io.news.amount)
    first.drain := off || RegNext(io.news.drain)
    val second = first.stage()
    val third = second.stage()
    val fourth = third.stage()
    val posts = Seq(first, second).map(step => step.valid && !step.drain && step.queue === queue)
    val drains = Seq(first, second, third, fourth).map(step => step.valid && step.drain && step.queue === queue)
  }

  // Descriptors told, and a mark that differs from the one in `resting` while the queue is active.
  val told = new CreditBank(queueBits, countBits + 1, reads = 2)
  told.io.read(0) := news.first.queue
  told.io.read(1) := io.look.payload
  told.io.write.valid := news.first.valid || !ready
  told.io.write.payload := ready ? news.first.queue | clearing.resized
  val here = told.io.value(0)

  val looked = Delay(io.look.valid, CreditBank.latency, init = False)
  val mark = RegNextWhen(told.io.value(1).msb, looked)
  val drains = news.third.valid && news.third.drain
  val release = Bool()
  val marks = table(Bool(), release, queue, mark)
  val resting = RegNext(read(marks, news.first.queue))
  val activates = news.third.valid && !news.third.drain && here.msb === resting
  val amount = news.third.drain ? U(0) | news.third.amount
  told.io.next := ((here.msb ^ activates) ## (here.resize(countBits) + amount)).asUInt
  when(!Delay(ready, CreditBank.latency, init = False))(told.io.next := 0)

  // Descriptors granted; a drain makes them those that were told.
  val taken = Bool()
  val used = Reg(UInt(countBits bits))
  val grants = table(
    UInt(countBits bits),
    drains || taken,
    drains ? news.third.queue | queue,
    drains ? here.resize(countBits) | (used + io.commit.payload)
  )
  val usedRead = RegNext(read(grants, io.look.payload))
  val pending = RegNextWhen(told.io.value(1).resize(countBits) - usedRead, looked)
  when(looked)(used := usedRead)
  io.pending := pending
  val segments = segmentation generate table(Bool(), io.switch.valid, io.switch.queue, io.switch.segments)
  if (segmentation) io.segments := RegNextWhen(read(segments, io.look.payload), RegNext(io.look.valid))

  // What happened to the queue since it was looked at, and may not show.
  val posted, drained = Reg(Bool())
  val postedNow = posted || news.posts.orR
  val drainedNow = drained || news.drains.orR
  posted := !io.look.valid && postedNow
  drained := !io.look.valid && drainedNow
  taken := io.commit.valid && !drainedNow && !drains
  release := taken && io.commit.payload === pending && !postedNow
  io.taken := taken
  io.rest := !release

  val assigned = Payer(functionBits)
  assigned.valid := True
  assigned.function := io.assign.function
  val assignments = table(Payer(functionBits), io.assign.valid, io.assign.queue, assigned)
  val payers = Seq(news.first.queue, io.arrival).map(read(assignments, _))
  io.drained.valid := RegNext(news.first.valid && news.first.drain, False) && payers(0).valid
  io.drained.payload := payers(0).function
  io.payer.valid := payers(1).valid && news.paced(1)
  io.payer.function := payers(1).function

  // Every active queue is in one place, so there is room for all.
  val waiting = new StreamFifo(UInt(queueBits bits), 1 << queueBits)
  val activated = RegNext(activates) init False
  waiting.io.push.valid := activated || io.back.valid
  waiting.io.push.payload := activated ? RegNext(news.third.queue) | io.back.payload
  io.back.ready := !activated
  io.active << waiting.io.pop
  assert(!waiting.io.push.isStall, "a queue is active twice", FAILURE)

  val promised = new Area {
    val out = Reg(Bits((1 << queueBits) bits)) init 0 // the queue is with whoever took it from active
    when(io.active.fire)(out(io.active.payload) := True)
    when(io.back.fire)(out(io.back.payload) := False)
    when(release)(out(queue) := False)
    val looking, held = RegInit(False) // a look has not been committed; its queue was out then, and is since
    val age = Promise.since(io.look.valid, PacedQueues.latency - 1)
    val known = looking && age === PacedQueues.latency - 1
    when(io.look.valid) {
      looking := True
      held := out(io.look.payload)
    }
    when(io.commit.valid)(looking := False)
    when(release || io.back.fire && io.back.payload === (io.look.valid ? io.look.payload | queue))(held := False)
    Promise(!io.commit.valid || known && !io.look.valid, "a grant before the queue's descriptors are known")
    Promise(!io.commit.valid || io.commit.payload <= io.pending, "a grant of more than there is")
    Promise(!io.commit.valid || held, "a grant to a queue that is nobody's to grant")
    val busy = io.commit.valid && queue === io.back.payload
    Promise(!io.back.valid || out(io.back.payload) && !busy, "a queue is given back that was not taken")
    Promise(!io.switch.valid || !io.news.valid, "a switch comes in the cycle of news")

    // A ring never holds more than the counters can tell. Of each queue the descriptors granted, as in grants.
    val granted = table(
      UInt(countBits bits),
      drains || taken,
      drains ? news.third.queue | queue,
      drains ? here.resize(countBits) | (used + io.commit.payload)
    )
    val left = here.resize(countBits) - granted.readAsync(news.third.queue)
    val posts = news.third.valid && !news.third.drain
    Promise(!posts || left +^ news.third.amount < (1 << countBits), "a ring holds more than can be counted")
  }
}

object PacedQueues {

  /** Cycles from a look to what it shows. */
  val latency = CreditBank.latency + 1
}
