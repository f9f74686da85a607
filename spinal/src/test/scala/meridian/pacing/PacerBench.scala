// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.Samplings._
import meridian.ShellParam
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** A host queue as the DMA engine sees it. Counts of descriptors. */
class HostQueue {
  var function = -1
  var paced = false
  var cut = false // its frames may be cut into segments
  var size: () => Int = () => 60
  var keep = 0 // descriptors the host keeps posted
  var posted, granted, fetched = 0L // since the queue was started
  var unsaid = 0 // posted, and not yet told
  var listed = false
  var stopped = false // to be told as invalid
}

/** The pacer with a DMA engine that fetches descriptors on credit, `trip` cycles away, and a stream of all queues that
  * drains at `drain` bytes a cycle. It holds the grants against what was posted.
  */
class PacerBench(val p: ShellParam, val dut: Pacer, random: Random, trip: Int = 500, drain: Double = 12.5) {
  val cd = dut.clockDomain
  val queues = Array.fill(p.queues)(new HostQueue)
  val bytes = new Array[Long](p.functions) // that have come, with padding
  val frames = new Array[Long](p.functions)
  var cycle = 0L
  private val coming = mutable.Queue[(Long, Int, Int)]() // when, queue, length
  protected val stream = mutable.Queue[(Int, Int)]() // queue, length
  private val switches = mutable.Queue[(Int, Boolean)]()
  private val rates = mutable.Queue[(Int, Boolean, Long)]()
  // As the registers do after reset.
  for (function <- 0 until p.functions; minimum <- Seq(false, true)) rates += ((function, minimum, 0L))
  private val talk = mutable.Queue[Int]()
  private val answers = mutable.Queue[Int](-1, -1)
  private var budget = 0.0
  private var left = 0
  protected val granted = mutable.Queue[Int]() // queues with something to fetch, in turn
  private var current = (0, 0)

  cd.forkStimulus(4)
  for (flow <- Seq(dut.io.status.valid, dut.io.switches.valid, dut.io.rate.valid, dut.io.frames.valid)) flow #= false
  dut.io.owner.result.valid #= false
  val ports = Array.fill(p.functions)(0) // of each function
  dut.io.buffered.foreach(_ #= 0)
  dut.io.sends #= (BigInt(1) << p.ports) - 1
  dut.io.credit.ready #= false
  dut.io.status.payload.mm #= false
  cd.waitSampling()

  def idle: Boolean = dut.io.idle.toBoolean

  def rate(function: Int, megabits: Double, minimum: Boolean = false): Unit =
    rates += ((function, minimum, PacerBench.rate(megabits)))

  def start(queue: Int, function: Int, keep: Int, cut: Boolean = false)(size: => Int): Unit = {
    val q = queues(queue)
    q.cut = cut
    q.function = function
    q.size = () => size
    q.keep = keep
    q.paced = true
    switches += ((queue, true))
  }

  /** Every queue that was handed out is in the list of a function, and no other; once a visit is over. */
  def checkLists(): Unit = if (!dut.engine.io.back.valid.toBoolean) {
    val out = dut.queues.promised.out.toBigInt
    val listed = dut.engine.lists.promised.listed.toBigInt
    assert(
      out == listed,
      s"queues in no list: ${(out &~ listed).toString(16)}, at rest in a list: ${(listed &~ out).toString(16)}"
    )
  }

  /** What the pacer takes to be on its way to each port, against the sum of what it keeps of the functions; once a visit
    * is over.
    */
  def checkTotals(): Unit = {
    val onTheWay = dut.engine.onTheWay
    val kept = (0 until 1 << dut.functionBits).map(onTheWay.shares.getBigInt(_))
    val bytesBits = widthOf(onTheWay.io.share)
    val shares = kept.map(word => ((word >> bytesBits).toInt, word & ((BigInt(1) << bytesBits) - 1)))
    for ((total, port) <- onTheWay.totals.zipWithIndex) {
      val sum = shares.collect { case (`port`, bytes) => bytes }.sum
      assert(total.toBigInt == sum, s"$sum bytes are on their way to port $port, and its total is ${total.toBigInt}")
    }
  }

  /** The driver invalidates the queue; what was fetched may still come. */
  def stop(queue: Int): Unit = {
    queues(queue).keep = 0
    queues(queue).stopped = true
    forget(queues(queue))
    talk += queue
  }

  /** The switch is taken away, as by a function level reset. */
  def unpace(queue: Int): Unit = {
    queues(queue).keep = 0
    queues(queue).paced = false
    forget(queues(queue))
    switches += ((queue, false))
  }

  private def forget(q: HostQueue): Unit = {
    q.posted = 0
    q.granted = 0
    q.fetched = 0
    q.unsaid = 0
  }

  def run(cycles: Int): Unit = {
    for ((port, function) <- ports.zipWithIndex) dut.io.ports(function) #= port
    drive()
    var left = cycles
    cd.eachSampling(cycles) {
      cycle += 1
      sample()
      left -= 1
      if (left > 0) drive()
    }
  }

  private def drive(): Unit = {
    control()
    engine()
    beat()
  }

  private def control(): Unit = {
    dut.io.rate.valid #= rates.nonEmpty
    if (rates.nonEmpty) {
      val (function, minimum, value) = rates.dequeue()
      dut.io.rate.function #= function
      dut.io.rate.minimum #= minimum
      dut.io.rate.rate #= value
    }
    dut.io.switches.valid #= switches.nonEmpty
    dut.io.status.valid #= false
    if (switches.nonEmpty) {
      val (queue, paced) = switches.dequeue()
      dut.io.switches.queue #= queue
      dut.io.switches.paced #= paced
      if (p.segmentation) dut.io.switches.transmitSegments #= paced && queues(queue).cut
    } else if (talk.nonEmpty) {
      val number = talk.dequeue()
      val q = queues(number)
      dut.io.status.valid #= true
      dut.io.status.qid #= number
      dut.io.status.c2h #= false
      dut.io.status.qinv #= q.stopped
      dut.io.status.qen #= !q.stopped
      dut.io.status.avl #= q.unsaid
      if (!q.stopped) q.unsaid = 0
      q.stopped = false
    }
    // The host posts in lumps, a queue a cycle.
    val q = queues((cycle % p.queues).toInt)
    if (q.keep > 0 && q.unsaid == 0 && q.posted - q.fetched <= q.keep / 2) {
      val more = 1 + random.nextInt(q.keep / 2 + 1)
      q.posted += more
      q.unsaid = more
      talk += (cycle % p.queues).toInt
    }
  }

  protected var under = 0 // bytes fetched that wait for the stream

  protected def engine(): Unit = {
    while (granted.nonEmpty) {
      val number = granted.dequeue()
      val q = queues(number)
      if (q.granted > q.fetched) {
        q.fetched += 1
        val size = q.size()
        coming += ((cycle + trip, number, size))
        under += size
        granted += number
        return
      }
      q.listed = false
    }
  }

  /** What has made its way from the host. */
  protected def arrive(): Unit =
    while (coming.nonEmpty && coming.head._1 <= cycle) {
      val (_, queue, length) = coming.dequeue()
      stream += ((queue, length))
    }

  protected def beat(): Unit = {
    arrive()
    budget = (budget + drain) min (4 * drain + 2 * p.hostBytes)
    dut.io.frames.valid #= false
    if (left == 0 && stream.nonEmpty && budget > 0) {
      current = stream.dequeue()
      left = current._2 max 1
    }
    if (left > 0 && budget > 0) {
      val now = left min p.hostBytes
      dut.io.frames.valid #= true
      dut.io.frames.last #= left == now
      dut.io.frames.mty #= p.hostBytes - now
      dut.io.frames.meta.queue #= current._1
      dut.io.frames.meta.zero #= current._2 == 0
      left -= now
      budget -= now
      if (left == 0) {
        if (current._2 < 60) budget -= 60 - current._2
        val function = queues(current._1).function
        bytes(function) += current._2 max 60
        frames(function) += 1
      }
    }
  }

  private def sample(): Unit = {
    val engine = dut.engine
    if (engine.onTheWay.io.ready.toBoolean && engine.phase.toEnum == engine.Phase.rest) {
      checkTotals()
      checkLists()
    }
    // The owner of a queue is known two cycles after the question.
    answers += (if (dut.io.owner.query.valid.toBoolean) dut.io.owner.query.payload.toInt else -1)
    answers.dequeue()
    val asked = answers.head
    dut.io.owner.result.payload.valid #= asked >= 0 && queues(asked).function >= 0
    dut.io.owner.result.function #= (if (asked >= 0) queues(asked).function max 0 else 0)
    if (dut.io.credit.valid.toBoolean && dut.io.credit.ready.toBoolean) {
      val q = queues(dut.io.credit.qid.toInt)
      val amount = dut.io.credit.crdt.toInt
      assert(amount > 0, "an empty grant")
      assert(!dut.io.credit.c2h.toBoolean && !dut.io.credit.fence.toBoolean)
      if (q.paced && q.posted > 0) {
        q.granted += amount
        if (!q.listed) granted += dut.io.credit.qid.toInt
        q.listed = true
        assert(q.granted <= q.posted, s"queue ${dut.io.credit.qid.toInt}: ${q.granted} granted of ${q.posted}")
      }
    }
    dut.io.credit.ready #= random.nextInt(4) != 0
  }
}

object PacerBench {

  def compile(p: ShellParam): SimCompiled[Pacer] = SimConfig.withVerilator.compile {
    val pacer = new Pacer(p)
    val onTheWay = pacer.engine.onTheWay
    for (seen <- onTheWay.totals :+ pacer.engine.phase) seen.simPublic()
    onTheWay.io.ready.simPublic()
    onTheWay.shares.simPublic()
    pacer.engine.io.back.valid.simPublic()
    for (queues <- Seq(pacer.queues.promised.out, pacer.engine.lists.promised.listed)) queues.simPublic()
    pacer
  }

  /** The register's value. */
  def rate(megabits: Double): Long = (megabits * 65536 / 125).round
}
