// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.DmaParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** Interrupt rings: entries, vectors, CIDX and contexts. */
class InterruptRingsTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, vectors = 8)
  val vf = 5
  val ring = 9
  lazy val compiled = SimConfig.compile(new InterruptEngine(p, 3))
  def run(name: String)(body: (InterruptHarness, InterruptEngine) => Unit): Unit =
    compiled.doSim(name, 5) { dut =>
      val h = new InterruptHarness(dut, p)
      h.setAll()
      body(h, dut)
    }

  private def tell(h: InterruptHarness, ring: Int, queue: Int, pidx: Int = 0, cidx: Int = 0, error: Int = 0): Unit =
    h.ask(2)(0, ring, true, queue, pidx, cidx, error)
  private def word(write: SentWrite): BigInt = BigInt(write.words.head) | BigInt(write.words(1)) << 32

  test("an interrupt for a ring is an entry of it, and the ring's message behind, 8 and 13 cycles after it") {
    run("entry") { (h, dut) =>
      h.begin(ring, vf, 3)
      var start = 0
      h.cd.onSamplings(if (start == 0 && dut.io.requests(2).valid.toBoolean) start = h.cycle)
      tell(h, ring, queue = 0x2a5, pidx = 0x1234, cidx = 0xabcd, error = 2)
      waitFor(h.cd, "the message", 100)(h.writes.size == 2)
      val Seq(entry, message) = h.writes.toSeq
      assert(entry.function == vf && entry.address == h.base(ring))
      assert(word(entry) == (BigInt(1) << 63 | BigInt(0x2a5) << 39 | BigInt(2) << 35 | BigInt(0xabcd) << 16 | 0x1234))
      assert(h.messageOf(message) == vf -> 3)
      info(s"entry after ${entry.cycle - start} cycles, message after ${message.cycle - start}")
      assert(entry.cycle - start == 8 && message.cycle - start == 13, "as InterruptEngine says")
      assert(h.hold(ring)() == ((1, true, true)))
    }
  }

  test(
    "the vector is asked for once until software writes CIDX, and again if entries are unread, but not for nothing"
  ) {
    run("cidx") { (h, _) =>
      h.begin(ring, vf, 3)
      for (i <- 0 until 4) tell(h, ring, queue = i)
      h.cd.waitSampling(100)
      assert(h.messages == Seq(vf -> 3) && h.writes.size == 5)
      h.bell(0, ring, 1) // not its ring
      h.cd.waitSampling(50)
      assert(h.messages.size == 1)
      h.bell(vf, ring, 1)
      h.cd.waitSampling(50)
      assert(h.messages.size == 2, "entries are unread")
      h.bell(vf, ring, 1)
      h.cd.waitSampling(50)
      assert(h.messages.size == 2 && !h.hold(ring)()._3, "a handler that found nothing starts itself for ever")
      tell(h, ring, queue = 4)
      h.cd.waitSampling(50)
      assert(h.messages.size == 3)
      h.bell(vf, ring, 5)
      h.cd.waitSampling(50)
      assert(h.messages.size == 3)
      tell(h, ring, queue = 5)
      h.cd.waitSampling(50)
      assert(h.messages.size == 4)
    }
  }

  test("a ring of any number of pages wraps, and its colour changes there, whether or not it has room") {
    run("wrap") { (h, _) =>
      for (pages <- 0 until 8) {
        val entries = 512 * (pages + 1)
        val from = entries - 3
        h.begin(ring, 0, 1, pages, pidx = from, colour = pages % 2 == 0)
        h.writes.clear()
        for (i <- 0 until 6) tell(h, ring, queue = i)
        h.cd.waitSampling(200)
        val told = h.writes.toSeq.filterNot(h.isMessage)
        assert(told.map(w => ((w.address - h.base(ring)) / 8).toInt) == (0 until 6).map(i => (from + i) % entries))
        assert(told.map(w => word(w) >> 63 == 1) == (0 until 6).map(i => (i < 3) == (pages % 2 == 0)))
        assert(h.hold(ring)() == ((3, pages % 2 != 0, true)))
        // A PIDX beyond the ring.
        h.begin(ring, 0, 1, pages, pidx = 4000)
        h.writes.clear()
        tell(h, ring, queue = 1)
        h.cd.waitSampling(50)
        assert(h.writes.head.address == h.base(ring) + 8 * (4000 % entries))
      }
    }
  }

  test("an interrupt for a ring that is not valid or not there is dropped") {
    run("invalid") { (h, _) =>
      h.begin(ring, vf, 3, valid = false)
      for (to <- Seq(ring, ring + 1, 256 + ring, 0x400)) tell(h, to, queue = 1)
      h.bell(vf, ring, 7)
      h.cd.waitSampling(100)
      assert(h.writes.isEmpty && h.asked.isEmpty && h.hold(ring)() == ((0, true, false)))
      h.begin(ring, vf, 3)
      tell(h, 256 + ring, queue = 1)
      h.cd.waitSampling(100)
      assert(h.writes.isEmpty)
    }
  }

  test("a ring whose function may not access memory goes on without entries and messages") {
    run("bus master") { (h, dut) =>
      h.begin(ring, vf, 3)
      dut.io.busMaster #= h.all.clearBit(vf)
      tell(h, ring, queue = 1)
      h.cd.waitSampling(100)
      assert(h.hold(ring)() == ((1, true, true)))
      dut.io.busMaster #= h.all
      tell(h, ring, queue = 2)
      h.cd.waitSampling(100)
      assert(h.writes.size == 1 && h.writes.head.address == h.base(ring) + 8)
    }
  }

  test(
    "while RQ takes nothing, CIDX and contexts are taken, vectors are asked for, and an entry is late or not at all"
  ) {
    run("stall") { (h, dut) =>
      h.begin(ring, vf, 3)
      h.begin(ring + 1, 0, 1)
      h.pace = 0
      h.cd.waitSampling(5)
      tell(h, ring, queue = 1)
      tell(h, ring, queue = 2)
      tell(h, ring + 1, queue = 3)
      h.cd.waitSampling(200)
      h.request(1, 5)
      h.cd.waitSampling(50)
      assert(h.asked == Seq(vf -> 3, 1 -> 5), "a vector waits behind an entry")
      h.bell(vf, ring, 0)
      assert(h.longestBell <= 20 && !dut.io.late.toBoolean)
      h.begin(ring, vf, 3, valid = false)
      h.cd.waitSampling(5)
      assert(dut.io.late.toBoolean, "an entry of a ring that is changed is at RQ")
      h.pace = 1
      h.cd.waitSampling(5)
      assert(!dut.io.late.toBoolean)
      h.cd.waitSampling(200)
      val entries = h.writes.toSeq.filterNot(h.isMessage)
      assert(entries.map(_.address) == Seq(h.base(ring), h.base(ring + 1)))
    }
  }

  test("a message never leaves before the entry that it tells of") {
    for (seed <- 0 until 3) compiled.doSim(s"order $seed", seed) { dut =>
      val h = new InterruptHarness(dut, p)
      h.setAll()
      h.begin(ring, vf, 3)
      h.pace = Seq(1.0f, 0.3f, 0.05f)(seed)
      var entries, told = 0
      var seen = 0
      h.cd.onSamplings {
        for (write <- h.writes.drop(seen)) {
          if (!h.isMessage(write)) entries += 1
          else if (h.messageOf(write) == vf -> 3) told = entries
        }
        seen = h.writes.size
      }
      for (i <- 0 until 300) {
        tell(h, ring, queue = i)
        h.request(i % 4, i % 8)
        h.cd.waitSampling(simRandom.nextInt(30))
        if (i % 3 == 0) h.bell(vf, ring, told % 512)
      }
      h.pace = 1
      waitFor(h.cd, "the entries", 10000)(entries == 300)
      h.cd.waitSampling(100)
      // A handler that reads what it was told of, until nothing is left.
      for (_ <- 0 until 8) {
        h.bell(vf, ring, told % 512)
        h.cd.waitSampling(60)
      }
      assert(entries == 300 && told == 300, "an entry's message was ahead of it, or is missing")
    }
  }

  test("a reset waits for the entry of the function's ring that is at RQ") {
    run("drain") { (h, dut) =>
      h.begin(ring, vf, 3)
      h.pace = 0
      h.cd.waitSampling(5)
      for (i <- 0 until 3) tell(h, ring, queue = i)
      h.cd.waitSampling(100)
      h.begin(ring, vf, 3, valid = false)
      var isDrained = false
      val draining = fork {
        h.drain(vf, limit = 3000)
        isDrained = true
      }
      h.cd.waitSampling(1000)
      assert(!isDrained)
      h.pace = 1
      draining.join()
      val before = h.writes.size
      h.cd.waitSampling(200)
      assert(h.writes.size == before && before == 2, "an entry and its message")
    }
  }

  test("a reset drops an error's interrupt if the ring is the function's, whichever function the interrupt names") {
    run("errors") { (h, _) =>
      def tellErrors(named: Int): Unit = {
        h.pace = 0
        h.cd.waitSampling(5)
        for (_ <- 0 until 4) h.ask(0)(named, ring, aggregate = true, ofQueue = false)
        h.cd.waitSampling(100)
      }
      def drains(function: Int): Unit = {
        val draining = fork(h.drain(function, limit = 3000))
        h.cd.waitSampling(1000)
        h.pace = 1
        draining.join()
      }
      h.begin(ring, vf, 3)
      tellErrors(named = 4)
      drains(4)
      h.cd.waitSampling(200)
      assert(h.writes.count(!h.isMessage(_)) == 4, "one is lost with a function that has not the ring")
      h.begin(ring, vf, 3, valid = false)
      h.begin(ring, vf, 3)
      val before = h.writes.count(!h.isMessage(_))
      tellErrors(named = 4)
      h.begin(ring, vf, 3, valid = false)
      drains(vf)
      h.begin(ring, vf, 3)
      h.cd.waitSampling(200)
      assert(h.writes.count(!h.isMessage(_)) <= before + 1, "an entry of the past is in the ring that begins anew")
      tellErrors(named = vf)
      h.pace = 1
      h.cd.waitSampling(200)
      assert(h.writes.count(!h.isMessage(_)) >= before + 4)
    }
  }
}
