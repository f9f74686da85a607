// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** What the engine owes the host while RQ takes nothing. */
class H2cStallTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)
  lazy val compiled = SimConfig.compile(new H2cEngine(p))
  def run(name: String)(body: H2cHarness => Unit): Unit =
    compiled.doSim(name, 11)(dut => body(new H2cHarness(dut, p, 11)))

  test(
    "while RQ takes nothing doorbells are taken, and what waits of a queue is told once after, with its newest CIDX"
  ) {
    run("stall") { h =>
      val ended = 0 until 7 // fetches of so many have a tag each
      val failed = 7 until p.queues
      for (queue <- 0 until p.queues) {
        h.change(queue)
        for (i <- 0 until 5) h.post(queue, 0x80000, 0, i)
      }
      // Some queues have asked for their descriptors when RQ stops, and end while it stands still.
      h.host.holds = true
      for (queue <- ended) h.doorbell(queue)
      waitFor(h.cd, "the fetches")(h.host.open.size == ended.size)
      h.host.setPace(0)
      h.host.holds = false
      waitFor(h.cd, "the frames")(ended.forall(h.frames(_).size == 5))
      for (queue <- failed) h.doorbell(queue, h.entries)
      waitFor(h.cd, "the errors", 2000)(h.errors.size == failed.size)
      h.cd.waitSampling(5000)
      assert((0 until p.queues).forall(h.status(_) == ((0, 0, 0))))
      val writes = h.host.writes.size
      h.host.setPace(1)
      for (queue <- ended) h.settle(queue)
      for (queue <- failed)
        waitFor(h.cd, s"the error of queue $queue", 2000)(h.status(queue) == ((1, 0, 0)))
      h.cd.waitSampling(500)
      val told = h.host.writes.drop(writes)
      // The entry that was at RQ when it stopped may have a second one behind it.
      assert(told.size <= p.queues + 1 && told.distinct.size == p.queues)
      assert(h.longestWait < 40, "a doorbell waits for RQ") // as FetchEngine says
      info(s"a doorbell waited for ${h.longestWait} cycles at most")
    }
  }

  test("status entries that wait behind RQ are dropped when their function may not access memory any more") {
    run("entries") { h =>
      val queues = Seq(0, 3, 6) // of function 0
      h.host.holdsAt = address => address >= 0x200000 && address < 0x300000
      for (queue <- queues) {
        h.change(queue)
        h.payload(0x200000, 64)
        h.post(queue, 0x200000, 64, 1)
        h.doorbell(queue)
      }
      waitFor(h.cd, "the reads")(h.host.open.size == 3)
      h.host.setPace(0)
      h.host.holdsAt = _ => false
      waitFor(h.cd, "the frames")(queues.forall(h.frames(_).nonEmpty))
      h.cd.waitSampling(100)
      h.setMaster(0, on = false)
      h.cd.waitSampling(100)
      h.host.setPace(1)
      h.cd.waitSampling(100)
      // The one that was at RQ cannot be taken back.
      assert(queues.map(h.status).sorted == Seq((0, 0, 0), (0, 0, 0), (0, 1, 1)))
    }
  }
}
