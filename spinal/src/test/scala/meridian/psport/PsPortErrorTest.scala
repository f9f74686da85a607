// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable

/** Frames and descriptors that cannot be served: each is dropped or flagged, counted, and the next one passes. */
class PsPortErrorTest extends AnyFunSuite {
  def quiet(env: PsPortEnv): Unit = {
    env.cd.waitSampling(10)
    env.waitFor("idle", 5000)(env.dut.io.idle.toBoolean)
  }

  /** 0 without error, else the cause. */
  def errorBits(flags: Int): Int = {
    assert(((flags >> 2) & 1) == (if (((flags >> 4) & 3) == 0) 0 else 1), "error bit and cause belong together")
    (flags >> 4) & 3
  }

  test("frames without descriptor or with too small a buffer are dropped whole and counted, later ones pass") {
    PsPortBench.run("drops", 4) { env =>
      val rx = new RxRing(env, 1, 0x30000, 3)
      def offer(length: Int): RxFrame = {
        val frame = env.randomFrame(length)
        env.rxQueue(1).enqueue(frame)
        frame
      }
      for (_ <- 0 until 3) offer(100)
      env.waitFor("drop of 3 frames", 300)(env.rxQueue(1).isEmpty)
      rx.start()
      env.cd.waitSampling(5)
      for (_ <- 0 until 2) offer(1500)
      env.waitFor("drop of 2 frames", 1000)(env.rxQueue(1).isEmpty)
      rx.post(0x50001, 100)
      rx.publish()
      offer(101)
      val exact = offer(100)
      offer(60)
      quiet(env)
      val got = rx.receive().get
      assert(got.bytes.sameElements(exact.bytes), "the frame that fits is in the buffer the large one left")
      assert(rx.receive().isEmpty)
      assert(env.counter(1, Offset.rxDisabled) == 3)
      assert(env.counter(1, Offset.rxNoDescriptor) == 3)
      assert(env.counter(1, Offset.rxBufferSmall) == 1)
      assert(env.counter(1, Offset.rxFrames) == 1)
      assert(env.memory.byte(0x50000) == 0 && env.memory.byte(0x50065) == 0, "bytes around the frame are untouched")
    }
  }

  test("frames from inside the card take half of the ring, and say that they are from there") {
    PsPortBench.run("inside", 14) { env =>
      val rx = new RxRing(env, 0, 0x30000, 3)
      rx.start()
      for (i <- 0 until 8) rx.post(0x50000 + 0x1000 * i, 2000)
      rx.publish()
      env.cd.waitSampling(50)
      val frames = Seq.tabulate(6)(i => env.randomFrame(100 + i).copy(inside = i < 5, stamped = i == 5))
      env.rxQueue(0) ++= frames
      quiet(env)
      for (i <- Seq(0, 1, 2, 3, 5)) {
        val got = rx.receive().get
        assert(got.bytes.sameElements(frames(i).bytes))
        assert(((got.flags >> 3) & 1) == (if (i < 5) 1 else 0) && ((got.flags >> 1) & 1) == (if (i < 5) 0 else 1))
      }
      assert(rx.receive().isEmpty)
      assert(env.counter(0, Offset.rxInside) == 1 && env.counter(0, Offset.rxFrames) == 5)
    }
  }

  test("with limits, a quarter of the ring is for PTP") {
    PsPortBench.run("bulk", 16) { env =>
      val rx = new RxRing(env, 0, 0x30000, 3)
      rx.start()
      for (i <- 0 until 8) rx.post(0x50000 + 0x1000 * i, 2000)
      rx.publish()
      env.cd.waitSampling(50)
      val frames = Seq.tabulate(9)(i => env.randomFrame(100 + i).copy(bulk = i < 8))
      env.rxQueue(0) ++= frames
      quiet(env)
      for (i <- Seq(0, 1, 2, 3, 4, 5, 6, 8)) assert(rx.receive().get.bytes.sameElements(frames(i).bytes))
      assert(rx.receive().isEmpty)
      assert(env.counter(0, Offset.rxNoDescriptor) == 1 && env.counter(0, Offset.rxFrames) == 8)
    }
  }

  test("frames of the PS that stay inside the card are counted by what became of them") {
    PsPortBench.run("switched", 15) { env =>
      val events = env.dut.io.veb(1)
      for ((kind, count) <- Seq((0, 5), (1, 4), (2, 3), (3, 2)); _ <- 0 until count) {
        events.frame #= kind < 2
        events.copy #= kind >= 2
        events.lost #= kind % 2 == 1
        env.cd.waitSampling()
      }
      events.frame #= false
      events.copy #= false
      env.cd.waitSampling(3)
      assert((0 until 4).map(i => env.counter(1, Offset.txSwitched + 8 * i)) == Seq(5, 4, 3, 2))
      assert((0 until 4).forall(i => env.counter(0, Offset.txSwitched + 8 * i) == 0))
    }
  }

  test("a frame waits for a posted descriptor that is still being fetched") {
    PsPortBench.run("fetch", 5) { env =>
      val rx = new RxRing(env, 0, 0x30000, 3)
      rx.start()
      env.memory.latency = () => 400
      for (round <- 0 until 5) {
        rx.post(0x50000, 2000)
        rx.publish()
        val frame = env.randomFrame(64 + round)
        env.rxQueue(0).enqueue(frame)
        env.cd.waitSampling(2)
        quiet(env)
        assert(rx.receive().get.bytes.sameElements(frame.bytes))
      }
      assert(env.counter(0, Offset.rxNoDescriptor) == 0)
    }
  }

  test("bus errors and descriptors that make no sense cost one frame each") {
    PsPortBench.run("errors", 6) { env =>
      // Every 32 KiB page with bit 17 of the address set has a hole at its byte 1000.
      def hole(address: Long) = (address & 0x20000) != 0 && (address & 0x7fff) / 128 == 1000 / 128
      env.memory.fault = (address, _) => if (hole(address)) 2 + simRandom.nextInt(2) else 0
      val rx = new RxRing(env, 0, 0x1000, 4)
      val tx = new TxRing(env, 0, 0x2000, 4)
      rx.start()
      tx.start()
      val total = 120
      val rxExpected, txExpected = mutable.Queue[(Array[Byte], Int)]()
      val wire = mutable.Queue[Array[Byte]]()
      val rxCauses, txCauses = Array.fill(4)(0)
      var offered, posted, received, completed, cycles = 0
      while (received < total || completed < total || wire.nonEmpty) {
        cycles += 1
        assert(cycles < 20000, "traffic stands still")
        env.cd.waitSampling(1 + simRandom.nextInt(40))
        while (offered < total && rx.posted < rx.size) {
          val kind = simRandom.nextInt(4)
          val buffer = 0x100000L + 0x8000 * (rx.producer % rx.size % 4) + (if (kind == 0) 0x20000 else 0) +
            (if (kind == 1) 1L << (40 + simRandom.nextInt(24)) else 0L) + 0x40000 * (rx.producer % rx.size / 4)
          rx.post(buffer, 9600)
          rx.publish()
          val frame = env.randomFrame(60 + simRandom.nextInt(2000))
          val cause = if (kind == 1) 1 else if (kind == 0 && frame.bytes.length > (1000 / 128) * 128) 2 else 0
          env.rxQueue(0).enqueue(frame)
          rxExpected.enqueue((frame.bytes, cause))
          offered += 1
        }
        for (got <- rx.receive()) {
          val (bytes, cause) = rxExpected.dequeue()
          assert(errorBits(got.flags) == cause, s"frame $received: flags ${got.flags.toHexString}, cause $cause")
          assert(got.bytes.sameElements(if (cause == 0) bytes else Array[Byte]()))
          rxCauses(cause) += 1
          received += 1
        }
        while (posted < total && tx.posted < tx.size && simRandom.nextInt(4) != 0) {
          val kind = simRandom.nextInt(6)
          val length = if (kind == 0) Seq(0, 9601, 65535)(simRandom.nextInt(3)) else 1 + simRandom.nextInt(2000)
          val slot = tx.producer % tx.size
          val buffer = 0x800000L + 0x8000 * (slot % 4) + 0x40000 * (slot / 4) + (if (kind == 1) 0x20000 else 0)
          val bytes = env.randomBytes(length)
          if (length <= 9600) env.memory.write(buffer, bytes.toSeq)
          tx.post(buffer + (if (kind == 2) 1L << 40 else 0L), length, tag = posted)
          val cause = if (kind == 0 || kind == 2) 1 else if (kind == 1 && length > (1000 / 128) * 128) 2 else 0
          txExpected.enqueue((bytes, cause))
          if (cause == 0) wire.enqueue(bytes)
          tx.publish()
          posted += 1
        }
        for (done <- tx.complete()) {
          val (bytes, cause) = txExpected.dequeue()
          assert(done.tag == completed)
          assert(errorBits(done.flags) == cause, s"frame $completed: flags ${done.flags.toHexString}, cause $cause")
          assert(done.length == (if (cause == 0) bytes.length else 0))
          txCauses(cause) += 1
          completed += 1
        }
        while (env.sent(0).nonEmpty) assert(env.sent(0).dequeue().bytes.sameElements(wire.dequeue()))
      }
      assert(rxCauses.take(3).min > 0 && txCauses.take(3).min > 0, "every cause was met")
      assert(env.counter(0, Offset.rxFrames) == rxCauses(0))
      assert(env.counter(0, Offset.rxErrors) == rxCauses(1) + rxCauses(2))
      assert(env.counter(0, Offset.txFrames) == txCauses(0))
      assert(env.counter(0, Offset.txBadDescriptor) == txCauses(1))
      assert(env.counter(0, Offset.txBusErrors) == txCauses(2))
      assert(env.counter(0, Offset.busErrors) >= rxCauses(2) + txCauses(2))
      assert((env.readRegister(0, Offset.interruptStatus) & 8) != 0, "the error cause is set")
    }
  }

  test("a ring stops by a failed descriptor read or completion write or a wrong producer index; a reset mends it") {
    PsPortBench.run("ring errors", 7) { env =>
      def good(rx: RxRing, tx: TxRing): Unit = {
        rx.post(0x50000, 2000)
        rx.publish()
        val frame = env.randomFrame(300)
        env.rxQueue(0).enqueue(frame)
        env.memory.write(0x60000, frame.bytes.toSeq)
        tx.post(0x60000, 300)
        tx.publish()
        quiet(env)
        assert(rx.receive().get.bytes.sameElements(frame.bytes))
        assert((tx.complete().get.flags & 4) == 0)
        assert(env.sent(0).dequeue().bytes.sameElements(frame.bytes))
      }
      val rx = new RxRing(env, 0, 0x31000, 3)
      val tx = new TxRing(env, 0, 0x32000, 3)
      rx.start()
      tx.start()
      for (_ <- 0 until 3) good(rx, tx)
      def failing(code: Int)(setUp: => Unit): Unit = {
        env.writeRegister(0, Offset.interruptStatus, 0xf)
        setUp
        env.cd.waitSampling(20)
        env.waitFor("stop", 3000)(!rx.running && !tx.running)
        assert(rx.error == code && tx.error == code, s"errors ${rx.error}, ${tx.error}")
        assert((env.readRegister(0, Offset.interruptStatus) & 8) != 0)
        env.memory.fault = (_, _) => 0
        val before = env.counter(0, Offset.rxDisabled)
        env.rxQueue(0).enqueue(env.randomFrame(100))
        env.waitFor("a drop", 200)(env.rxQueue(0).isEmpty)
        env.cd.waitSampling(5)
        assert(env.counter(0, Offset.rxDisabled) == before + 1)
        for (ring <- Seq(rx, tx)) {
          ring.reset()
          assert(ring.register(Offset.consumer) == 0 && ring.register(Offset.producer) == 0 && ring.error == 0)
          ring.enable()
        }
        env.sent(0).clear()
        for (_ <- 0 until 9) good(rx, tx)
      }
      failing(1) {
        val bad = Set(rx.address(rx.producer + 1), tx.address(tx.producer + 1))
        env.memory.fault = (address, read) => if (read && bad(address & ~0x1fL)) 3 else 0
        for (_ <- 0 until 2) {
          rx.post(0x50000, 2000)
          tx.post(0x60000, 64)
        }
        rx.publish()
        tx.publish()
      }
      failing(2) {
        for (ring <- Seq(rx, tx)) {
          ring.producer += 9
          ring.publish()
        }
      }
      failing(3) {
        env.memory.fault = (address, read) => if (!read && address >= 0x31000 && address < 0x33000) 2 else 0
        rx.post(0x50000, 2000)
        tx.post(0x60000, 64)
        rx.publish()
        tx.publish()
        env.rxQueue(0).enqueue(env.randomFrame(64))
      }
    }
  }
}
