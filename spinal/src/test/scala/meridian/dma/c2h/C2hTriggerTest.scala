// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.descriptor.ErrorTree
import meridian.dma.completion.CompletionRow.{IrqState, Mode}
import meridian.host.FrameSim._
import spinal.core.sim._

/** When a completion ring tells the host, and how it ends. */
class C2hTriggerTest extends C2hSuite {
  import RingEvent._

  test("each trigger mode writes the status entry and sends the interrupt when it says") {
    run("modes", 0.9f) { h =>
      val armed = IrqState.triggered
      def begin(queue: Int, mode: Int, counter: Int = 2, timer: Int = 3) = {
        h.begin(queue, QueueSetting(mode = mode, counter = counter, timer = timer, irq = true))
        h.post(queue, 14)
        h.bell(queue, 0)
      }
      def arrive(queue: Int, count: Int) = {
        for (_ <- 0 until count) h.send(queue, 64)
        h.settle(queue)
        h.cd.waitSampling(60)
      }
      // Every: the interrupt once, until software arms it again.
      begin(0, Mode.every)
      arrive(0, 2)
      assert(events(0, h) == Seq(Entry, Status(1, 0, 1, armed, 0), Interrupt, Entry, Status(2, 0, 1, 0, 0)))
      h.ring(0).events.clear()
      h.bell(0, 1, irq = true) // one is unread: at once
      h.cd.waitSampling(60)
      assert(events(0, h) == Seq(Status(2, 1, 1, armed, 0), Interrupt))
      h.bell(0, 2, irq = true)
      h.cd.waitSampling(60)
      arrive(0, 1)
      assert(events(0, h).drop(2) == Seq(Entry, Status(3, 2, 1, IrqState.armed, 0), Interrupt))
      // User count: with the third of three.
      begin(1, Mode.userCount)
      arrive(1, 2)
      assert(events(1, h) == Seq(Entry, Entry))
      arrive(1, 1)
      assert(events(1, h) == Seq(Entry, Entry, Entry, Status(3, 0, 1, armed, 0), Interrupt))
      // User: by a doorbell alone.
      begin(2, Mode.user)
      arrive(2, 5)
      assert(events(2, h) == Seq.fill(5)(Entry))
      h.bell(2, 3, irq = true)
      h.cd.waitSampling(60)
      assert(events(2, h).drop(5) == Seq(Status(5, 3, 1, armed, 0), Interrupt))
      // User timer: 80 ticks of 5 cycles after the first.
      begin(3, Mode.userTimer)
      arrive(3, 1)
      h.cd.waitSampling(200)
      assert(events(3, h) == Seq(Entry))
      arrive(3, 1)
      h.cd.waitSampling(400)
      assert(events(3, h) == Seq(Entry, Entry, Status(2, 0, 1, armed, 0), Interrupt))
      // Timer and count: the sooner of both, and then no other.
      begin(4, Mode.userTimerCount)
      arrive(4, 3)
      h.cd.waitSampling(800)
      assert(events(4, h) == Seq(Entry, Entry, Entry, Status(3, 0, 1, armed, 0), Interrupt))
      h.ring(4).events.clear()
      h.bell(4, 3, irq = true)
      h.cd.waitSampling(60)
      arrive(4, 1)
      h.cd.waitSampling(800)
      assert(events(4, h) == Seq(Entry, Status(4, 3, 1, IrqState.armed, 0), Interrupt))
      // Disabled: never.
      begin(5, Mode.disabled)
      arrive(5, 4)
      h.bell(5, 1, irq = true)
      h.cd.waitSampling(800)
      assert(events(5, h) == Seq.fill(4)(Entry) :+ Status(4, 1, 1, armed, 0))
      assert(h.errors.isEmpty)
    }
  }

  test("timers of all queues run at once, each with the time of its index") {
    run("timers") { h =>
      val at, from = Array.fill(p.queues)(0L)
      for (queue <- 0 until p.queues) {
        h.begin(queue, QueueSetting(mode = Mode.userTimer, timer = queue, irq = true))
        h.post(queue, 4)
      }
      h.idle()
      for (queue <- 0 until p.queues) h.send(queue, 64)
      waitFor(h.cd, "all interrupts", 4000) {
        for (queue <- 0 until p.queues) {
          if (from(queue) == 0 && h.ring(queue).events.nonEmpty) from(queue) = simTime()
          if (at(queue) == 0 && h.ring(queue).events.contains(Interrupt)) at(queue) = (simTime() - from(queue)) / 10
        }
        at.forall(_ != 0)
      }
      // 100 cycles for each, and 2 for each that runs.
      for (queue <- 0 until p.queues) {
        val late = at(queue) - 100 * (queue + 1)
        assert(late > -20 && late < 60, s"queue $queue: $late")
      }
    }
  }

  test("a doorbell of a queue with full update changes counter, timer, mode and what is enabled") {
    run("update") { h =>
      h.begin(0, QueueSetting(mode = Mode.every, fullUpdate = true))
      h.post(0, 14)
      h.bell(0, 0, irq = true, mode = Mode.userCount, counter = 4)
      h.idle()
      for (_ <- 0 until 4) h.send(0, 64)
      h.settle(0)
      h.idle()
      assert(h.ring(0).events == Seq.fill(4)(Entry))
      h.send(0, 64)
      h.settle(0)
      h.idle()
      assert(h.ring(0).events == Seq.fill(5)(Entry) ++ Seq(Status(5, 0, 1, IrqState.armed, 0), Interrupt))
    }
  }

  test("a ring that is full, and a CIDX that cannot be, end the ring with their error") {
    run("full", 0.8f) { h =>
      def bit(number: Int) = ErrorTree.c2h.toLong << 32 | 1L << number
      h.begin(0, QueueSetting(size = 2, irq = true)) // 8 entries, of which 7 may be unread
      h.post(0, 7)
      for (_ <- 0 until 7) h.send(0, 64)
      h.settle(0)
      h.post(0, 2)
      h.send(0, 64)
      waitFor(h.cd, "the error")(h.errors == Seq(bit(ErrorTree.completionFull)))
      h.idle()
      assert(h.ring(0).events.takeRight(2) == Seq(Status(7, 0, 1, 0, 3), Interrupt))
      h.ring(0).events.clear()
      h.send(0, 64)
      h.bell(0, 3)
      h.idle()
      assert(h.ring(0).events.isEmpty && h.errors.size == 1, "a ring that has ended writes")
      for (cidx <- Seq(3, 15, 0xffff)) {
        h.begin(1)
        h.post(1, 2)
        h.send(1, 64)
        h.send(1, 64)
        h.settle(1)
        h.errors.clear()
        h.bell(1, cidx)
        waitFor(h.cd, "the error")(h.errors == Seq(bit(ErrorTree.completionCidx)))
        h.idle()
        assert(h.status(1) == Status(2, 0, 1, 1, 1))
      }
      // Without the check the ring goes round.
      h.begin(2, QueueSetting(size = 2, noOverflowCheck = true))
      for (_ <- 0 until 5) {
        h.post(2, 5)
        for (_ <- 0 until 5) h.send(2, 64)
        h.settle(2)
      }
    }
  }
}
