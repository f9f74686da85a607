// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.DmaParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** Vectors: the MSI-X table, pending bits and messages. */
class InterruptEngineTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, vectors = 8)
  val vf = 5
  lazy val compiled = SimConfig.compile(new InterruptEngine(p, 3))
  def run(name: String)(body: (InterruptHarness, InterruptEngine) => Unit): Unit =
    compiled.doSim(name, 5)(dut => body(new InterruptHarness(dut, p), dut))

  test("after reset every vector is masked, and one that is asked for is pending until it is unmasked") {
    run("reset") { (h, _) =>
      for (f <- Seq(0, 3, vf); v <- 0 until p.vectors) {
        assert((0 until 4).map(i => h.read(f, 16 * v + 4 * i)) == Seq(0, 0, 0, 1))
        h.set(f, v)
        h.write(f, 16 * v + 12, 0xffffffffL)
        assert(
          (0 until 4).map(i => h.read(f, 16 * v + 4 * i)) ==
            Seq((h.address(f, v) & 0xffffffffL).toLong, (h.address(f, v) >> 32).toLong, h.data(f, v), 1)
        )
      }
      for (v <- Seq(2, 5, 2)) h.request(vf, v)
      h.cd.waitSampling(50)
      assert(h.writes.isEmpty && h.pending(vf) == 0x24 && h.pending(0) == 0)
      h.write(vf, MsixTable.pendingAt, 0)
      h.write(vf, MsixTable.pendingAt + 4, 0xff)
      assert(h.pending(vf) == 0x24 && h.read(vf, MsixTable.pendingAt + 4) == 0, "software cannot write pending bits")
      h.setMask(vf, 3, masked = false)
      h.setMask(0, 5, masked = false)
      h.cd.waitSampling(20)
      assert(h.writes.isEmpty)
      h.setMask(vf, 5, masked = false)
      h.cd.waitSampling(20)
      assert(h.messages == Seq(vf -> 5) && h.pending(vf) == 4)
      h.setMask(vf, 2, masked = false)
      h.cd.waitSampling(20)
      assert(h.messages == Seq(vf -> 5, vf -> 2) && h.pending(vf) == 0)
      for (v <- Seq(2, 7)) h.request(vf, v)
      h.cd.waitSampling(20)
      assert(h.messages.last == vf -> 2 && h.messages.size == 3 && h.pending(vf) == 0x80)
    }
  }

  test("a vector of a function that MSI-X is off or masked for, or that may not access memory any more, is pending") {
    run("allowed") { (h, dut) =>
      h.setAll()
      dut.io.enabled #= h.all.clearBit(vf)
      for (v <- Seq(1, 6)) h.request(vf, v)
      h.cd.waitSampling(50)
      assert(h.writes.isEmpty && h.pending(vf) == 0x42)
      dut.io.busMaster #= h.all.clearBit(vf)
      dut.io.enabled #= h.all
      h.cd.waitSampling(50)
      h.request(vf, 3) // not taken at all
      h.cd.waitSampling(50)
      assert(h.writes.isEmpty && h.pending(vf) == 0x42)
      dut.io.busMaster #= h.all
      h.cd.waitSampling(50)
      assert(h.messages.sorted == Seq(vf -> 1, vf -> 6) && h.pending(vf) == 0)
    }
  }

  test("vectors and functions that are not there are not looked at") {
    run("nowhere") { (h, _) =>
      h.setAll()
      for ((f, v) <- Seq(0 -> p.vectors, 0 -> 0x402, p.functions -> 1, 0xf00 -> 1, 255 -> 1)) h.request(f, v)
      h.request(0, 1)
      h.cd.waitSampling(100)
      assert(h.messages == Seq(0 -> 1))
      for (f <- 0 until 4) assert(h.pending(f) == 0)
    }
  }

  test("a message is on RQ 8 cycles after its request, and one of each vector a second after 7 more at most") {
    run("latency") { (h, dut) =>
      h.setAll()
      var first = 0
      h.cd.onSamplings {
        if (first == 0 && dut.io.requests(1).valid.toBoolean) first = h.cycle
      }
      h.ask(1)(3, 2, aggregate = false)
      waitFor(h.cd, "the message")(h.writes.nonEmpty)
      assert(h.writes.head.cycle - first == 8, "as InterruptEngine says")
      h.cd.waitSampling(50)
      val start = h.cycle
      for (i <- 0 until 200; f <- Seq(0, vf)) h.request(f, i % 8, source = if (f == 0) 0 else 2)
      waitFor(h.cd, "the messages")(h.messages.size == 401)
      info(s"400 messages of two functions took ${h.cycle - start} cycles")
      assert(h.cycle - start <= 7 * 400 + 20)
    }
  }

  test("an access of the table takes 7 cycles at most while messages leave") {
    run("accesses") { (h, dut) =>
      h.setAll()
      for (i <- 0 until 300; f <- Seq(0, 1, vf)) h.request(f, i % 8, source = i % 3)
      for (_ <- 0 until 200) h.pending(1)
      assert(h.messages.size > 50, "no messages leave meanwhile")
      info(s"an access took ${h.longestAccess} cycles at most")
      assert(h.longestAccess <= 7, "as MsixTable says")
    }
  }

  test("while RQ takes nothing, interrupts are taken and the table is read, and one message of each vector follows") {
    run("stall") { (h, dut) =>
      h.setAll()
      h.pace = 0
      h.cd.waitSampling(5)
      for (i <- 0 until 300; f <- Seq(0, 1, vf)) h.request(f, i % 8, source = i % 3)
      h.cd.waitSampling(4500)
      assert(h.asked.size == 900, "an interrupt waits for RQ")
      for (f <- Seq(0, 1, vf)) assert(h.pending(f) == 0xff)
      for (v <- 0 until 4) h.setMask(1, v, masked = true)
      assert(h.longestAccess <= 6, "as MsixTable says")
      h.pace = 1
      h.cd.waitSampling(400)
      // One was at RQ, and its vector was asked for again behind it.
      val wanted = for (f <- Seq(0, 1, vf); v <- 0 until 8 if f != 1 || v >= 4) yield f -> v
      assert(h.messages.tail.sorted == wanted.sorted && (h.messages.head == 0 -> 0))
      for (f <- Seq(0, 1, vf)) assert(h.pending(f) == (if (f == 1) 15 else 0))
    }
  }

  test("neither a vector nor a function waits for one that is asked for all the time") {
    run("turns") { (h, dut) =>
      h.setAll()
      h.pace = 0.02f
      for (i <- 0 until 2000) h.request(0, 1 + i % 2, source = 2)
      h.cd.waitSampling(200)
      val before = h.messages.size
      for (v <- Seq(0, 3, 7)) h.request(0, v, source = 1)
      h.request(vf, 4, source = 0)
      waitFor(h.cd, "the others", 4000)(Seq(0 -> 0, 0 -> 3, 0 -> 7, vf -> 4).forall(h.messages.drop(before).contains))
      assert(h.messages.size - before <= 14, "others come first too often")
    }
  }

  test("software that accesses its table without a pause leaves others every second operation") {
    run("accesses") { (h, dut) =>
      h.setAll()
      val pins = dut.io.table.access
      pins.valid #= true
      pins.function #= vf
      pins.offset #= 12
      pins.write #= true
      pins.data #= 0
      for (i <- 0 until 200; f <- Seq(0, 1)) h.request(f, i % 8, source = f)
      val start = h.cycle
      var accesses = 0
      h.cd.onSamplings(if (pins.ready.toBoolean) accesses += 1)
      waitFor(h.cd, "the messages", 20000)(h.messages.size == 400)
      info(s"400 messages took ${h.cycle - start} cycles, with $accesses accesses between")
      assert(h.cycle - start <= 12 * 400 && accesses >= 400, "neither waits for the other")
      h.drain(0)
      pins.valid #= false
      h.cd.waitSampling(20)
      assert(h.pending(0) == 0)
    }
  }

  test("a VF that is taken away has masked vectors and none pending when it is given back, and others keep theirs") {
    run("taken away") { (h, dut) =>
      h.setAll()
      dut.io.enabled #= 0
      for (f <- Seq(0, 4, vf); v <- Seq(1, 2)) h.request(f, v)
      h.cd.waitSampling(50)
      dut.io.exists #= h.all.clearBit(vf)
      h.cd.waitSampling(20)
      dut.io.exists #= h.all
      dut.io.enabled #= h.all
      h.cd.waitSampling(50)
      assert(h.messages.sorted == Seq(0 -> 1, 0 -> 2, 4 -> 1, 4 -> 2) && h.pending(vf) == 0)
      for (v <- 0 until p.vectors) assert(h.read(vf, 16 * v + 12) == 1 && h.read(4, 16 * v + 12) == 0)
      h.setMask(vf, 1, masked = false)
      h.request(vf, 1)
      h.cd.waitSampling(50)
      assert(h.messages.last == vf -> 1)
      // All at once, while software reads.
      dut.io.enabled #= 0
      for (f <- Seq(0, 4, vf); v <- Seq(3, 5)) h.request(f, v)
      h.cd.waitSampling(50)
      dut.io.exists #= 15
      for (_ <- 0 until 20) h.read(0, 0)
      dut.io.exists #= h.all
      for (f <- 4 until p.functions if p.exists(f); v <- 0 until p.vectors)
        assert(h.read(f, 16 * v + 12) == 1 && h.pending(f) == 0)
      assert(h.read(0, 12) == 0 && h.pending(0) == 0x28)
    }
  }

  test("what a function has asked for is not sent after its reset, in which PCIe masks its vectors") {
    run("drain") { (h, dut) =>
      h.setAll()
      dut.io.enabled #= h.all.clearBit(vf)
      for (f <- Seq(0, vf); v <- Seq(1, 2)) h.request(f, v)
      h.cd.waitSampling(50)
      h.drain(vf)
      dut.io.enabled #= h.all
      h.cd.waitSampling(50)
      assert(h.messages == Seq(0 -> 1, 0 -> 2) && h.pending(vf) == 0)
      assert(h.read(vf, 16 + 12) == 0, "a reset that is not PCIe's leaves the table")
      dut.io.inReset #= BigInt(1) << vf
      h.drain(vf)
      dut.io.inReset #= 0
      for (v <- 0 until p.vectors) assert(h.read(vf, 16 * v + 12) == 1 && h.read(0, 16 * v + 12) == 0)
      assert(h.read(vf, 16 + 8) == h.data(vf, 1))
    }
  }

  test("a reset waits for the function's message that is at RQ, and not for another's") {
    run("drain at RQ") { (h, dut) =>
      h.setAll()
      h.pace = 0
      h.cd.waitSampling(5)
      for (v <- 0 until 5) h.request(vf, v)
      h.cd.waitSampling(100)
      h.drain(0)
      var isDrained = false
      val draining = fork {
        h.drain(vf, limit = 3000)
        isDrained = true
      }
      h.cd.waitSampling(1000)
      assert(!isDrained && h.pending(vf) == 1, "what is at RQ counts as pending")
      h.pace = 1
      draining.join()
      assert(h.pending(vf) == 0)
      h.cd.waitSampling(200)
      assert(h.messages == Seq(vf -> 0))
    }
  }

  test("random interrupts, masks and resets: what is asked for is sent or pending, and nothing else is sent") {
    run("random") { (h, dut) =>
      val random = new Random(3)
      val functions = Seq(0, 2, 4, vf)
      h.setAll()
      val masked = scala.collection.mutable.Set[(Int, Int)]()
      // The last two are cycles.
      val owed, asked, sent = scala.collection.mutable.Map[(Int, Int), Int]().withDefaultValue(0)
      var enabled = h.all
      var asks, count = 0
      h.cd.onSamplings {
        for (at <- h.asked.drop(asks)) {
          owed(at) += 1
          asked(at) = h.cycle
        }
        asks = h.asked.size
        for (write <- h.writes.drop(count)) {
          val at = h.messageOf(write)
          assert(owed(at) > 0, s"$at is sent, and nobody has asked for it")
          owed(at) -= 1
          sent(at) = h.cycle
        }
        count = h.writes.size
      }
      for (step <- 0 until 3000) {
        val at = (functions(random.nextInt(functions.size)), random.nextInt(p.vectors))
        random.nextInt(12) match {
          case 0 =>
            h.setMask(at._1, at._2, masked = true)
            masked += at
          case 1 | 2 =>
            h.setMask(at._1, at._2, masked = false)
            masked -= at
          case 3 =>
            enabled = enabled.flipBit(at._1)
            dut.io.enabled #= enabled
          case 4 => h.pace = Seq(0.0f, 0.1f, 1.0f)(random.nextInt(3))
          case _ => h.request(at._1, at._2, source = random.nextInt(3))
        }
        if (step % 40 == 39) {
          h.pace = 1
          h.cd.waitSampling(400)
          for (f <- functions) {
            val bits = h.pending(f)
            for (v <- 0 until p.vectors) {
              val is = (bits >> v & 1) == 1
              val sends = enabled.testBit(f) && !masked((f, v))
              assert(!(is && sends), s"vector $v of function $f is pending, and may be sent")
              assert(is || sent((f, v)) >= asked((f, v)), s"vector $v of function $f is lost")
              owed((f, v)) = if (is) 1 else 0
            }
          }
          val before = h.writes.size
          h.cd.waitSampling(50)
          assert(h.writes.size == before)
        }
      }
      info(s"${h.writes.size} messages")
      assert(h.writes.size > 500)
    }
  }
}
