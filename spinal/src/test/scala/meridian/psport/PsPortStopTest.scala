// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable

/** Rings stopped and started under traffic. */
class PsPortStopTest extends AnyFunSuite {
  test("rings stop in bounded time under traffic, lose nothing uncounted and go on where they were") {
    PsPortBench.run("stop", 8) { env =>
      val rx = new RxRing(env, 0, 0x1000, 3)
      val tx = new TxRing(env, 0, 0x2000, 3)
      rx.start()
      tx.start()
      val offeredFrames = mutable.Queue[Array[Byte]]()
      val txExpected = mutable.Queue[Array[Byte]]()
      var offered, received, posted, completed, lost, stops = 0
      def step(): Unit = {
        env.cd.waitSampling(1 + simRandom.nextInt(40))
        if (env.rxQueue(0).size < 3) {
          val frame = env.randomFrame(60 + simRandom.nextInt(1500))
          env.rxQueue(0).enqueue(frame)
          offeredFrames.enqueue(frame.bytes)
          offered += 1
        }
        while (rx.posted < rx.size) rx.post(0x100000L + 0x4000 * (rx.producer % rx.size) + simRandom.nextInt(64), 9600)
        rx.publish()
        for (got <- rx.receive()) {
          // Frames that came while the ring was stopped are gone, the others come in order.
          while (!offeredFrames.head.sameElements(got.bytes)) { offeredFrames.dequeue(); lost += 1 }
          offeredFrames.dequeue()
          received += 1
        }
        while (tx.posted < tx.size) {
          val bytes = env.randomBytes(1 + simRandom.nextInt(1500))
          val buffer = 0x200000L + 0x4000 * (tx.producer % tx.size) + simRandom.nextInt(64)
          env.memory.write(buffer, bytes.toSeq)
          tx.post(buffer, bytes.length)
          txExpected.enqueue(bytes)
          posted += 1
        }
        tx.publish()
        for (done <- tx.complete()) { assert((done.flags & 4) == 0); completed += 1 }
        while (env.sent(0).nonEmpty) assert(env.sent(0).dequeue().bytes.sameElements(txExpected.dequeue()))
      }
      for (round <- 0 until 12) {
        for (_ <- 0 until 10 + simRandom.nextInt(20)) step()
        val ring = if (round % 2 == 0) rx else tx
        ring.disable()
        if (simRandom.nextBoolean()) {
          val began = env.memory.now
          while (ring.running) assert(env.memory.now - began < 4000, "the ring does not stop")
          val (reads, consumer) = (env.memory.reads, ring.register(Offset.consumer))
          val before = ring.next
          for (_ <- 0 until 10) step()
          assert(ring.register(Offset.consumer) == consumer, "a stopped ring completes nothing")
          assert(((consumer - ring.next) & 0xffff) < ring.size && ring.next >= before && env.memory.reads >= reads)
          stops += 1
        }
        ring.enable()
      }
      for (ring <- Seq(rx, tx)) ring.stop()
      env.waitFor("the last frames", 20000)(env.rxQueue(0).isEmpty && env.dut.io.idle.toBoolean)
      while (rx.poll().nonEmpty) { received += 1; rx.receive() }
      while (tx.poll().nonEmpty) { completed += 1; tx.complete() }
      assert(stops > 2)
      assert(env.counter(0, Offset.rxFrames) == received && received > 30)
      assert(env.counter(0, Offset.rxDisabled) > 0)
      val counted = Seq(Offset.rxFrames, Offset.rxDisabled, Offset.rxNoDescriptor).map(env.counter(0, _)).sum
      assert(counted == offered)
      assert(env.counter(0, Offset.txFrames) == completed && env.counter(0, Offset.txAborted) == 0)
      assert(env.txEnds(0).size == completed && rx.register(Offset.consumer) == received)
    }
  }

  test("a transmit ring stops although the MAC takes nothing, and says which frames it gave up") {
    PsPortBench.run("stuck", 9) { env =>
      val tx = new TxRing(env, 1, 0x2000, 4)
      tx.start()
      env.txReady(1) = () => false
      val frames = Seq.fill(6)(env.randomBytes(200))
      for ((bytes, i) <- frames.zipWithIndex) {
        env.memory.write(0x10000 + 0x1000 * i, bytes.toSeq)
        tx.post(0x10000 + 0x1000 * i, 200, tag = i)
      }
      tx.publish()
      env.cd.waitSampling(3 * PsPortBench.patience)
      assert(tx.complete().nonEmpty && tx.complete().isEmpty, "only the frame that is being sent is completed")
      assert(env.counter(1, Offset.txAborted) == 0, "a running ring gives nothing up")
      tx.disable()
      env.waitFor("the stop", 30 * PsPortBench.patience)(!tx.running)
      val consumed = tx.register(Offset.consumer).toInt
      var aborted = 0
      for (done <- Iterator.continually(tx.complete()).takeWhile(_.nonEmpty).flatten) {
        assert(((done.flags >> 2) & 0xf) == (1 | (3 << 2)) && done.length == 0)
        aborted += 1
      }
      assert(aborted + 1 == consumed && aborted > 0 && env.counter(1, Offset.txAborted) == aborted)
      tx.reset()
      val fresh = env.randomBytes(333)
      env.memory.write(0x20000, fresh.toSeq)
      tx.post(0x20000, 333)
      tx.publish()
      tx.enable()
      env.cd.waitSampling(300)
      env.txReady(1) = () => true
      env.waitFor("two frames", 2000)(env.sent(1).size == 2)
      assert(env.sent(1).dequeue().bytes.sameElements(frames.head), "the frame that was half gone is whole")
      assert(env.sent(1).dequeue().bytes.sameElements(fresh))
      env.waitFor("idle", 1000)(env.dut.io.idle.toBoolean)
      assert((tx.complete().get.flags & 4) == 0)
    }
  }

  test("a port whose ring is stuck or stopped does not disturb the other port") {
    PsPortBench.run("isolation", 10) { env =>
      env.txReady(0) = () => false
      val stuck = new TxRing(env, 0, 0x2000, 4)
      stuck.start()
      for (i <- 0 until 16) stuck.post(0x10000 + 0x4000 * i, 9600)
      stuck.publish()
      env.cd.waitSampling(3000)
      val rx = new RxRing(env, 1, 0x3000, 4)
      rx.start()
      for (i <- 0 until 16) rx.post(0x100000 + 0x4000 * i, 9600)
      rx.publish()
      val frames = Seq.fill(16)(env.randomFrame(500))
      frames.foreach(env.rxQueue(1).enqueue(_))
      env.waitFor("all frames", 5000)(env.rxQueue(1).isEmpty)
      env.cd.waitSampling(500)
      for (frame <- frames) assert(rx.receive().get.bytes.sameElements(frame.bytes))
    }
  }
}
