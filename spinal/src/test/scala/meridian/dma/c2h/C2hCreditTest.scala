// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.descriptor.ErrorTree
import meridian.host.FrameSim._
import spinal.core.sim._

/** What the shell is told of buffers, and what comes of a shell that sends a frame only if it was told of its buffers.
  */
class C2hCreditTest extends C2hSuite {

  /** Reads of descriptors of these queues. */
  private def of(h: C2hHarness, queues: Int*)(address: Long): Boolean =
    queues.exists(q => address >= h.descriptors(q) && address < h.descriptors(q + 1))

  test("the shell hears of buffers when their descriptors have come, and of no more than 64") {
    run("told") { h =>
      h.begin(1, QueueSetting(size = 1)) // 127
      h.host.holds = true
      h.post(1, 126)
      waitFor(h.cd, "the reads")(h.host.open.size == 2)
      h.cd.waitSampling(200)
      assert(h.available(1) == 0)
      h.host.holds = false
      waitFor(h.cd, "the descriptors")(h.available(1) == 64)
      h.idle()
      assert(h.available(1) == 64 && h.host.reads.size <= 3)
      for (i <- 1 to 126) {
        h.sendCredited(1, 64)
        h.settle(1)
        h.idle()
        assert(h.available(1) == (64 min (126 - i)), s"after $i frames")
      }
      // A ring that is smaller than the cache: descriptors come when they are posted.
      h.begin(2, QueueSetting(size = 2)) // 8
      for (_ <- 0 until 5) {
        h.post(2, 7)
        for (_ <- 0 until 7) h.sendCredited(2, 64)
        h.settle(2)
        h.bell(2, h.ring(2).arrived % 8)
        h.idle()
        assert(h.available(2) == 0)
      }
      assert(h.errors.isEmpty && h.stood == 0)
    }
  }

  for ((maxPayload, pace, seed) <- Seq((128, 0.4f, 3), (256, 0.8f, 4), (512, 1.0f, 5)))
    test(s"no frame of a shell that honours credits waits, payload of $maxPayload, pace $pace") {
      run(s"honest$maxPayload", pace, maxPayload, seed) { h =>
        for (queue <- 0 until p.queues)
          h.begin(queue, QueueSetting(size = queue % 4, buffer = queue / 2 % 4, noOverflowCheck = true))
        for (round <- 0 until 6) {
          // Reads of a queue of each function are answered late, and all doorbells come at once.
          val slow = (0 until 3).map(_ + 3 * h.random.nextInt(p.queues / 3))
          h.host.holdsAt = of(h, slow: _*)
          fork { // before the reads are given up
            h.cd.waitSampling(5000)
            h.host.holdsAt = _ => false
          }
          for (queue <- 0 until p.queues) h.post(queue, 1 + h.random.nextInt((h.entries(queue) - 1) min 60))
          val left = Array.tabulate(p.queues)(q => h.ring(q).posted.size)
          def spend(queues: Seq[Int]): Unit = while (queues.exists(left(_) != 0)) {
            val queue = queues(h.random.nextInt(queues.size))
            if (left(queue) != 0) {
              val buffers = 1 + h.random.nextInt(left(queue) min 5)
              left(queue) -= buffers
              h.sendCredited(queue, (buffers - 1) * h.bufferSize(queue) + 1 + h.random.nextInt(h.bufferSize(queue)))
            }
          }
          spend((0 until p.queues).filterNot(slow.contains))
          for (queue <- 0 until p.queues if !slow.contains(queue)) h.settle(queue)
          h.host.holdsAt = _ => false
          spend(slow)
          slow.foreach(h.settle)
          for (queue <- 0 until p.queues) h.bell(queue, h.ring(queue).arrived % h.entries(queue))
          h.idle()
          assert(h.available.forall(_ == 0) && h.stood == 0, s"round $round")
        }
        assert(h.errors.isEmpty && h.lost.isEmpty && h.dropped.sum == 0)
      }
    }

  test("a ring whose buffers have come in part has all of them in the end, for a frame that needs 31") {
    run("whole") { h =>
      h.begin(0, QueueSetting(size = 1, buffer = 2)) // 127 of 256 bytes
      h.post(0, 62)
      h.sendCredited(0, 64)
      h.sendCredited(0, 64)
      h.sendCredited(0, 31 * 256)
      h.sendCredited(0, 64)
      h.sendCredited(0, 28 * 256)
      h.settle(0)
      assert(h.stood == 0 && h.dropped.sum == 0)
    }
  }

  test("reads of a function that are not answered hold up its own rings alone") {
    run("hostile", 0.8f) { h =>
      val hostile = (0 until p.queues).filter(h.function(_) == 0)
      val others = (0 until p.queues).filterNot(hostile.contains)
      for (queue <- 0 until p.queues) h.begin(queue, QueueSetting(size = 3))
      h.host.holdsAt = of(h, hostile: _*)
      for (queue <- hostile) h.post(queue, 40)
      h.cd.waitSampling(300)
      for (queue <- others) h.post(queue, 300)
      for (_ <- 0 until 60; queue <- others) h.sendCredited(queue, 64)
      others.foreach(h.settle)
      assert(h.host.open.size == DescriptorReader.ofFunction && hostile.forall(h.available(_) == 0))
      h.host.holdsAt = _ => false
      for (_ <- 0 until 40; queue <- hostile) h.sendCredited(queue, 64)
      hostile.foreach(h.settle)
      assert(h.stood == 0 && h.dropped.sum == 0 && h.errors.isEmpty)
    }
  }

  test("two reads of a ring that are answered in any order give its buffers in the ring's order") {
    run("order", 0.5f) { h =>
      for (_ <- 0 until 20) {
        h.begin(5, QueueSetting(size = 1))
        h.host.holds = true
        h.post(5, 40)
        waitFor(h.cd, "the reads")(h.host.open.size == 2)
        val first = h.host.open.head.address
        h.host.holdsAt = _ == first
        h.host.holds = false
        waitFor(h.cd, "the second read")(h.host.open.size == 1)
        h.cd.waitSampling(h.random.nextInt(60))
        assert(h.available(5) == 0)
        h.host.holdsAt = _ => false
        for (_ <- 0 until 40) h.sendCredited(5, 1 + h.random.nextInt(300))
        h.settle(5)
        h.idle()
      }
      assert(h.stood == 0 && h.dropped.sum == 0)
    }
  }

  test("no third read of a ring is asked for while the first has not come, and none of its buffers are lost") {
    run("third", 0.5f) { h =>
      for (_ <- 0 until 10) {
        h.begin(5, QueueSetting(size = 1))
        h.host.holds = true
        for (reads <- 1 to 2) {
          h.post(5, 1)
          waitFor(h.cd, "a read")(h.host.open.size == reads)
        }
        val first = h.host.open.head.address
        h.host.holdsAt = _ == first
        h.host.holds = false
        waitFor(h.cd, "the second read")(h.host.open.size == 1)
        h.post(5, 1)
        h.cd.waitSampling(100 + h.random.nextInt(60))
        assert(h.available(5) == 0 && h.host.open.size == 1)
        h.host.holdsAt = _ => false
        h.idle()
        assert(h.available(5) == 3)
        for (_ <- 0 until 3) h.sendCredited(5, 64)
        h.settle(5)
        h.idle()
      }
    }
  }

  test("a read of a ring that has changed meanwhile puts nothing into the cache of the new ring") {
    run("stale", 0.5f) { h =>
      for (_ <- 0 until 10) {
        h.begin(5, QueueSetting(size = 1))
        h.post(5, 3)
        for (_ <- 0 until 3) h.sendCredited(5, 64)
        h.settle(5)
        val slow = h.descriptors(5) + 24
        h.host.holdsAt = _ == slow
        h.post(5, 13)
        waitFor(h.cd, "the read")(h.host.open.size == 1)
        h.begin(5, QueueSetting(size = 1))
        h.post(5, 16)
        waitFor(h.cd, "the new ring's buffers")(h.available(5) == 16)
        // The new ring was read, so that its entries may say anything now.
        h.memory.write(slow, Seq.fill(104)(0x11.toByte))
        h.host.holdsAt = _ => false
        h.idle()
        for (_ <- 0 until 16) h.sendCredited(5, 64)
        h.settle(5)
        h.idle()
      }
    }
  }

  test("buffers of a frame that is dropped while its ring goes on are the shell's again") {
    run("back", 0.8f) { h =>
      h.begin(0, QueueSetting(size = 0, buffer = 2)) // 15 of 256 bytes
      h.begin(1, QueueSetting(size = 1, buffer = 2)) // 127
      h.begin(2, QueueSetting(prefetch = false))
      h.begin(3, QueueSetting(size = 1))
      h.post(0, 14)
      h.post(1, 62)
      h.post(2, 10)
      h.idle()
      assert(h.available.take(3).toSeq == Seq(14, 62, 10))
      // A shell with another size of buffers in mind.
      h.available(0) -= 14
      h.send(0, 15 * 256, arrives = false)
      h.available(1) -= 32
      h.send(1, 32 * 256, arrives = false)
      h.available(2) -= 1
      h.send(2, 64, arrives = false)
      waitFor(h.cd, "the drops")(h.dropped.sum == 3)
      h.idle()
      assert(h.dropped.take(3).toSeq == Seq(1, 1, 1) && h.available.take(3).toSeq == Seq(14, 62, 10))
      h.changePrefetch(2, QueueSetting())
      for (_ <- 0 until 10) h.sendCredited(2, 64)
      for (_ <- 0 until 14) h.sendCredited(0, 256)
      h.sendCredited(1, 31 * 256)
      Seq(0, 1, 2).foreach(h.settle)
      h.idle()
      assert(h.available.take(3).toSeq == Seq(0, 31, 0) && h.stood == 0)
      // One that the shell had no credit for waits too long: it has taken nothing that is to be given back twice.
      h.post(0, 3)
      h.idle()
      assert(h.available(0) == 3)
      h.available(0) -= 3
      h.send(0, 4 * 256, arrives = false)
      h.idle()
      waitFor(h.cd, "the drop")(h.dropped(0) == 2)
      h.idle()
      assert(h.available(0) == 3)
      val count = ErrorTree.c2h.toLong << 32 | 1 << ErrorTree.descriptorCount
      assert(h.errors == Seq(count, count))
    }
  }

  test("the shell hears of buffers that a context has when it is written") {
    run("context") { h =>
      // All but 2 buffers are posted, as a ring that was stopped and goes on.
      val setting = QueueSetting(size = 1)
      h.begin(4, setting)
      h.post(4, 62, rings = false)
      h.changeBuffers(4, setting, c => { c.pidx #= 60; c.pending #= true })
      h.ring(4).open = true
      waitFor(h.cd, "the credits")(h.available(4) == 60)
      h.idle()
      assert(h.available(4) == 60)
      for (_ <- 0 until 60) h.sendCredited(4, 64)
      h.settle(4)
      h.doorbell(4, 62)
      for (_ <- 0 until 2) h.sendCredited(4, 64)
      h.settle(4)
      // A ring that begins anew has none of those of before.
      h.changeBuffers(4, setting)
      h.idle()
      assert(h.available(4) == 0 && h.lost.last == 4 -> false)
    }
  }

  test("a ring that cannot be as its context says has its error at its doorbell, or at the first frame") {
    run("wrong") { h =>
      h.begin(6)
      h.changeBuffers(6, QueueSetting(), _.context.wrong #= true)
      h.post(6, 3)
      h.idle()
      assert(h.errors == Seq(1L << 4) && h.lost.contains(6 -> true) && h.host.reads.isEmpty)
      h.errors.clear()
      h.begin(7)
      h.changeBuffers(7, QueueSetting(), c => { c.context.wrong #= true; c.pidx #= 3 })
      h.idle()
      assert(h.errors.isEmpty && h.host.reads.isEmpty && h.available(7) == 0)
      h.send(7, 64, arrives = false, error = true)
      h.settle(7)
      h.idle()
      assert(h.errors == Seq(1L << 4, ErrorTree.c2h.toLong << 32 | 1 << ErrorTree.descriptorResponse))
      assert(h.status(7) == RingEvent.Status(1, 0, 1, 1, 2))
    }
  }
}
