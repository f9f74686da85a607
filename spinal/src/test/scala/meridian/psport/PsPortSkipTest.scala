// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable

/** Frames that were read into the transmit buffer and are not sent: their words leave it exactly once. */
class PsPortSkipTest extends AnyFunSuite {
  val port = 1

  private def same(left: Seq[SentFrame], expected: Seq[Seq[Byte]]): Unit = {
    for (((got, want), i) <- left.zip(expected).zipWithIndex)
      assert(got.bytes.sameElements(want), s"frame $i of ${want.size} bytes left with other bytes")
    assert(left.size == expected.size, "every frame that was completed as sent leaves")
  }

  /** One frame is half gone when the MAC stops; those behind it are given up, all in one go. */
  private def giveUp(length: Int, offset: Int, taken: Int): Unit =
    PsPortBench.run(s"$length bytes at offset $offset, $taken beats taken", 20) { env =>
      var beats = 0
      env.cd.onSamplings {
        if (env.dut.io.tx(port).valid.toBoolean && env.dut.io.tx(port).ready.toBoolean) beats += 1
      }
      // What is set in one cycle is seen by the shell in the next: the beat that is taken now counts, too.
      env.txReady(port) =
        () => beats + (if (env.dut.io.tx(port).valid.toBoolean && env.dut.io.tx(port).ready.toBoolean) 1 else 0) < taken
      env.memory.latency = () => 5
      val tx = new TxRing(env, port, 0x2000, 4)
      tx.start()
      val frames = Seq.fill(6)(env.randomBytes(length))
      for ((bytes, i) <- frames.zipWithIndex) {
        env.memory.write(0x10000 + 0x1000 * i + offset, bytes.toSeq)
        tx.post(0x10000 + 0x1000 * i + offset, length)
      }
      tx.publish()
      env.cd.waitSampling(1500)
      tx.disable()
      env.waitFor("the stop", 30 * PsPortBench.patience)(!tx.running)
      val errors = Iterator.continually(tx.complete()).takeWhile(_.nonEmpty).map(_.get.flags >> 2 & 0xf).toSeq
      val begun = errors.takeWhile(_ == 0).size // with its last beat before the MAC, a frame lets the next one begin
      val aborted = errors.drop(begun)
      assert(begun == 1 || begun == 2)
      assert(aborted.forall(_ == (1 | (3 << 2))))
      assert(aborted.size >= 2, "frames are given up one behind the other")
      tx.reset()
      val fresh = Seq.fill(24)(env.randomBytes(333 + simRandom.nextInt(1200)))
      env.txReady(port) = () => true
      tx.enable()
      for (chunk <- fresh.grouped(12)) {
        for ((bytes, i) <- chunk.zipWithIndex) {
          env.memory.write(0x40000 + 0x1000 * i, bytes.toSeq)
          tx.post(0x40000 + 0x1000 * i, bytes.length)
        }
        tx.publish()
        for (_ <- chunk) {
          env.waitFor("a completion after the restart", 5000)(tx.poll().nonEmpty)
          assert((tx.complete().get.flags & 4) == 0)
        }
      }
      env.waitFor("idle", 3000)(env.dut.io.idle.toBoolean)
      same(env.sent(port).toSeq, (frames.take(begun) ++ fresh).map(_.toSeq))
    }

  test("frames given up while the last words of one stand before the MAC leave nothing behind") {
    giveUp(20, 0, 0)
    giveUp(86, 2, 8)
    for (left <- 1 to 4; length <- Seq(878, 1206, 1514)) giveUp(length, 2, (length + 7) / 8 - left)
  }

  /** Frames with bus errors, a MAC that pauses, stops and resets; what leaves is what was completed as sent. */
  private def stress(seed: Int): Unit = PsPortBench.run("not sent", seed) { env =>
    env.memory.fault = (address, read) => if (read && (address & 0x20000) != 0) 2 else 0
    var pause = 0
    env.txReady(port) = () => {
      if (pause > 0) pause -= 1
      else if (simRandom.nextInt(400) == 0) pause = simRandom.nextInt(3 * PsPortBench.patience)
      pause == 0 && simRandom.nextInt(4) != 0
    }
    val tx = new TxRing(env, port, 0x2000, 4)
    tx.start()
    val taken = mutable.Queue[Array[Byte]]()
    val sent = mutable.ArrayBuffer[Seq[Byte]]()
    var notSent = 0
    def collect(): Unit = for (done <- Iterator.continually(tx.complete()).takeWhile(_.nonEmpty).flatten) {
      val bytes = taken.dequeue()
      if ((done.flags & 4) == 0) sent += bytes.toSeq else notSent += 1
    }
    for (round <- 0 until 8) {
      for (_ <- 0 until 5 + simRandom.nextInt(30)) {
        env.cd.waitSampling(1 + simRandom.nextInt(100))
        while (tx.posted < tx.size && simRandom.nextInt(8) != 0) {
          val bytes = env.randomBytes(1 + simRandom.nextInt(if (simRandom.nextBoolean()) 100 else 1600))
          val fault = if (simRandom.nextInt(3) == 0) 0x20000 else 0
          val buffer = 0x800000L + 0x40000 * (tx.producer % tx.size) + fault + simRandom.nextInt(8)
          env.memory.write(buffer, bytes.toSeq)
          tx.post(buffer, bytes.length)
          taken.enqueue(bytes)
        }
        tx.publish()
        collect()
      }
      simRandom.nextInt(3) match {
        case 0 =>
        case kind =>
          tx.disable()
          env.waitFor("the stop", 40 * PsPortBench.patience)(!tx.running)
          collect()
          if (kind == 2) { tx.reset(); taken.clear() }
          tx.enable()
      }
    }
    env.txReady(port) = () => true
    env.waitFor("the last completion", 20000) { collect(); taken.isEmpty }
    env.waitFor("idle", 3000)(env.dut.io.idle.toBoolean)
    same(env.sent(port).toSeq, sent.toSeq)
    assert(notSent > 0 && sent.nonEmpty)
  }

  test("bus errors, pauses of the MAC, stops and resets in any order: what is completed as sent leaves, and no more") {
    for (seed <- 100 until 160) stress(seed)
  }
}
