// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core.sim._

/** From doorbells to bytes in either memory, with a host and a card that answer as they may. */
class MemoryEngineTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, memory = true)
  lazy val compiled = SimConfig.compile(new MemoryEngine(p, p.descriptorTags + p.payloadTags, timeOut = 15000))
  def run(name: String, pace: Float = 1.0f, maxPayload: Int = 256)(body: MemoryHarness => Unit): Unit =
    compiled.doSim(name, 11)(dut => body(new MemoryHarness(dut, p, 11, pace, maxPayload)))
  private val both = Seq(false, true)

  test("64 bytes go to the card's memory and back, and the status entries tell it") {
    run("one") { h =>
      for (c2h <- both) {
        h.change(3, c2h)
        h.post(3, c2h, 0x200000, 0x1000, 64)
        h.doorbell(3, c2h)
        h.settle(3, c2h)
        h.compare(c2h, 0x200000, 0x1000, 64)
        h.idle()
      }
      assert(h.errors.isEmpty && h.card.writes == Seq(0x1000L) && h.card.reads == Seq(0x1000L))
    }
  }

  test("bytes of any length go from any address to any address, with any maximum sizes") {
    for ((pace, maxPayload) <- Seq(1.0f -> 256, 0.6f -> 512, 0.3f -> 128))
      run(s"lengths$maxPayload", pace, maxPayload) { h =>
        for (c2h <- both) h.change(1, c2h)
        val lengths = (1 to 70) ++ Seq(127, 128, 129, 511, 512, 513, 4095, 4096, 4097, 9000, 70000)
        for (length <- lengths; c2h <- both) {
          val host = 0x40000000L + 0x40000 * h.random.nextInt(64) + h.random.nextInt(5000)
          val card = 0x100000L + 0x40000 * h.random.nextInt(64) + h.random.nextInt(5000)
          h.clear(host, card, length)
          h.post(1, c2h, host, card, length)
          h.doorbell(1, c2h)
          h.settle(1, c2h)
          h.compare(c2h, host, card, length)
        }
        h.idle()
        assert(h.errors.isEmpty)
      }
  }

  /** What is to be seen behind a doorbell, in order, and for how many cycles at most it may be away from what is before it,
    * as docs/dma.md has them. None: the host takes them, or the card's memory.
    */
  private def steps(c2h: Boolean): Seq[(String, Option[Int])] = {
    val descriptor = Seq("RQ" -> Some(16), "RC" -> None)
    if (c2h) descriptor ++ Seq("R" -> Some(20), "RQ" -> Some(7), "RQ" -> Some(14))
    else descriptor ++ Seq("RQ" -> Some(19), "RC" -> None, "W" -> Some(15), "RQ" -> Some(13))
  }

  test("each step of 64 bytes takes no more cycles than its bound, and 4 KiB go each way in 240 cycles or less") {
    run("steps", maxPayload = 256) { h =>
      for (c2h <- both) {
        h.change(3, c2h)
        h.post(3, c2h, 0x200000, 0x1000, 64)
        h.cd.waitSampling(50)
        var cycle = 0
        val at = mutable.ArrayBuffer[(String, Int)]()
        var ends = false
        var isFirst = true // the next beat on RQ begins a request
        h.cd.onSamplings {
          cycle += 1
          def note(name: String, now: Boolean): Unit = if (now && !ends) at += name -> cycle
          val (rq, rc, axi) = (h.engine.rq, h.engine.rc, h.engine.axi)
          val asks = rq.valid.toBoolean && rq.ready.toBoolean
          note("doorbell", at.isEmpty && h.engine.doorbells(if (c2h) 1 else 0).valid.toBoolean)
          note("RC", rc.valid.toBoolean && rc.last.toBoolean)
          note("W", axi.w.valid.toBoolean && axi.w.ready.toBoolean && axi.w.last.toBoolean)
          note("R", axi.r.valid.toBoolean && axi.r.ready.toBoolean && axi.r.last.toBoolean)
          note("RQ", asks && isFirst)
          if (asks) isFirst = rq.last.toBoolean
        }
        h.doorbell(3, c2h)
        h.settle(3, c2h)
        ends = true
        val spans = at.map(_._2).zip(at.tail.map(_._2)).map { case (from, to) => to - from }
        info(s"c2h $c2h: " + at.tail.map(_._1).zip(spans).map { case (to, took) => s"$to after $took" }.mkString(", "))
        assert(at.map(_._1) == "doorbell" +: steps(c2h).map(_._1))
        for (((name, bound), took) <- steps(c2h).zip(spans); most <- bound) assert(took <= most, name)
        for (i <- 0 until 14) h.post(3, c2h, 0x400000 + 0x1000 * i, 0x10000 + 0x1000 * i, 4096)
        h.doorbell(3, c2h)
        val from = cycle
        h.settle(3, c2h)
        val each = (cycle - from) / 14.0
        info(f"c2h $c2h: $each%.1f cycles for 4 KiB")
        assert(each <= 240)
      }
    }
  }

  test("queues of both directions and of all functions have their turns, in random order") {
    for ((pace, maxPayload) <- Seq(1.0f -> 512, 0.4f -> 128)) run(s"turns$maxPayload", pace, maxPayload) { h =>
      for (queue <- 0 until p.queues; c2h <- both) h.change(queue, c2h)
      for (round <- 0 until 4) {
        val posted = mutable.ArrayBuffer[(Boolean, Long, Long, Int)]()
        for (queue <- 0 until p.queues; c2h <- both; i <- 0 until h.random.nextInt(15)) {
          val place = (queue * 2 + (if (c2h) 1 else 0)) * 16 + i
          val host = 0x40000000L + 0x2000 * place + h.random.nextInt(1000)
          val card = 0x1000000L + 0x2000 * place + h.random.nextInt(1000)
          val length = 1 + h.random.nextInt(if (h.random.nextInt(4) == 0) 3000 else 100)
          h.clear(host, card, length)
          h.post(queue, c2h, host, card, length)
          posted += ((c2h, host, card, length))
          if (h.random.nextInt(3) == 0) h.doorbell(queue, c2h)
        }
        for (queue <- 0 until p.queues; c2h <- both) h.doorbell(queue, c2h)
        for (queue <- 0 until p.queues; c2h <- both) h.settle(queue, c2h)
        for ((c2h, host, card, length) <- posted) h.compare(c2h, host, card, length)
      }
      h.idle()
      assert(h.errors.isEmpty)
    }
  }

  test("an interrupt is asked for behind the status entry, and tells the ring") {
    run("interrupt") { h =>
      for (c2h <- both) {
        h.change(5, c2h, irq = true)
        var told = 0
        h.host.onWrite = (_, address, _) =>
          if (address == h.descriptor(5, c2h, h.entries)) {
            told += 1
            assert(h.interrupts.isEmpty)
          }
        h.post(5, c2h, 0x200000, 0x3000, 300)
        h.doorbell(5, c2h)
        waitFor(h.cd, "the interrupt")(h.interrupts.nonEmpty)
        assert(told == 1 && h.interrupts.toSeq == Seq((5, c2h, 5, 1)))
        h.interrupts.clear()
        h.idle()
      }
    }
  }
}
