// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.pcie.{Answer, CompletionRoom}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core.sim._

/** From doorbells to frames, with a host that answers as it may. */
class H2cEngineTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)
  lazy val compiled = SimConfig.compile(new H2cEngine(p, timeOut = 15000))
  def run(name: String, pace: Float = 1.0f, maxRead: Int = 512)(body: H2cHarness => Unit): Unit =
    compiled.doSim(name, 11)(dut => body(new H2cHarness(dut, p, 11, pace, maxRead)))

  test("a frame of 64 bytes crosses, and the status entry tells it") {
    run("one") { h =>
      h.change(3)
      h.payload(0x200000, 64)
      h.post(3, 0x200000, 64, 0x12345678L)
      h.doorbell(3)
      h.settle(3)
      h.idle()
      assert(h.host.reads == Seq(0 -> h.ring(3), 0 -> 0x200000L) && h.available(3) == 1 && h.errors.isEmpty)
    }
  }

  test("each step of the engine from a doorbell to the status entry takes no more cycles than its bound") {
    run("steps") { h =>
      h.change(3)
      h.payload(0x200000, 64)
      h.post(3, 0x200000, 64, 1)
      h.cd.waitSampling(50)
      val at = mutable.Map[String, Int]()
      var cycle = 0
      h.cd.onSamplings {
        cycle += 1
        def note(name: String, now: Boolean): Unit = if (now && !at.contains(name)) at(name) = cycle
        val (rq, rc) = (h.engine.rq, h.engine.rc)
        val asks = rq.valid.toBoolean && rq.ready.toBoolean
        val comes = rc.valid.toBoolean && rc.last.toBoolean
        note("doorbell", h.engine.doorbell.valid.toBoolean)
        note("status", asks && at.contains("frame"))
        note("frame", h.engine.h2c.valid.toBoolean)
        note("payload", comes && at.contains("read"))
        note("read", asks && at.contains("descriptor"))
        note("descriptor", comes && at.contains("fetch"))
        note("fetch", asks)
      }
      h.doorbell(3)
      h.settle(3)
      val steps = Seq("doorbell", "fetch", "descriptor", "read", "payload", "frame", "status")
      val spans = steps.zip(steps.tail).map { case (from, to) => at(to) - at(from) }
      info(steps.tail.zip(spans).map { case (to, cycles) => s"$to after $cycles" }.mkString(", "))
      // The engine's own: what the host takes is not counted.
      assert(spans(0) <= 24 && spans(2) <= 24 && spans(4) <= 24 && spans(5) <= 16)
    }
  }

  test("frames of 64 bytes take 6 cycles each with reads of 200 cycles, if tags above 31 may be used") {
    val extended = p.copy(extendedTags = true)
    SimConfig.compile(new H2cEngine(extended, timeOut = 15000)).doSim("rate", 11) { dut =>
      val h = new H2cHarness(dut, extended, 11)
      h.host.tags = 80
      h.host.delay = 200
      val count = h.entries - 1
      for (queue <- 0 until p.queues) {
        h.change(queue)
        for (i <- 0 until count) {
          val address = 0x40000000L + 0x100 * (queue * 16 + i)
          h.payload(address, 64)
          h.post(queue, address, 64, i)
        }
      }
      var cycle = 0
      val ends = mutable.ArrayBuffer[Int]()
      h.cd.onSamplings {
        cycle += 1
        val h2c = h.engine.h2c
        if (h2c.valid.toBoolean && h2c.ready.toBoolean && h2c.tlast.toBoolean) ends += cycle
      }
      for (queue <- 0 until p.queues) h.doorbell(queue)
      for (queue <- 0 until p.queues) h.settle(queue)
      val each = (ends.last - ends.head).toDouble / (ends.size - 1)
      info(f"$each%.2f cycles a frame")
      assert(ends.size == p.queues * count && each <= 6)
    }
  }

  test(
    "reads wait for room for their completions, with tags above 31, and those of descriptors never for payload alone"
  ) {
    val extended = p.copy(extendedTags = true)
    SimConfig.compile(new H2cEngine(extended, timeOut = 15000)).doSim("room", 11) { dut =>
      val h = new H2cHarness(dut, extended, 11)
      h.host.tags = 80
      val long = 0x40000000L
      h.host.holdsAt = _ < h.ring(0)
      for (queue <- 0 until p.queues) {
        h.change(queue)
        for (i <- 0 until 14) {
          val address = long + 0x4000 * (queue * 16 + i) + 4 * h.random.nextInt(512)
          h.payload(address, 9000)
          h.post(queue, address, 9000, i)
        }
        h.doorbell(queue)
      }
      h.cd.waitSampling(1000)
      val descriptors = h.host.reads.filter(_._2 >= h.ring(0))
      info(s"with payload held: ${descriptors.size} reads of descriptors, ${h.host.mostHeaders} completions")
      assert(h.host.open.forall(_.address < h.ring(0)), "a read of descriptors is not answered")
      assert(descriptors.size >= 2 && h.host.mostHeaders > h.host.headers - 3 * CompletionRoom.most)
      h.host.holdsAt = _ => false
      for (queue <- 0 until p.queues) waitFor(h.cd, s"the frames of queue $queue", 60000)(h.frames(queue).size == 14)
      for (queue <- 0 until p.queues) h.settle(queue)
      h.idle()
      info(s"all: ${h.host.mostHeaders} completions at most")
    }
  }

  test("frames that end together are told up to each status entry and not beyond, also over the ring's end") {
    run("interval") { h =>
      val told = mutable.ArrayBuffer[Int]()
      h.change(1) // with an interval of 4
      h.host.onWrite = (_, address, _) => if (address == h.descriptor(1, h.entries)) told += h.status(1)._2
      for ((count, cidx) <- Seq(10 -> Seq(4, 8, 10), 14 -> Seq(14, 3, 7, 9), 4 -> Seq(13), 3 -> Seq(1))) {
        h.host.holdsAt = _ < h.ring(0)
        told.clear()
        for (i <- 0 until count) {
          val address = 0x200000L + 0x100 * i
          h.payload(address, 64)
          h.post(1, address, 64, i)
        }
        h.doorbell(1)
        waitFor(h.cd, "the reads of payload")(h.host.open.size == count && h.host.open.forall(_.address < h.ring(0)))
        h.host.holdsAt = _ => false
        h.settle(1)
        h.idle()
        assert(told == cidx, s"$count frames")
      }
    }
  }

  for ((maxRead, pace) <- Seq((128, 0.5f), (512, 1.0f)))
    test(s"frames of all queues leave as they are, in their queue's order, reads of up to $maxRead, pace $pace") {
      run(s"many$maxRead", pace, maxRead) { h =>
        for (queue <- 0 until p.queues) h.change(queue, creditEnable = queue == 5, stride = queue % 3)
        for (round <- 0 until 12) {
          for (queue <- 0 until p.queues) {
            val count = 1 + h.random.nextInt(if (round % 4 == 0) 14 else 5)
            for (i <- 0 until count) {
              val length = h.random.nextInt(8) match {
                case 0 => 0
                case 1 => 1 + h.random.nextInt(70)
                case 2 => 1500 + h.random.nextInt(3000)
                case _ => 32 + h.random.nextInt(500)
              }
              // Each frame has 8 KiB of its own, and some cross a page.
              val address = 0x40000000L + 0x2000 * (queue * 16 + h.pidx(queue)) + h.random.nextInt(4096)
              h.payload(address, length)
              h.post(queue, address, length, h.random.nextInt() & 0xffffffffL)
              if (h.random.nextInt(3) == 0) h.doorbell(queue)
            }
            h.doorbell(queue)
            if (queue == 5) {
              h.credit(5, count, c2h = true)
              h.credit(5, count - 1)
              h.credit(5, 1)
            }
          }
          for (queue <- 0 until p.queues) h.settle(queue)
        }
        h.idle()
        for (queue <- 0 until p.queues) assert(h.available(queue) == h.wanted(queue).size, s"queue $queue")
        assert(h.lost.isEmpty && h.errors.isEmpty)
      }
    }

  test(
    "a frame of 65535 bytes, more than there are tags for, crosses; a credit that was not given holds a queue alone"
  ) {
    run("long", 0.7f, 128) { h =>
      for (queue <- Seq(1, 2)) h.change(queue, creditEnable = queue == 2)
      h.payload(0x50000ffdL, 65535)
      h.post(2, 0x50000ffdL, 64, 2)
      h.doorbell(2)
      h.post(1, 0x50000ffdL, 65535, 1)
      h.doorbell(1)
      h.settle(1)
      assert(h.frames(2).isEmpty)
      h.credit(2, 1)
      h.settle(2)
    }
  }

  private val failures = Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut, Answer.Never)
  for (onDescriptor <- Seq(false, true))
    test(
      s"a read that fails stops its queue and disturbs no other, ${if (onDescriptor) "descriptors" else "payload"}"
    ) {
      run(s"failures$onDescriptor", 0.8f, 256) { h =>
        for (answer <- failures) {
          for (queue <- 0 until p.queues) {
            h.change(queue)
            h.frames(queue).clear()
            h.wanted(queue).clear()
          }
          h.cd.waitSampling(300) // until the shell has heard of the changes
          h.errors.clear()
          h.lost.clear()
          val bad = h.random.nextInt(p.queues)
          val failing = 0x60000000L + 0x2000 * (bad * 16 + 3)
          val at = if (onDescriptor) h.ring(bad) until h.ring(bad) + 240 else failing + 256 until failing + 1024
          h.host.answerOf = address => if (at.contains(address)) answer else Answer.Data
          for (queue <- 0 until p.queues) {
            for (i <- 0 until 6) {
              val address = 0x60000000L + 0x2000 * (queue * 16 + i)
              h.payload(address, 700)
              h.post(queue, address, 700, i)
            }
            h.doorbell(queue)
          }
          for (queue <- 0 until p.queues if queue != bad) h.settle(queue)
          waitFor(h.cd, s"the error after $answer", 60000)(h.errors.nonEmpty)
          h.cd.waitSampling(2000)
          val whole = if (onDescriptor) 0 else 3
          assert(h.frames(bad) == h.wanted(bad).take(whole), s"$answer")
          assert(h.errors == Seq(1L << (if (onDescriptor) 21 else 20) | 1 << 2))
          assert(h.lost == Seq(bad -> true))
          assert(h.status(bad) == ((if (onDescriptor) 1 else 2, whole, 6)), s"$answer")
          // It takes no doorbell any more.
          h.doorbell(bad, 8)
          h.cd.waitSampling(500)
          assert(h.frames(bad).size == whole && h.errors.size == 1)
          if (answer == Answer.Never) {
            assert(!h.engine.idle.toBoolean, "a tag that the block has is free")
            h.host.release()
          }
          h.idle()
        }
      }
    }

  test("a fetch that fails behind its first descriptors stops the queue, descriptors of 64 bytes") {
    run("late", 1.0f, 128) { h =>
      for (answer <- Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut); queue <- Seq(2, 3)) {
        h.change(queue, stride = 2)
        h.frames(queue).clear()
        h.wanted(queue).clear()
        h.cd.waitSampling(300) // until the shell has heard of the change
        h.errors.clear()
        h.lost.clear()
        // The seventh part of the fetch: what is before it leaves while it is open.
        val late = (h.ring(queue) + 768) & ~127L
        val whole = ((late - h.ring(queue)) / 64).toInt
        h.host.answerOf = address => if (address == late) answer else Answer.Data
        h.host.holdsAt = _ == late
        for (i <- 0 until 14) {
          h.payload(0x60000000L + 0x1000 * i, 100)
          h.post(queue, 0x60000000L + 0x1000 * i, 100, i)
        }
        h.doorbell(queue)
        waitFor(h.cd, s"$whole frames of queue $queue")(h.frames(queue).size == whole)
        h.host.holdsAt = _ => false
        waitFor(h.cd, s"the error after $answer")(h.errors.nonEmpty)
        h.idle()
        assert(h.frames(queue) == h.wanted(queue).take(whole), s"$answer")
        assert(h.errors == Seq(1 << 21 | 1 << 2) && h.lost == Seq(queue -> true))
        assert(h.status(queue) == ((1, whole, 14)), s"$answer")
        h.host.answerOf = _ => Answer.Data
      }
    }
  }

  test("a long frame whose read fails when it has begun ends with an error, and its last beat has no data") {
    run("midway", 0.8f, 128) { h =>
      for ((answer, round) <- Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut).zipWithIndex) {
        h.change(0)
        h.frames(0).clear()
        h.wanted(0).clear()
        h.errors.clear()
        h.payload(0x50000000L, 65535)
        h.host.answerOf = address => if (address == 0x50000000L + 30000 / 128 * 128) answer else Answer.Data
        h.post(0, 0x50000000L, 65535, 1)
        h.doorbell(0)
        waitFor(h.cd, s"the error after $answer")(h.errors.nonEmpty)
        waitFor(h.cd, "the rest of the read")(h.host.reads.size == 513 * (round + 1))
        h.idle()
        assert(h.frames(0).size == 1 && h.frames(0).head.failed, s"$answer")
        assert(h.wanted(0).head.bytes.startsWith(h.frames(0).head.bytes) && h.frames(0).head.bytes.size > 20000)
        assert(h.errors == Seq(1 << 20 | 1 << 2) && h.status(0) == ((2, 0, 1)), s"$answer")
      }
    }
  }

  test("a function that loses its access to memory inside a long read asks for nothing more") {
    run("within", 0.8f, 128) { h =>
      h.change(0)
      h.change(1)
      h.payload(0x50000ffdL, 65535)
      for (queue <- Seq(0, 1)) {
        h.post(queue, 0x50000ffdL, 65535, 1)
        h.doorbell(queue)
      }
      waitFor(h.cd, "the first reads")(h.host.reads.count(_._1 == h.function(0)) >= 100)
      h.setMaster(h.function(0), on = false)
      waitFor(h.cd, "the error")(h.errors == Seq(1 << 20 | 1 << 2))
      h.settle(1)
      h.idle()
      assert(h.frames(0).size == 1 && h.frames(0).head.failed && h.status(0) == ((0, 0, 0)))
      assert(h.wanted(0).head.bytes.startsWith(h.frames(0).head.bytes))
    }
  }

  test("a queue that is changed while its reads are in flight delivers nothing after, and begins anew") {
    run("change", 0.8f, 256) { h =>
      for (round <- 0 until 20) {
        for (queue <- Seq(4, 7)) {
          h.change(queue)
          h.frames(queue).clear()
          h.wanted(queue).clear()
        }
        h.cd.waitSampling(100) // until the shell has heard of the changes
        h.lost.clear()
        for (queue <- Seq(4, 7); i <- 0 until 10) {
          val address = 0x70000000L + 0x1000 * (queue * 16 + i)
          h.payload(address, 600)
          h.post(queue, address, 600, round)
        }
        for (queue <- Seq(4, 7)) h.doorbell(queue)
        h.cd.waitSampling(60 + h.random.nextInt(300))
        h.change(4, enable = false)
        // What has begun ends.
        h.cd.waitSampling(60)
        val delivered = h.frames(4).size
        h.settle(7)
        h.idle()
        assert(h.frames(4).size == delivered && h.frames(4) == h.wanted(4).take(delivered))
        assert(h.lost == Seq(4 -> false) && h.errors.isEmpty)
      }
    }
  }

  test("a function that may not access memory sends no request, and its queues fail") {
    run("master") { h =>
      h.change(0)
      h.change(1)
      h.setMaster(0, on = false)
      for (queue <- Seq(0, 1)) {
        h.post(queue, 0x80000, 64, 0)
        h.doorbell(queue)
      }
      h.settle(1)
      waitFor(h.cd, "the error", 2000)(h.errors == Seq(1 << 21 | 1 << 2))
      assert(h.host.reads.forall(_._1 == h.function(1)) && h.frames(0).isEmpty && h.status(0) == ((0, 0, 0)))
    }
  }

  test("a doorbell that the ring cannot have, and a ring of another kind, stop the queue with an error of parameters") {
    run("doorbells") { h =>
      for ((wrong, pidx) <- Seq(false -> 15, false -> 0xffff, true -> 1)) {
        h.errors.clear()
        h.change(6, wrong = wrong)
        h.doorbell(6, pidx)
        waitFor(h.cd, "the error", 2000)(h.errors == Seq(1 << 4))
        waitFor(h.cd, "the status", 2000)(h.status(6) == ((1, 0, 0)))
      }
      // Backwards: over the consumer.
      h.errors.clear()
      h.change(6)
      h.post(6, 0x80000, 64, 0)
      h.post(6, 0x80000, 64, 0)
      h.doorbell(6)
      h.host.holds = true
      h.cd.waitSampling(20)
      h.doorbell(6, 1)
      waitFor(h.cd, "the error", 2000)(h.errors == Seq(1 << 4))
      h.host.holds = false
      h.idle()
      assert(h.frames(6).isEmpty)
    }
  }
}
