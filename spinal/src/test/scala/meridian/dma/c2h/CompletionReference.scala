// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.completion.CompletionRow.{Bell, Error, IrqState, Mode}
import meridian.host.FrameSim._
import scala.collection.mutable
import spinal.core.Data
import spinal.core.sim._

/** A completion ring as the model of the IP has it, and what it is to tell and has not told. */
class RingReference(setting: QueueSetting, val entries: Int, isValid: Boolean = true) {
  var valid = isValid
  var pidx, cidx, told, error = 0
  var colour = 1
  var irqState = setting.irqState
  var (mode, counter, timer, irqEnable) = (setting.mode, setting.counter, setting.timer, setting.irq)
  var owesEntry, owesStatus, owesInterrupt = false
  var end: Option[Long] = None // of the timer that runs

  def unread: Int = (pidx - cidx + entries) % entries
  def status: RingEvent.Status = RingEvent.Status(pidx, cidx, colour, told, error)
  private def isTimed = mode == Mode.userTimer || mode == Mode.userTimerCount
  private def isCounted = (mode == Mode.userCount || mode == Mode.userTimerCount) && unread >= counter + 1
  private def start(cycle: Long): Unit =
    if (end.isEmpty) end = Some(cycle + 100 * (timer + 1)) // as the harness sets it

  private def trigger(): Unit = {
    end = None
    owesStatus = true
    if (irqEnable && irqState != IrqState.serviced) {
      irqState = IrqState.serviced
      owesInterrupt = true
    }
  }
  private def fail(kind: Int): Unit = {
    error = kind
    valid = false
    end = None
    owesStatus = true
    if (irqEnable) owesInterrupt = true
  }

  def add(failed: Boolean, cycle: Long): Unit = if (valid) {
    told = irqState
    if (!setting.noOverflowCheck && unread + 1 >= entries) fail(Error.overflow)
    else {
      owesEntry = true
      pidx = (pidx + 1) % entries
      if (pidx == 0) colour ^= 1
      if (failed) fail(Error.badDescriptor)
      else if (mode == Mode.every || isCounted) trigger()
      else if (isTimed) start(cycle)
    }
  }

  def bell(value: Long, cycle: Long): Unit = if (valid) {
    def field(at: (Int, Int)): Int = (value >> at._1).toInt & ((1 << at._2) - 1)
    val to = field(Bell.cidx)
    told = irqState
    if (to >= entries || (to - cidx + entries) % entries > unread) fail(Error.badCidx)
    else {
      cidx = to
      val isSet = (value >> Bell.irqEnable & 1) == 1
      if (setting.fullUpdate) {
        mode = field(Bell.mode)
        counter = field(Bell.counter)
        timer = field(Bell.timer)
        irqEnable = isSet
      }
      val arms = isSet && irqEnable
      if (arms) {
        irqState = if (unread == 0) IrqState.armed else IrqState.triggered
        told = irqState
      }
      if (unread == 0) end = None
      else if (arms && mode != Mode.disabled && (!isTimed || isCounted)) trigger()
      else {
        owesStatus = true
        if (isTimed) start(cycle)
      }
    }
  }

  def expire(): Unit = if (end.nonEmpty) {
    told = irqState
    end = None
    if (valid && unread != 0) trigger()
  }
}

/** Follows what happens to each completion ring, in the engine's order, and what it tells: an entry at once, a status entry
  * as the ring is when it is made, and an interrupt behind it if one is owed. Whatever is told has to reach the host in its
  * order, once; nothing of a ring does after its change but a write that was at RQ.
  */
class CompletionReference(dut: C2hEngine, h: C2hHarness, queues: Int) {
  private val engine = dut.completions.io
  private val expired = dut.completions.timerList.io.expired
  private val settings = mutable.Queue[(QueueSetting, Boolean)]() // of changes, in their order
  val rings = Array.fill(queues)(new RingReference(QueueSetting(), 1, isValid = false))
  private val sent = Array.fill(queues)(mutable.Queue[(Int, RingEvent)]()) // with their place among those of all
  private var number = 0
  private val last = Array.fill(queues)(h.ring(0))
  private val seen = Array.fill(queues)(0)
  private var bellWait = 0
  var longestWait, longestChange, latest, bells, changes, merged = 0
  private var changeWait = 0
  var cycle = 0L

  /** The setting of the next change. */
  def expect(setting: QueueSetting, isValid: Boolean = true): Unit = settings.enqueue(setting -> isValid)

  h.cd.onSamplings {
    cycle += 1
    val told = (0 until queues).map(arrive)
    val bell = dut.io.bell
    if (bell.valid.toBoolean && bell.ready.toBoolean) {
      val it = rings(bell.payload.queue.toInt)
      if (it.owesStatus || it.owesInterrupt) merged += 1
      it.bell(bell.value.toLong, cycle)
      bells += 1
    }
    bellWait = if (bell.valid.toBoolean && !bell.ready.toBoolean) bellWait + 1 else 0
    longestWait = longestWait max bellWait
    val added = dut.completions.added
    if (added.valid.toBoolean) rings(added.payload.queue.toInt).add(added.error.toBoolean, cycle)
    if (expired.valid.toBoolean && expired.ready.toBoolean) {
      val it = rings(expired.payload.toInt)
      it.end.foreach(at => latest = latest max (cycle - at).toInt)
      it.expire()
    }
    for (it <- rings; at <- it.end) assert(cycle < at + 3 * queues + 64 * queues, "a timer's end is not taken")
    if (engine.action.valid.toBoolean) note()
    val change = dut.io.changeCompletion
    if (change.valid.toBoolean && change.ready.toBoolean) {
      val queue = change.payload.queue.toInt
      val (setting, isValid) = settings.dequeue()
      rings(queue) = new RingReference(setting, h.sizes(setting.size % 4) - 1, isValid)
      val first = sent.flatMap(_.headOption).map(_._1).minOption
      val atRq = sent(queue).headOption.filter(head => dut.io.late.toBoolean && !told(queue) && first.contains(head._1))
      sent(queue).clear()
      sent(queue) ++= atRq
      changes += 1
    }
    changeWait = if (change.valid.toBoolean && !change.ready.toBoolean) changeWait + 1 else 0
    longestChange = longestChange max changeWait
  }

  /** What has reached the host in this cycle is what was sent first. */
  private def arrive(queue: Int): Boolean = {
    val it = h.ring(queue)
    if (it ne last(queue)) {
      last(queue) = it
      seen(queue) = 0
    }
    val fresh = it.events.drop(seen(queue))
    seen(queue) = it.events.size
    for (event <- fresh) {
      assert(sent(queue).nonEmpty, s"queue $queue: $event of a ring that was changed, or twice")
      assert(sent(queue).dequeue()._2 == event, s"queue $queue: $event is not in its order")
    }
    fresh.nonEmpty
  }

  private def send(queue: Int, event: RingEvent): Unit = {
    number += 1
    sent(queue) += number -> event
  }

  private def note(): Unit = {
    val action = engine.action.payload
    val queue = action.queue.toInt
    val it = rings(queue)
    if (action.interrupt.toBoolean) {
      assert(it.owesInterrupt && !it.owesStatus, s"queue $queue: an interrupt that is not owed, or ahead of its entry")
      it.owesInterrupt = false
      send(queue, RingEvent.Interrupt)
    } else if (it.owesEntry) {
      it.owesEntry = false
      send(queue, RingEvent.Entry)
    } else {
      assert(it.owesStatus, s"queue $queue: a status entry that is not owed")
      val word = action.data.toBigInt.toLong
      def field(low: Int, bits: Int) = (word >> low).toInt & ((1 << bits) - 1)
      val made = RingEvent.Status(field(0, 16), field(16, 16), field(32, 1), field(33, 2), field(35, 2))
      assert(made == it.status, s"queue $queue")
      it.owesStatus = false
      send(queue, made)
    }
  }

  /** All that was owed has been told, and has arrived. */
  def finish(): Unit = {
    waitFor(h.cd, "the timers")(rings.forall(_.end.isEmpty))
    h.idle()
    for ((it, queue) <- rings.zipWithIndex)
      assert(!it.owesEntry && !it.owesStatus && !it.owesInterrupt && sent(queue).isEmpty, s"queue $queue owes")
  }
}

object CompletionReference {

  /** What the reference looks at. */
  def visible(dut: C2hEngine): C2hEngine = {
    val io = dut.completions.io
    Seq[Data](dut.completions.added, io.action, dut.completions.timerList.io.expired).foreach(_.simPublic())
    dut
  }
}
