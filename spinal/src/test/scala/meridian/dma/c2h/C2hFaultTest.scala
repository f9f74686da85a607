// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.descriptor.ErrorTree
import meridian.host.FrameSim._
import spinal.core.sim._

/** What goes wrong, and rings and functions that are taken away. */
class C2hFaultTest extends C2hSuite {
  import RingEvent._

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

  test("a drain ends when a slow read has come, however much others have written meanwhile") {
    run("long drain") { h =>
      for (frames <- Seq(20, 64, 70, 100, 128)) {
        h.begin(0, QueueSetting())
        h.begin(1, QueueSetting(size = 3))
        val slow = h.descriptors(0)
        h.host.holdsAt = _ == slow
        h.post(0, 4)
        waitFor(h.cd, "the read")(h.host.open.nonEmpty)
        h.changeBuffers(0, QueueSetting(enable = false))
        h.changeCompletions(0, QueueSetting(), isValid = false)
        h.cd.waitSampling(40)
        h.engine.drain.payload #= h.function(0)
        h.engine.drain.valid #= true
        h.cd.waitSampling(30)
        for (_ <- 0 until frames) {
          h.post(1, 1)
          h.sendCredited(1, 64)
        }
        h.settle(1)
        assert(!h.engine.drain.ready.toBoolean)
        h.host.holdsAt = _ => false
        waitFor(h.cd, "the drain", 2000)(h.engine.drain.ready.toBoolean)
        h.engine.drain.valid #= false
        h.idle()
      }
    }
  }

  test("a function that may not access memory writes nothing; drain ends when what it had is gone") {
    run("drain", 0.8f) { h =>
      for (_ <- 0 until 20) {
        h.setMaster(h.function(0), on = true)
        for (queue <- Seq(0, 1)) {
          h.begin(queue, QueueSetting(irq = true))
          h.post(queue, 14)
        }
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

  for ((what, length, empty, bit) <- Seq(("is not as long", 96, 0, 1), ("ends elsewhere than", 30, 0, 0)))
    test(s"a frame that $what as it says is told") {
      run(s"mismatch$bit") { h =>
        h.begin(0)
        h.post(0, 4)
        h.sendWrong(0, length, empty)
        waitFor(h.cd, "the error")(h.errors.nonEmpty)
        h.cd.waitSampling(100)
        assert(h.errors.toSeq == Seq(ErrorTree.c2h.toLong << 32 | 1L << bit))
      }
    }
}
