// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable

/** Frames through the rings, compared byte by byte. */
class PsPortTest extends AnyFunSuite {
  // Every short length, every length around beats and lines, and some of all others.
  def someLength(i: Int): Int = simRandom.nextInt(4) match {
    case 0 => 60 + i % 100
    case 1 => 60 + simRandom.nextInt(1460)
    case 2 => 128 * (1 + simRandom.nextInt(10)) + simRandom.nextInt(17) - 8
    case _ => if (simRandom.nextInt(4) == 0) 60 + simRandom.nextInt(9541) else 64 + simRandom.nextInt(64)
  }

  private def traffic(name: String, seed: Int)(setUp: PsPortEnv => Unit): Unit = test(name) {
    PsPortBench.run(s"traffic$seed", seed) { env =>
      setUp(env)
      val total = 300
      val rx = Array.tabulate(2)(i => new RxRing(env, i, 0x8700001000L + 0x100000L * i, 3 + i))
      val tx = Array.tabulate(2)(i => new TxRing(env, i, 0x0000041000L + 0x100000L * i, 3 + i))
      rx.foreach(_.start())
      tx.foreach(_.start())
      val received, completed, offered, posted = Array.fill(2)(0)
      val expectRx = Array.fill(2)(mutable.Queue[RxFrame]())
      val expectTx = Array.fill(2)(mutable.Queue[SentFrame]())
      val expectDone = Array.fill(2)(mutable.Queue[(Int, Int, Boolean)]())
      val rxBytes, txBytes = Array.fill(2)(0L)
      var cycles = 0
      while ((0 until 2).exists(i => received(i) < total || completed(i) < total || expectTx(i).nonEmpty)) {
        cycles += 1
        assert(cycles < 40000, "traffic stands still")
        env.cd.waitSampling(1 + simRandom.nextInt(60))
        for (i <- 0 until 2) {
          if (simRandom.nextBoolean() && rx(i).posted < rx(i).size) {
            while (rx(i).posted < rx(i).size) {
              val slot = rx(i).producer % rx(i).size
              val buffer = 0x1200000000L + 0x1000000L * i + 0x4000 * slot + simRandom.nextInt(4096)
              rx(i).post(buffer, 9600 + simRandom.nextInt(50))
            }
            rx(i).publish()
          }
          while (offered(i) < total && expectRx(i).size < rx(i).posted) {
            val length = if (offered(i) == 7) 9600 else someLength(offered(i))
            val frame = env.randomFrame(length)
            env.rxQueue(i).enqueue(frame)
            expectRx(i).enqueue(frame)
            offered(i) += 1
          }
          for (got <- rx(i).receive()) {
            val frame = expectRx(i).dequeue()
            assert((got.flags & 0x36) == (if (frame.stamped) 2 else 0), s"flags ${got.flags.toHexString}")
            assert(got.bytes.sameElements(frame.bytes), s"port $i: received frame ${received(i)} differs")
            assert(got.seconds == frame.seconds && got.nanoseconds == frame.nanoseconds)
            received(i) += 1
            rxBytes(i) += frame.bytes.length
          }
          if (simRandom.nextInt(3) == 0) {
            var some = false
            while (posted(i) < total && tx(i).posted < tx(i).size) {
              val length = if (posted(i) == 5) 9600 else if (posted(i) == 6) 1 else someLength(posted(i))
              val slot = tx(i).producer % tx(i).size
              val buffer = 0x4000000000L + 0x1000000L * i + 0x4000 * slot + simRandom.nextInt(4096)
              val bytes = env.randomBytes(length)
              env.memory.write(buffer, bytes.toSeq)
              val (stamp, tag) = (simRandom.nextBoolean(), simRandom.nextInt(65536))
              tx(i).post(buffer, length, stamp, tag)
              expectTx(i).enqueue(SentFrame(bytes, stamp, tag))
              expectDone(i).enqueue((length, tag, stamp))
              posted(i) += 1
              txBytes(i) += length
              some = true
            }
            if (some) tx(i).publish()
          }
          for (done <- tx(i).complete()) {
            val (length, tag, stamp) = expectDone(i).dequeue()
            assert(done.length == length && done.tag == tag && (done.flags & 0x36) == (if (stamp) 2 else 0))
            completed(i) += 1
          }
          while (env.sent(i).nonEmpty) {
            val (got, want) = (env.sent(i).dequeue(), expectTx(i).dequeue())
            assert(got.bytes.sameElements(want.bytes), s"port $i: sent frame of ${want.bytes.length} bytes differs")
            assert(got.timestamp == want.timestamp && got.tag == want.tag)
          }
        }
      }
      for (i <- 0 until 2) {
        assert(env.counter(i, Offset.rxFrames) == total && env.counter(i, Offset.rxBytes) == rxBytes(i))
        assert(env.counter(i, Offset.txFrames) == total && env.counter(i, Offset.txBytes) == txBytes(i))
        val drops = Seq(Offset.rxNoDescriptor, Offset.rxBufferSmall, Offset.rxDisabled, Offset.rxErrors)
        for (drop <- drops :+ Offset.busErrors)
          assert(env.counter(i, drop) == 0)
        assert(rx(i).register(Offset.consumer) == total && tx(i).register(Offset.consumer) == total)
      }
      env.waitFor("idle", 2000)(env.dut.io.idle.toBoolean)
    }
  }

  traffic("frames of all sizes pass both ways on two ports, whatever memory does", 1)(_ => ())

  traffic("frames pass when memory is fast and the MAC side slow", 21) { env =>
    env.memory.latency = () => simRandom.nextInt(4)
    env.memory.ready = () => true
    env.rxGap = () => false
    env.txReady(0) = () => simRandom.nextInt(4) == 0
  }

  traffic("frames pass when memory is slow and the MAC side fast", 22) { env =>
    env.memory.latency = () => 100 + simRandom.nextInt(200)
    env.memory.ready = () => simRandom.nextInt(3) == 0
    env.rxGap = () => false
    for (i <- 0 until 2) env.txReady(i) = () => true
  }
}
