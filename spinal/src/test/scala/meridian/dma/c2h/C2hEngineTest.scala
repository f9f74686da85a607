// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.completion.CompletionRow.{IrqState, Mode}
import meridian.dma.context.ErrorTree
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core.sim._

/** From frames of the shell to buffers, completions and interrupts, with a host that takes and answers as it may. The harness
  * looks at each write: a completion has to be behind its payload.
  */
class C2hEngineTest extends AnyFunSuite {
  import RingEvent._

  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)
  lazy val compiled = SimConfig.compile(new C2hEngine(p, firstTag = 24, timeOut = 15000))
  def run(name: String, pace: Float = 1.0f, maxPayload: Int = 256)(body: C2hHarness => Unit): Unit =
    compiled.doSim(name, 11)(dut => body(new C2hHarness(dut, p, 11, pace, maxPayload)))

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

  test("how many cycles each step takes from a frame to its interrupt") {
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
                h.send(queue, length)
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

  test("a frame without buffers waits for a doorbell; one whose queue is not there is dropped with its completion") {
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
      assert(h.dropped.take(3).toSeq == Seq(0, 1, 1) && h.delivered(0) == 1)
      h.post(0, 2, rings = false)
      h.send(0, 2049)
      h.cd.waitSampling(2000)
      assert(h.ring(0).arrived == 1)
      // One of the two that it needs.
      h.doorbell(0, 2)
      h.cd.waitSampling(2000)
      assert(h.ring(0).arrived == 1)
      h.doorbell(0, 3)
      h.settle(0)
      assert(h.errors.isEmpty)
    }
  }

  private def events(queue: Int, h: C2hHarness): Seq[RingEvent] = h.ring(queue).events.toSeq

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

  test(
    "a read of descriptors that fails stops the queue; the frame that waits for them has a completion that says so"
  ) {
    run("fetch", 0.8f) { h =>
      import meridian.dma.pcie.Answer
      for (answer <- Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut)) {
        for (queue <- 0 until 4) h.begin(queue)
        h.idle()
        h.errors.clear()
        h.lost.clear()
        h.host.answerOf =
          address => if (address >= h.descriptors(2) && address < h.descriptors(3)) answer else Answer.Data
        for (queue <- 0 until 4) h.post(queue, 3)
        h.ring(2).posted.clear()
        h.send(0, 64)
        h.send(2, 64, arrives = false, error = true)
        h.send(2, 64, arrives = false)
        h.send(3, 64)
        h.settle(2)
        h.settle(3)
        h.idle()
        assert(h.errors == Seq((1L << 21) | (1 << 2), ErrorTree.c2h.toLong << 32 | 1 << ErrorTree.descriptorResponse))
        assert(h.lost == Seq(2 -> true) && h.status(2) == Status(1, 0, 1, 1, 2), s"$answer")
        h.host.answerOf = _ => Answer.Data
      }
    }
  }

  test(
    "a queue whose rings are changed while its frames are under way writes nothing to its old buffers, and begins anew"
  ) {
    run("change", 0.6f) { h =>
      for (_ <- 0 until 30) {
        for (queue <- Seq(4, 7)) {
          h.begin(queue)
          h.post(queue, 12)
        }
        for (_ <- 0 until 6; queue <- Seq(4, 7)) h.send(queue, 1 + h.random.nextInt(4000))
        h.cd.waitSampling(100 + h.random.nextInt(800))
        // From here on no write of the queue's is right; the other's go on.
        h.changeBuffers(4, QueueSetting(enable = false))
        h.settle(7)
        h.idle()
      }
    }
  }

  test("a function that may not access memory writes nothing; drain ends when what it had is gone") {
    run("drain", 0.8f) { h =>
      for (_ <- 0 until 20) {
        for (queue <- Seq(0, 1)) {
          h.begin(queue, QueueSetting(irq = true))
          h.post(queue, 14)
        }
        h.setMaster(h.function(0), on = true)
        for (_ <- 0 until 6; queue <- Seq(0, 1)) h.send(queue, 1 + h.random.nextInt(2000))
        h.cd.waitSampling(60 + h.random.nextInt(500))
        h.setMaster(h.function(0), on = false)
        h.changeBuffers(0, QueueSetting(enable = false))
        h.engine.drain.payload #= h.function(0)
        h.engine.drain.valid #= true
        waitFor(h.cd, "the drain", 2000)(h.engine.drain.ready.toBoolean)
        h.engine.drain.valid #= false
        h.settle(1)
        h.idle()
      }
    }
  }

  test("a frame that is not as long as it says is told") {
    run("mismatch") { h =>
      h.begin(0)
      h.post(0, 4)
      h.sendWrong(0)
      waitFor(h.cd, "the error")(
        h.errors.exists(_ == (ErrorTree.c2h.toLong << 32 | 1L << 1))
      )
    }
  }
}
