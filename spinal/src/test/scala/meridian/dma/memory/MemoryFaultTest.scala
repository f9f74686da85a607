// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.pcie.Answer
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** What ends a memory-mapped queue, and what others do meanwhile. */
class MemoryFaultTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, memory = true)
  lazy val compiled = SimConfig.compile(new MemoryEngine(p, p.descriptorTags + p.payloadTags, timeOut = 3000))
  def run(name: String, pace: Float = 1.0f)(body: MemoryHarness => Unit): Unit =
    compiled.doSim(name, 12)(dut => body(new MemoryHarness(dut, p, 12, pace)))
  private val both = Seq(false, true)
  private val host = 0x40000000L
  private val malformed = 1L << 4
  private val descriptor = 1L << 21 | 1L << 2
  private val read = 1L << 20 | 1L << 2
  private val ofCard = 1L << 20

  /** A transfer of queue 4 that fails, between others of the queue, and what its ring tells; queue 5 goes on. */
  private def fails(h: MemoryHarness, c2h: Boolean, error: Long, kind: Int, bad: () => Unit): Unit = {
    for (queue <- Seq(4, 5)) h.change(queue, c2h)
    h.errors.clear()
    h.post(4, c2h, host, 0x1000, 700)
    bad()
    h.post(4, c2h, host + 0x4000, 0x5000, 700)
    for (i <- 0 until 6) h.post(5, c2h, host + 0x10000 + 0x1000 * i, 0x10000 + 0x1000 * i, 700)
    for (queue <- Seq(5, 4)) h.doorbell(queue, c2h)
    waitFor(h.cd, "the error", 20000)(h.errors.nonEmpty && h.status(4, c2h)._1 != 0)
    h.settle(5, c2h)
    h.host.release()
    h.idle()
    assert(h.errors.toSeq == Seq(error -> c2h) && h.status(4, c2h) == ((kind, 1, 3)))
    h.compare(c2h, host, 0x1000, 700)
    for (i <- 0 until 6) h.compare(c2h, host + 0x10000 + 0x1000 * i, 0x10000 + 0x1000 * i, 700)
    val clear = Seq.fill(800)(0.toByte)
    val (is, at) = if (c2h) (h.memory, host + 0x4000) else (h.card.memory, 0x5000L)
    assert(is.read(at, 800) == clear, "a transfer behind the one that failed is carried out")
  }

  test("a descriptor without bytes stops its queue alone") {
    for (c2h <- both) run(s"malformed-$c2h")(h => fails(h, c2h, malformed, 1, () => h.describe(4, c2h, host, 0, 0)))
  }

  test("an address that the card's memory refuses stops its queue alone, also in the last part of a long transfer") {
    for (c2h <- both; (length, pace) <- Seq(64 -> 1.0f, 5000 -> 1.0f, 20000 -> 0.4f)) run(s"card-$c2h-$length", pace) {
      h =>
        h.card.isWrong = address => address >= 0x800000 && address < 0x900000
        fails(h, c2h, ofCard, 2, () => h.describe(4, c2h, host + 0x100000, 0x800000 - length + 32, length))
        // The queue begins anew.
        h.change(4, c2h)
        h.post(4, c2h, host + 0x8000, 0x8000, 333)
        h.doorbell(4, c2h)
        h.settle(4, c2h)
        h.compare(c2h, host + 0x8000, 0x8000, 333)
    }
  }

  test("a row of a burst that the card's memory refuses ends its transfer, and at most what is before it is written") {
    val length = 3000
    for (c2h <- both; row <- Seq(0, 1, 8, 60, 63, 64, 68, 93); pace <- Seq(1.0f, 0.4f))
      run(s"row-$c2h-$row-$pace", pace) { h =>
        h.card.isWrong = _ == 0x20000 + 32 * row
        fails(h, c2h, ofCard, 2, () => h.post(4, c2h, host + 0x20005, 0x20003, length))
        val (is, wanted, at) =
          if (c2h) (h.memory, h.wantedHost, host + 0x20005) else (h.card.memory, h.wantedCard, 0x20003L)
        val got = is.read(at, length)
        val right = got.zip(wanted.read(at, length)).takeWhile { case (a, b) => a == b }.size
        assert(got.drop(right).forall(_ == 0) && right <= 32 * row + 40, s"$right bytes were written")
      }
  }

  test("a read that fails stops its queue alone, of bytes or of descriptors") {
    for (answer <- Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut, Answer.Never)) {
      run(s"payload-$answer") { h =>
        h.host.answerOf =
          address => if (address >= host + 0x102000 && address < host + 0x110000) answer else Answer.Data
        fails(h, c2h = false, read, 2, () => h.describe(4, c2h = false, host + 0x100001, 0x400000, 20000))
      }
      for (c2h <- both) run(s"descriptor-$answer-$c2h") { h =>
        for (queue <- Seq(4, 5)) h.change(queue, c2h)
        h.host.answerOf = address => if (address == h.ring(4, c2h)) answer else Answer.Data
        for (queue <- Seq(4, 5); i <- 0 until 3) h.post(queue, c2h, host + 0x1000 * (16 * queue + i), 0x1000 * i, 64)
        for (queue <- Seq(4, 5)) h.doorbell(queue, c2h)
        h.settle(5, c2h)
        waitFor(h.cd, "the error")(h.status(4, c2h) == ((1, 0, 3)))
        assert(h.errors.toSeq == Seq(descriptor -> c2h))
        h.host.release()
        h.idle()
      }
    }
  }

  test("a function that may not access memory has its queues stopped, and nothing of it leaves") {
    for (c2h <- both) run(s"master-$c2h") { h =>
      h.change(5, c2h) // of VF 6
      h.change(4, c2h) // of VF 5
      h.card.holds = true
      for (queue <- Seq(4, 5); i <- 0 until 8) {
        h.post(queue, c2h, host + 0x4000 * (16 * queue + i), 0x4000 * (16 * queue + i), 9000)
      }
      for (queue <- Seq(4, 5)) h.doorbell(queue, c2h)
      h.cd.waitSampling(500)
      h.setMaster(h.function(5), on = false)
      h.cd.waitSampling(20)
      h.card.holds = false
      h.settle(4, c2h)
      waitFor(h.cd, "the error")(h.errors.nonEmpty)
      assert(h.errors.map(_._2).toSeq == Seq(c2h) && h.status(5, c2h) == ((0, 0, 0)))
      h.idle()
    }
  }

  test("behind a change of its context nothing of a queue's past begins") {
    for (c2h <- both; pace <- Seq(1.0f, 0.3f); wait <- 0 until 24) run(s"change-$c2h-$pace-$wait", pace) { h =>
      for (queue <- Seq(4, 5)) h.change(queue, c2h)
      for (queue <- Seq(4, 5); i <- 0 until 6) {
        h.post(queue, c2h, host + 0x4000 * (16 * queue + i), 0x4000 * (16 * queue + i), 1500)
      }
      for (queue <- Seq(4, 5)) h.doorbell(queue, c2h)
      h.cd.waitSampling(30 + 27 * wait)
      h.change(4, c2h, enable = wait % 2 == 0)
      waitFor(h.cd, "the end of what had begun")(!h.engine.late.toBoolean)
      h.cd.waitSampling(2)
      h.memory.write(h.descriptor(4, c2h, h.entries), Seq.fill(8)(0.toByte))
      val first = host + 0x4000 * 16 * 4
      val end = host + 0x4000 * 16 * 5
      var isPast = true
      h.host.onWrite =
        (_, address, _) => assert(!isPast || address < first || address >= end, "a request of the queue's past leaves")
      val writes = h.card.writes.count(address => address >= 0x4000 * 16 * 4 && address < 0x4000 * 16 * 5)
      h.settle(5, c2h)
      h.idle()
      assert(h.card.writes.count(address => address >= 0x4000 * 16 * 4 && address < 0x4000 * 16 * 5) == writes)
      isPast = false
      if (wait % 2 == 0) {
        h.post(4, c2h, first + 0x30000, 0x4000 * 16 * 4 + 0x30000, 99)
        h.doorbell(4, c2h)
        h.settle(4, c2h)
        h.compare(c2h, first + 0x30000, 0x4000 * 16 * 4 + 0x30000, 99)
      }
      assert(h.errors.isEmpty)
    }
  }

  test("a function's reset waits for a burst to the card that has begun") {
    for (wait <- 0 until 12) run(s"burst-$wait") { h =>
      h.change(4, c2h = false)
      for (i <- 0 until 6) h.post(4, c2h = false, host + 0x4000 * i, 0x4000 * i, 1500)
      h.doorbell(4, c2h = false)
      waitFor(h.cd, "a burst")(h.card.writes.nonEmpty)
      h.cd.waitSampling(wait)
      h.card.holds = true
      h.cd.waitSampling(60)
      val isHeld = h.engine.axi.w.valid.toBoolean || h.engine.axi.aw.valid.toBoolean
      h.change(4, c2h = false, enable = false)
      h.engine.drain.payload #= h.function(4)
      h.engine.drain.valid #= true
      var ends = false
      for (_ <- 0 until 200) {
        h.cd.waitSampling()
        ends |= h.engine.drain.ready.toBoolean
      }
      assert(!(isHeld && ends), "the drain ends before the burst")
      h.card.holds = false
      waitFor(h.cd, "the drain")(h.engine.drain.ready.toBoolean)
    }
  }

  test("a function's reset ends when nothing of it is under way, while others go on") {
    for (c2h <- both; pace <- Seq(1.0f, 0.3f); wait <- 0 until 16) run(s"drain-$c2h-$pace-$wait", pace) { h =>
      for (queue <- Seq(4, 5)) h.change(queue, c2h)
      for (queue <- Seq(4, 5); i <- 0 until 8) {
        h.post(queue, c2h, host + 0x4000 * (16 * queue + i), 0x4000 * (16 * queue + i), 3000)
      }
      for (queue <- Seq(4, 5)) h.doorbell(queue, c2h)
      h.cd.waitSampling(30 + 41 * wait)
      val function = h.function(4)
      h.change(4, c2h, enable = false)
      h.engine.drain.payload #= function
      h.engine.drain.valid #= true
      h.cd.waitSampling()
      waitFor(h.cd, "the drain")(h.engine.drain.ready.toBoolean)
      assert(!h.host.open.exists(_.function == function), "a read of the function is open")
      h.engine.drain.valid #= false
      val (reads, writes) = (h.host.reads.count(_._1 == function), h.host.writes.count(_._1 == function))
      val bursts = h.card.writes.count(address => address >= 0x4000 * 16 * 4 && address < 0x4000 * 16 * 5)
      h.settle(5, c2h)
      h.idle()
      assert(h.host.reads.count(_._1 == function) == reads && h.host.writes.count(_._1 == function) == writes)
      assert(h.card.writes.count(address => address >= 0x4000 * 16 * 4 && address < 0x4000 * 16 * 5) == bursts)
    }
  }
}
