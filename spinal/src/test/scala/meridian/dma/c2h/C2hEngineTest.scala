// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.descriptor.ErrorTree
import meridian.dma.completion.CompletionRow.{IrqState, Mode}
import meridian.host.FrameSim._
import scala.collection.mutable
import spinal.core.sim._

/** From frames of the shell to buffers, completions and interrupts. */
class C2hEngineTest extends C2hSuite {
  import RingEvent._

  test("a frame of 64 bytes is in its buffer, then its completion, its status entry and its interrupt come") {
    run("one") { h =>
      h.begin(3, QueueSetting(irq = true))
      h.post(3, 4)
      h.send(3, 64)
      h.settle(3)
      h.idle()
      assert(h.ring(3).events == Seq(Entry, Status(1, 0, 1, IrqState.triggered, 0), Interrupt))
      assert(h.delivered(3) == 1 && h.available(3) == 4 && h.errors.isEmpty)
    }
  }

  test("each step from a frame to its interrupt takes no more cycles than its bound") {
    run("steps") { h =>
      h.begin(3, QueueSetting(irq = true))
      h.post(3, 15 - 1)
      h.send(3, 64)
      h.settle(3) // from now on descriptors are there
      h.bell(3, 1, irq = true)
      h.idle()
      val at = mutable.Map[String, Int]()
      var cycle = 0
      h.cd.onSamplings {
        cycle += 1
        def note(name: String, now: Boolean): Unit = if (now && !at.contains(name)) at(name) = cycle
        val rq = h.engine.rq
        val leaves = rq.valid.toBoolean && rq.ready.toBoolean && rq.last.toBoolean
        note("interrupt", h.engine.interrupts(1).valid.toBoolean)
        note("status", leaves && at.contains("completion"))
        note("completion", leaves && at.contains("payload"))
        note("payload", leaves)
        note("frame", h.engine.c2h.valid.toBoolean)
      }
      h.send(3, 64)
      h.settle(3)
      h.idle()
      val steps = Seq("frame", "payload", "completion", "status", "interrupt")
      val spans = steps.zip(steps.tail).map { case (from, to) => at(to) - at(from) }
      info(steps.tail.zip(spans).map { case (to, cycles) => s"$to after $cycles" }.mkString(", "))
      assert(spans(0) <= 32 && spans(1) <= 16 && spans(2) <= 8 && spans(3) <= 8)
    }
  }

  for (mode <- Seq(Mode.every, Mode.userTimerCount))
    test(s"frames of 64 bytes of 4 queues come in 7 cycles each or less, mode $mode") {
      run(s"rate$mode") { h =>
        for (queue <- 0 until 4) {
          h.begin(queue, QueueSetting(size = 3, mode = mode, counter = 15, irq = true))
          h.post(queue, 200, aligned = true)
        }
        h.idle()
        for (i <- 0 until 800) h.send(i % 4, 64)
        waitFor(h.cd, "the first frames")(h.completions >= 100)
        val from = simTime()
        waitFor(h.cd, "most frames")(h.completions >= 700)
        val cycles = (simTime() - from) / 10 / 600.0
        info(f"$cycles%.2f cycles a frame")
        for (queue <- 0 until 4) h.settle(queue)
        assert(cycles <= 7)
      }
    }

  /** So many cycles does a frame of queues 0 and 1 take while something else goes on. */
  private def whileOthers(h: C2hHarness): Double = {
    for (i <- 0 until 400) h.send(i % 2, 64)
    waitFor(h.cd, "the first frames")(h.delivered.take(2).sum >= 50)
    val from = simTime()
    waitFor(h.cd, "most frames")(h.delivered.take(2).sum >= 350)
    val cycles = (simTime() - from) / 10 / 300.0
    info(f"$cycles%.2f cycles a frame")
    cycles
  }

  for ((what, posts) <- Seq("say nothing new" -> false, "post buffers" -> true))
    test(s"doorbells without a pause, which $what, leave others every second event") {
      run(s"doorbells$posts") { h =>
        for (queue <- 0 until 4) h.begin(queue, QueueSetting(size = 3, mode = Mode.userTimerCount, counter = 15))
        for (queue <- 0 until 2) h.post(queue, 200, aligned = true)
        h.idle()
        for (i <- 0 until 6000; queue = 2 + i % 2) if (posts && i < 400) h.post(queue, 1) else h.doorbell(queue, 0)
        assert(whileOthers(h) <= 9 && h.waitingDoorbells > 0)
      }
    }

  test("doorbells of CIDX without a pause, each of which makes an interrupt, leave others every second event") {
    run("bells") { h =>
      for (queue <- 0 until 2) {
        h.begin(queue, QueueSetting(size = 3, mode = Mode.userTimerCount, counter = 15))
        h.post(queue, 200, aligned = true)
      }
      for (queue <- 2 until 4) {
        h.begin(queue, QueueSetting(mode = Mode.userCount, irq = true))
        h.post(queue, 1)
        h.send(queue, 64)
        h.settle(queue)
      }
      h.idle()
      for (i <- 0 until 6000) h.bell(2 + i % 2, 0, irq = true)
      assert(whileOthers(h) <= 17 && h.waitingBells > 0)
    }
  }

  test("payload of frames of 4 KiB passes with a beat a cycle, and what PCIe adds") {
    run("payload", maxPayload = 512) { h =>
      h.begin(1, QueueSetting(size = 3, buffer = 1))
      h.post(1, 100, aligned = true)
      h.idle()
      for (_ <- 0 until 100) h.send(1, 4096)
      waitFor(h.cd, "the first frames")(h.completions >= 10)
      val from = simTime()
      waitFor(h.cd, "most frames")(h.completions >= 90)
      val cycles = (simTime() - from) / 10 / 80.0
      info(f"$cycles%.1f cycles a frame, which are ${8 * 17} beats")
      h.settle(1)
      assert(cycles <= 8 * 17 + 10)
    }
  }

  for ((maxPayload, pace) <- Seq((128, 0.5f), (256, 0.8f), (1024, 1.0f)))
    test(s"frames of all queues arrive as they are, in order, payload of $maxPayload, pace $pace") {
      run(s"many$maxPayload", pace, maxPayload) { h =>
        for (queue <- 0 until p.queues)
          h.begin(
            queue,
            QueueSetting(
              size = queue % 3,
              buffer = queue / 2 % 4,
              entry = queue % 4,
              mode = queue % 6,
              irq = queue % 5 == 0
            )
          )
        for (_ <- 0 until 12) {
          for (queue <- h.random.shuffle((0 until p.queues).toList)) {
            val room = h.entries(queue) - 1
            val lengths = Seq.fill(1 + h.random.nextInt(4))(h.random.nextInt(8) match {
              case 0 => 1 + h.random.nextInt(70)
              case 1 => 1500 + h.random.nextInt(2000)
              case _ => 32 + h.random.nextInt(500)
            })
            var left = room
            for (length <- lengths) {
              val count = (length + h.bufferSize(queue) - 1) / h.bufferSize(queue)
              if (count <= left && h.ring(queue).frames.size - h.ring(queue).arrived < h.entries(queue) - 2) {
                left -= count
                h.post(queue, count)
                // At full pace frames would be ahead of their doorbells for more than their share of the time.
                if (pace < 1) h.send(queue, length) else h.sendCredited(queue, length)
              }
            }
          }
          for (queue <- 0 until p.queues) {
            h.settle(queue)
            h.bell(queue, h.ring(queue).arrived % h.entries(queue))
          }
          h.idle()
        }
        assert(h.errors.isEmpty && h.lost.isEmpty && h.dropped.sum == 0)
      }
    }

  test(
    "a frame of 65535 bytes, more than there is room for, is in 31 buffers; one that needs 32 is dropped, and told"
  ) {
    run("long", 0.7f) { h =>
      h.begin(0, QueueSetting(size = 1, buffer = 0)) // 2048
      h.begin(1, QueueSetting(size = 1, buffer = 1)) // 4096
      h.begin(2, QueueSetting(size = 0, buffer = 2)) // 256, 15 entries
      h.post(0, 40)
      h.post(1, 20)
      h.post(2, 14)
      h.send(0, 31 * 2048)
      h.send(1, 65535)
      h.send(0, 31 * 2048 + 1, arrives = false)
      h.send(2, 14 * 256 + 1, arrives = false)
      h.send(2, 14 * 256)
      h.settle(0)
      h.settle(1)
      h.settle(2)
      h.idle()
      val count = ErrorTree.c2h.toLong << 32 | 1 << ErrorTree.descriptorCount
      assert(h.errors == Seq(count, count) && h.dropped(0) == 1 && h.dropped(2) == 1)
    }
  }

  test("frames whose queue is not there are dropped with their completions") {
    run("none", 0.8f) { h =>
      h.begin(0)
      h.begin(1, QueueSetting(enable = false))
      h.begin(2, QueueSetting(prefetch = false))
      h.send(1, 500, arrives = false)
      h.send(2, 5000, arrives = false)
      h.send(p.queues, 64, arrives = false)
      h.post(0, 1)
      h.send(0, 2000)
      h.settle(0)
      h.idle()
      assert(h.dropped.take(3).toSeq == Seq(0, 1, 1) && h.delivered(0) == 1 && h.errors.isEmpty)
    }
  }
}
