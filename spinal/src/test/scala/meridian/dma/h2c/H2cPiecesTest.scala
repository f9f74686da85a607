// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.DmaParam
import meridian.dma.pcie.Answer
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** Frames whose bytes are in several places of the host's memory. */
class H2cPiecesTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)
  lazy val compiled = SimConfig.compile(new H2cEngine(p, timeOut = 15000))
  def run(name: String, pace: Float = 1.0f, maxRead: Int = 512)(body: H2cHarness => Unit): Unit =
    compiled.doSim(name, 11)(dut => body(new H2cHarness(dut, p, 11, pace, maxRead)))

  private val far = 0x40000000L // what the host does not answer as it should
  private def isFar(address: Long): Boolean = address >= far && address < far + 0x10000

  for ((maxRead, pace) <- Seq(128 -> 0.7f, 512 -> 1.0f))
    test(s"pieces of any length at any address make one frame, reads of up to $maxRead, pace $pace") {
      run(s"any$maxRead", pace, maxRead) { h =>
        for (queue <- 0 until p.queues) h.change(queue, stride = queue % 3)
        h.payload(0x200000, p.queues * 0x10000)
        for (_ <- 0 until 8) {
          for (queue <- 0 until p.queues; _ <- 0 until 1 + h.random.nextInt(6)) {
            val pieces = for (i <- 0 until 1 + h.random.nextInt(1 << queue % 3)) yield {
              val length = 1 + h.random.nextInt(if (h.random.nextBoolean()) 40 else 1500)
              val address = 0x200000L + queue * 0x10000 + i * 0x4000 + h.random.nextInt(4096)
              address -> length
            }
            h.post(queue, pieces, h.random.nextInt(1 << 30))
          }
          for (queue <- 0 until p.queues) h.doorbell(queue)
          for (queue <- 0 until p.queues) h.settle(queue)
        }
        h.idle()
        assert(h.errors.isEmpty)
      }
    }

  test("a piece costs 2 cycles between its beats and those of the piece before") {
    run("cost") { h =>
      h.change(2, stride = 2)
      var (cycle, first, last, beats) = (0, 0, 0, 0)
      h.cd.onSamplings {
        cycle += 1
        if (h.engine.h2c.valid.toBoolean && h.engine.h2c.ready.toBoolean) {
          if (beats == 0) first = cycle
          last = cycle
          beats += 1
        }
      }
      // All has come when the frame begins.
      h.host.holdsAt = address => address >= 0x200000 && address < 0x200200 && h.host.open.size > 1
      h.payload(0x200000, 4 * 512)
      h.post(2, Seq.tabulate(4)(i => (0x200000L + 512 * i, 512)), 7)
      h.doorbell(2)
      h.settle(2)
      info(s"$beats beats in ${last - first + 1} cycles")
      assert(beats == 64 && last - first + 1 <= 64 + 3 * 3)
    }
  }

  test("a frame that waits for a piece ends with an error when its queue is changed, and others pass") {
    run("change", 0.8f) { h =>
      h.payload(far, 8192)
      h.payload(0x200000, 8192)
      for (round <- 0 until 6; stride <- 1 to 2) {
        h.change(2, stride = stride)
        h.change(3)
        h.frames.foreach(_.clear())
        h.wanted.foreach(_.clear())
        h.host.holdsAt = isFar
        h.post(2, Seq(0x200000L + round -> 700, far -> 300), 5)
        h.post(2, Seq(0x200000L -> 20), 6)
        h.doorbell(2)
        h.cd.waitSampling(300)
        assert(h.frames(2).isEmpty)
        h.change(2, stride = stride)
        h.host.holdsAt = _ => false
        h.wanted(2).clear()
        h.post(2, Seq(0x200000L -> 33, 0x200100L -> 99), 8)
        h.doorbell(2)
        h.post(3, 0x200000L, 64, 9)
        h.doorbell(3)
        waitFor(h.cd, "the other queue's frame")(h.frames(3).nonEmpty)
        waitFor(h.cd, "the new frame")(h.frames(2).size == 2)
        assert(h.frames(2).head.failed && h.frames(2)(1) == h.wanted(2).head)
        h.settle(3)
        h.idle()
      }
      assert(h.errors.isEmpty)
    }
  }

  /** A frame of these pieces stops its queue, with this kind of error in the status entry, and another queue's passes. */
  private def stops(h: H2cHarness, stride: Int, pieces: Seq[(Long, Int)], kind: Int): Unit = {
    h.change(2, stride = stride)
    h.change(1, stride = 1)
    h.frames.foreach(_.clear())
    h.wanted.foreach(_.clear())
    h.errors.clear()
    h.post(2, pieces, 5)
    h.post(2, Seq(0x200000L -> 20), 6)
    h.doorbell(2)
    h.post(1, Seq(0x200000L -> 54, 0x200800L -> 1446), 9)
    h.doorbell(1)
    h.settle(1)
    waitFor(h.cd, "the error's status", 40000)(h.status(2) == ((kind, 0, 2)))
    h.cd.waitSampling(500)
    assert(h.frames(2).forall(_.failed))
  }

  for (answer <- Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut, Answer.Never))
    test(s"a piece whose read fails ends its frame with an error, and stops the queue alone: $answer") {
      run(s"fails$answer", 0.8f, 256) { h =>
        h.payload(0x200000, 8192)
        h.host.answerOf = address => if (isFar(address)) answer else Answer.Data
        // A host that has answered late once does so always.
        for (bad <- if (answer == Answer.Never) Seq(2) else 0 until 4) {
          stops(h, 2, Seq.tabulate(4)(i => (if (i == bad) far else 0x200000L + 1000 * i, 700 + i)), 2)
          assert(h.frames(2).size == (if (bad == 0) 0 else 1))
          h.host.release()
          h.idle()
        }
      }
    }

  test(
    "an empty piece, or too many bytes, stop the queue alone with an error of parameters, and nothing behind is read"
  ) {
    run("malformed", 0.8f, 256) { h =>
      h.payload(0x200000, 0x10000)
      val all = Seq(Seq(0, 9), Seq(9, 0), Seq(9, 0, 9, 9), Seq(9, 9, 0, 9), Seq(9, 9, 9, 0), Seq(65535, 1)) :+
        Seq(30000, 30000, 5000, 536)
      for (lengths <- all) {
        h.host.reads = Nil
        val bad = lengths.indices.indexWhere(i => lengths(i) == 0 || lengths.take(i + 1).sum > 65535)
        stops(h, lengths.size / 2, lengths.zipWithIndex.map { case (n, i) => (if (i > bad) far else 0x200000L, n) }, 1)
        assert(h.errors == Seq(1L << 4), lengths)
        assert(!h.host.reads.exists(read => isFar(read._2)), lengths)
        h.idle()
      }
    }
  }

  test("nothing is fetched of a ring whose doorbells are refused, and others pass") {
    run("wrong", 0.8f, 256) { h =>
      h.payload(0x200000, 8192)
      for (stride <- 0 to 3) {
        h.frames.foreach(_.clear())
        h.wanted.foreach(_.clear())
        h.host.reads = Nil
        h.change(2, stride = stride, wrong = true, posted = 5)
        h.change(1, stride = 1)
        for (i <- 0 until 6) h.post(1, Seq(0x200000L -> (54 + i), 0x200800L -> 1446), 9 + i)
        h.doorbell(1)
        h.settle(1)
        assert(!h.host.reads.exists(read => read._2 >= h.ring(2) && read._2 < h.ring(3)), stride)
        assert(h.frames(2).isEmpty && h.errors.isEmpty, stride)
        h.idle()
      }
    }
  }
}
