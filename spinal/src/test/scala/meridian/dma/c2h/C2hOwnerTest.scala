// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.host.FrameSim._
import spinal.core.sim._

/** Rings that get another owner while the host or the port of interrupts takes nothing. */
class C2hOwnerTest extends C2hSuite {

  test("frames that came for a queue's owner of before are dropped, however long they were kept") {
    for (seed <- 1 to 4) run(s"kept$seed", seed = seed) { h =>
      h.begin(1, QueueSetting(size = 3))
      h.begin(2, QueueSetting(size = 1))
      h.post(1, 200)
      h.post(2, 40)
      h.idle()
      // Frames of queue 1 before RQ, and then more of both than are given buffers.
      h.host.setPace(0)
      for (_ <- 0 until 50) h.send(1, 64)
      h.cd.waitSampling(400)
      val kept = 1 + h.random.nextInt(6)
      for (_ <- 0 until kept) h.send(2, 64, arrives = false)
      h.cd.waitSampling(300)
      h.ring(2).posted.clear()
      h.startChange(2, QueueSetting(size = 1))
      h.changePrefetch(2, QueueSetting(size = 1))
      h.ring(2).pidx = 0
      h.post(2, 20)
      h.send(2, 64)
      h.cd.waitSampling(200)
      h.host.setPace(1)
      h.settle(1)
      h.settle(2)
      h.idle()
      assert(h.dropped(2) == kept && h.delivered(2) == 1, s"${h.dropped(2)} of $kept frames were dropped")
      assert(h.available(2) == 20 && h.errors.isEmpty) // told of all; one was sent without asking
    }
  }

  test("a context's change ends at once while RQ stands still; it is late until what was begun has left") {
    for ((pace, seed) <- Seq((1.0f, 1), (0.7f, 2), (0.5f, 3), (1.0f, 4), (0.9f, 5), (0.8f, 6)))
      run(s"late$seed", pace, seed = seed) { h =>
        for (queue <- Seq(1, 2)) {
          h.begin(queue, QueueSetting(size = 1))
          h.post(queue, 40)
        }
        h.idle()
        assert(!h.engine.late.toBoolean)
        for (_ <- 0 until 4) {
          h.send(1, 600)
          h.send(2, 1200)
        }
        h.cd.waitSampling(20 + h.random.nextInt(150))
        h.host.setPace(0)
        h.cd.waitSampling(h.random.nextInt(100))
        val from = simTime()
        h.startChange(2, QueueSetting(size = 1, enable = false))
        val cycles = (simTime() - from) / 10
        assert(cycles < 60, s"the change took $cycles cycles")
        // Other rings are served meanwhile.
        h.doorbell(1, 41)
        waitFor(h.cd, "the doorbell", 60)(h.waitingDoorbells == 0)
        h.cd.waitSampling(500)
        val begun = h.engine.late.toBoolean
        h.host.setPace(pace)
        waitFor(h.cd, "what was late", 5000)(!h.engine.late.toBoolean)
        h.cd.waitSampling()
        h.ring(2).open = false // a write from here on is a failure
        h.settle(1)
        h.idle()
        info(s"the change took $cycles cycles, and was ${if (begun) "" else "not "}late")
      }
  }

  test("while the port of interrupts takes nothing, rings of buffers are served, and each interrupt comes once after") {
    run("interrupts") { h =>
      def begin(queue: Int) = {
        h.begin(queue)
        h.changeBuffers(queue, QueueSetting(), c => { c.context.irqEnable #= true; c.context.irqArm #= true })
        h.ring(queue).open = true
        h.ring(queue).pidx = 0
      }
      h.takers(0).setFactor(0)
      for (queue <- 0 until 8) begin(queue)
      for (queue <- 0 until 8) h.doorbell(queue, 15) // beyond the ring
      waitFor(h.cd, "the errors", 2000)(h.errors.size == 8)
      h.cd.waitSampling(200)
      assert(h.interrupted.isEmpty)
      // What a ring owes is forgotten with its owner, also that which waits at the port.
      val forgotten = Seq(0, 3, 5)
      forgotten.foreach(begin)
      h.post(3, 4)
      h.sendCredited(3, 64)
      h.settle(3)
      h.takers(0).setFactor(1)
      h.cd.waitSampling(500)
      val rest = (0 until 8).filterNot(forgotten.contains)
      assert(h.interrupted.sorted == rest.map(q => h.function(q) -> q).sorted, h.interrupted)
      // One that was not armed comes when it is.
      h.interrupted.clear()
      h.begin(9)
      h.changeBuffers(9, QueueSetting(), c => { c.context.irqEnable #= true; c.context.irqRequest #= true })
      h.doorbell(9, 0, arm = true)
      h.doorbell(9, 0, arm = true)
      h.cd.waitSampling(200)
      assert(h.interrupted == Seq(h.function(9) -> 9))
    }
  }

  test("changes of two rings while both have frames under way, with back-pressure, let no write of the past through") {
    for (seed <- 21 to 24) run(s"both$seed", 0.6f, if (seed % 2 == 0) 128 else 512, seed) { h =>
      for (_ <- 0 until 15) {
        for (queue <- Seq(4, 7, 8)) {
          h.begin(queue)
          h.post(queue, 14)
        }
        for (_ <- 0 until 6; queue <- Seq(4, 7, 8)) h.send(queue, 1 + h.random.nextInt(3000))
        h.cd.waitSampling(50 + h.random.nextInt(700))
        h.startChange(4, QueueSetting(enable = false))
        h.changeBuffers(7, QueueSetting(enable = false))
        h.ring(4).open = false
        h.settle(8)
        h.idle()
      }
    }
  }
}
