// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.pcie.Answer
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import spinal.core.sim._

/** Queues that change their owner, and all that may happen at any time: nothing of the past reaches what is new. */
class MemoryChangeTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, memory = true)
  lazy val compiled = SimConfig.compile(new MemoryEngine(p, p.descriptorTags + p.payloadTags, timeOut = 3000))
  def run(name: String, pace: Float = 1.0f, maxPayload: Int = 256)(body: MemoryHarness => Unit): Unit =
    compiled.doSim(name, 13)(dut => body(new MemoryHarness(dut, p, 13, pace, maxPayload)))
  private val both = Seq(false, true)
  private val host = 0x40000000L

  test("a queue begins anew for another function while the card's memory is read for the one before") {
    for (c2h <- both; pace <- Seq(1.0f, 0.35f); wait <- 0 until 40 by 3) run(s"owner-$c2h-$pace-$wait", pace) { h =>
      h.change(4, c2h)
      for (i <- 0 until 6) h.post(4, c2h, host + 0x4000 * i, 0x4000 * i, 1500)
      h.doorbell(4, c2h)
      h.cd.waitSampling(40 + 11 * wait)
      h.card.holds = wait % 2 == 0
      h.cd.waitSampling(if (wait % 2 == 0) 60 else 0)
      h.change(4, c2h, enable = false)
      val owner = h.function(5)
      h.change(4, c2h, owner = Some(owner))
      h.card.holds = false
      waitFor(h.cd, "the end of what had begun")(!h.engine.late.toBoolean)
      h.cd.waitSampling(2)
      var written = Seq[(Int, Long)]()
      h.host.onWrite = (function, address, _) => written = written :+ (function -> address)
      val bursts = h.card.writes.size
      h.post(4, c2h, host + 0x30000, 0x40000, 999)
      h.doorbell(4, c2h)
      h.settle(4, c2h)
      h.compare(c2h, host + 0x30000, 0x40000, 999)
      assert(
        written.forall { case (of, at) => of == owner && at >= host + 0x30000 },
        "bytes of the owner before are written"
      )
      assert(h.card.writes.drop(bursts).forall(_ >= 0x40000))
      h.idle()
    }
  }

  test("the last bytes of the card's memory are written and read") {
    val end = 0x40000L
    for (maxPayload <- Seq(128, 512)) run(s"end-$maxPayload", maxPayload = maxPayload) { h =>
      h.card.isWrong = address => address >= end || address < 0
      for (c2h <- both) h.change(1, c2h)
      for (length <- 1 to 4; back <- length to length + 3; place <- 0 until 32 by 3; c2h <- both) {
        val at = host + 4080 + place
        h.clear(at, end - back, length)
        h.post(1, c2h, at, end - back, length)
        h.doorbell(1, c2h)
        h.settle(1, c2h)
        h.compare(c2h, at, end - back, length)
      }
      h.idle()
      assert(h.errors.isEmpty)
    }
  }

  test("a function may lose access to memory in any cycle, and begins anew") {
    for (c2h <- both; pace <- Seq(1.0f, 0.3f); wait <- 0 until 50 by 3) run(s"master-$c2h-$pace-$wait", pace, 512) {
      h =>
        for (queue <- Seq(4, 5)) h.change(queue, c2h)
        for (queue <- Seq(4, 5); i <- 0 until 4) {
          h.post(queue, c2h, host + 0x4000 * (16 * queue + i) + 3, 0x4000 * (16 * queue + i), 1500)
        }
        for (queue <- Seq(4, 5)) h.doorbell(queue, c2h)
        h.cd.waitSampling(10 + 7 * wait)
        h.setMaster(h.function(5), on = false)
        h.settle(4, c2h)
        h.idle()
        h.setMaster(h.function(5), on = true)
        h.change(5, c2h)
        h.post(5, c2h, host + 0x300000, 0x300000, 777)
        h.doorbell(5, c2h)
        h.settle(5, c2h)
        h.compare(c2h, host + 0x300000, 0x300000, 777)
        h.idle()
    }
  }

  test("whatever happened before, in any order, all queues work when they begin anew") {
    for (seed <- 0 until 6; pace <- Seq(1.0f, 0.4f)) run(s"any-$seed-$pace", pace, Seq(128, 256, 512)(seed % 3)) { h =>
      val random = new Random(seed)
      val bad = Seq(Answer.Never, Answer.TimedOut, Answer.Poisoned)
      h.card.isWrong = address => (address >= 0x800000 && address < 0x800020) || address > 0x10000000L || address < 0
      h.host.answerOf =
        address => if (address >= host + 0xf00000 && address < host + 0xf01000) bad(random.nextInt(3)) else Answer.Data
      for (queue <- 0 until p.queues; c2h <- both) h.change(queue, c2h)
      for (_ <- 0 until 250) {
        step(h, random)
        h.cd.waitSampling(random.nextInt(60))
      }
      h.card.holds = false
      for (function <- 0 until p.functions) h.setMaster(function, on = true)
      h.host.answerOf = _ => Answer.Data
      h.host.release()
      for (queue <- 0 until p.queues; c2h <- both) h.change(queue, c2h)
      waitFor(h.cd, "the end of all", 40000)(!h.engine.late.toBoolean && h.engine.quiet.toBoolean)
      h.errors.clear()
      for (queue <- 0 until p.queues; c2h <- both) {
        val at = 0x2000000L + 0x4000 * (2 * queue + (if (c2h) 1 else 0)) + random.nextInt(4000)
        h.memory.write(h.descriptor(queue, c2h, h.entries), Seq.fill(8)(0.toByte))
        h.post(queue, c2h, 0x60000000L + at, at, 1 + random.nextInt(5000))
        h.doorbell(queue, c2h)
      }
      for (queue <- 0 until p.queues; c2h <- both) h.settle(queue, c2h)
      assert(h.errors.isEmpty)
      h.idle()
    }
  }

  private def step(h: MemoryHarness, random: Random): Unit = {
    val (queue, c2h) = (random.nextInt(p.queues), random.nextBoolean())
    random.nextInt(12) match {
      case 0 => h.change(queue, c2h)
      case 1 => h.change(queue, c2h, enable = false)
      case 2 => h.change(queue, c2h, irq = true, owner = Some(Seq(0, 4, 5, 6)(random.nextInt(4))))
      case 3 =>
        h.describe(
          queue,
          c2h,
          host + 0xf00000 - random.nextInt(3000),
          0x800000 - random.nextInt(2000),
          random.nextInt(5000)
        )
        h.doorbell(queue, c2h)
      case 4                           => h.setMaster(4 + random.nextInt(3), on = false)
      case 5                           => for (function <- 0 until p.functions) h.setMaster(function, on = true)
      case 6 if random.nextInt(3) == 0 => h.card.holds = !h.card.holds
      case 7                           => h.host.release()
      case _ =>
        for (_ <- 0 until random.nextInt(4))
          h.describe(queue, c2h, host + random.nextInt(100000), random.nextInt(200000), 1 + random.nextInt(2500))
        h.doorbell(queue, c2h)
    }
  }
}
