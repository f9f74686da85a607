// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.pcie.Answer
import meridian.host.FrameSim._
import spinal.core.sim._

/** Frames that the shell sends without having been told of their buffers, and what they do to those of others. */
class C2hWaitTest extends C2hSuite {
  private val limit = C2hDut.frameWait

  test("a frame whose ring has too few buffers waits for the doorbell that brings them") {
    run("doorbell", 0.8f) { h =>
      h.begin(0)
      h.post(0, 2, rings = false)
      h.send(0, 2049)
      h.cd.waitSampling(limit / 4)
      assert(h.ring(0).arrived == 0)
      // One of the two that it needs.
      h.doorbell(0, 1)
      h.cd.waitSampling(limit / 4)
      assert(h.ring(0).arrived == 0)
      h.doorbell(0, 2)
      h.settle(0)
      assert(h.errors.isEmpty && h.dropped.sum == 0)
    }
  }

  test("one that has waited too long is dropped, and those of its ring behind it at once, until there is a doorbell") {
    run("dropped") { h =>
      h.begin(0)
      h.begin(1, QueueSetting(size = 3))
      h.post(1, 60)
      h.idle()
      for (round <- 1 to 3) {
        val dropped = h.dropped(0)
        h.stood = 0
        for (_ <- 0 until 10) {
          h.send(0, 64, arrives = false)
          h.send(1, 64)
        }
        h.settle(1)
        waitFor(h.cd, "the drops")(h.dropped(0) == dropped + 10)
        assert(h.stood >= limit && h.stood < limit + 20, s"frames stood for ${h.stood} cycles")
        // The time comes back. Without a doorbell the ring's frames wait no more.
        h.cd.waitSampling(9 * limit)
        h.send(0, 64, arrives = false)
        h.idle()
        waitFor(h.cd, "the drop")(h.dropped(0) == dropped + 11)
        assert(h.stood < limit + 20)
        h.post(0, 1)
        h.send(0, 64)
        h.settle(0)
        h.cd.waitSampling(1000)
      }
      assert(h.errors.isEmpty)
    }
  }

  test("frames whose descriptors do not come hold up the others for one wait; those that come later are the shell's") {
    run("slow") { h =>
      h.begin(0)
      h.begin(1, QueueSetting(size = 3))
      h.post(1, 60)
      h.idle()
      h.host.holdsAt = address => address >= h.descriptors(0) && address < h.descriptors(1)
      h.post(0, 5, rings = false)
      h.doorbell(0, 5)
      for (_ <- 0 until 10) {
        h.send(0, 64, arrives = false)
        h.send(1, 64)
      }
      h.settle(1)
      waitFor(h.cd, "the drops")(h.dropped(0) == 10)
      assert(h.stood >= limit && h.stood < limit + 20)
      h.host.holdsAt = _ => false
      h.idle()
      assert(h.available(0) == 5)
      for (_ <- 0 until 5) h.sendCredited(0, 64)
      h.settle(0)
    }
  }

  test("a ring whose doorbells come as its frames are dropped holds up the others for a ninth of the time at most") {
    run("share") { h =>
      for (queue <- Seq(0, 3, 6)) h.begin(queue, QueueSetting(size = 3, buffer = 2)) // of one function
      h.begin(1, QueueSetting(size = 3, noOverflowCheck = true))
      h.post(1, 400)
      h.idle()
      val from = simTime()
      h.stood = 0
      var dropped = 0
      for (i <- 0 until 81) {
        val queue = Seq(0, 3, 6)(i % 3)
        h.ring(queue).pidx += 1
        h.doorbell(queue, h.ring(queue).pidx)
        h.send(queue, 31 * 256, arrives = false) // it has fewer
        h.send(1, 64)
        dropped += 1
        waitFor(h.cd, "the drop")(h.dropped(0) + h.dropped(3) + h.dropped(6) == dropped)
        h.cd.waitSampling(h.random.nextInt(3000))
      }
      h.settle(1)
      val cycles = (simTime() - from) / 10
      info(s"${h.stood} of $cycles cycles")
      assert(h.stood <= limit + cycles / 9 + 20 && h.stood >= limit)
    }
  }

  test("a ring fails while its frame waits, and the frame's completion says so") {
    run("fails", 0.7f) { h =>
      for (answer <- Seq(Answer.Unsupported, Answer.Poisoned, Answer.Never)) {
        for (queue <- 0 until 3) h.begin(queue)
        h.idle()
        h.errors.clear()
        h.host.answerOf = address => if (address < h.descriptors(1)) answer else Answer.Data
        h.host.holds = true
        for (queue <- 0 until 3) h.post(queue, 3)
        h.ring(0).posted.clear()
        if (answer == Answer.Never) h.host.holds = false
        val before = h.dropped(0)
        h.send(0, 64, arrives = false, error = answer != Answer.Never)
        h.send(0, 64, arrives = false)
        for (queue <- 1 until 3) h.send(queue, 64)
        h.cd.waitSampling(limit / 2)
        h.host.holds = false
        for (queue <- 0 until 3) h.settle(queue)
        waitFor(h.cd, "the drops")(h.dropped(0) == before + 2)
        if (answer == Answer.Never) {
          // The read is given up later, and the next frame tells.
          waitFor(h.cd, "the error")(h.errors.size == 2)
          h.send(0, 64, arrives = false, error = true)
          h.settle(0)
          h.host.release()
        }
        h.idle()
        assert(h.errors.size == 2)
        h.host.answerOf = _ => Answer.Data
        h.cd.waitSampling(9 * limit) // the time that frames may wait has come back
      }
    }
  }
}
