// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** Interrupt causes, coalescing and the timestamp FIFO. The bench has 10 cycles in a microsecond. */
class PsPortInterruptTest extends AnyFunSuite {
  private class Driver(val env: PsPortEnv, port: Int) {
    val rx = new RxRing(env, port, 0x3000 + 0x1000 * port, 5)
    rx.start()
    def fill(): Unit = {
      while (rx.posted < rx.size) rx.post(0x100000 + 0x1000 * (rx.producer % rx.size), 2048)
      rx.publish()
    }
    fill()
    def interrupt: Boolean = env.dut.io.interrupt.toBoolean
    def set(offset: Int, value: Long): Unit = env.writeRegister(port, offset, value)
    def offer(count: Int): Unit = for (_ <- 0 until count) env.rxQueue(port).enqueue(env.randomFrame(60))
    def settle(): Unit = { env.cd.waitSampling(30); env.waitFor("idle", 3000)(env.dut.io.idle.toBoolean) }
    def coalesce(microseconds: Int, frames: Int): Unit = set(Offset.coalesce, microseconds | (frames << 16))
    def drain(): Int = Iterator.continually(rx.receive()).takeWhile(_.nonEmpty).size
  }

  test("interrupts come at once, by time or by frames as coalescing is set, and with skipped time") {
    PsPortBench.run("coalescing", 11) { env =>
      val d = new Driver(env, 1)
      env.memory.latency = () => 5
      d.offer(1)
      d.settle()
      assert(!d.interrupt && (env.readRegister(1, Offset.interruptStatus) & 1) == 1, "latched behind a disabled cause")
      d.set(Offset.enableSet, 1)
      env.cd.waitSampling(4)
      assert(d.interrupt, "shown when enabled")
      d.set(Offset.interruptStatus, 1)
      env.cd.waitSampling(4)
      assert(!d.interrupt && d.drain() == 1)

      // By time: 50 microseconds after the first completion, whatever follows.
      d.coalesce(50, 0)
      d.offer(1)
      env.waitFor("completion", 300)(d.rx.poll().nonEmpty)
      val began = env.memory.now
      env.cd.waitSampling(100)
      d.offer(5)
      env.waitFor("interrupt", 1000)(d.interrupt)
      val took = env.memory.now - began
      assert(took >= 495 && took <= 515, s"$took cycles")
      d.set(Offset.interruptStatus, 1)
      d.drain()
      env.cd.waitSampling(1000)
      assert(!d.interrupt, "completions before the clear do not count again")

      // By frames: with the third, long before the time.
      d.coalesce(5000, 3)
      d.offer(2)
      d.settle()
      env.cd.waitSampling(1000)
      assert(!d.interrupt)
      d.offer(1)
      env.waitFor("interrupt", 300)(d.interrupt)
      d.set(Offset.interruptStatus, 1)
      d.drain()

      // Time that is skipped counts in full, and the port says how much may be skipped.
      d.coalesce(5000, 0)
      d.offer(1)
      d.settle()
      assert(!d.interrupt)
      val remaining = env.dut.io.timerCycles.toLong
      assert(remaining > 49000 && remaining <= 50000, s"$remaining cycles remain")
      env.dut.io.skip #= remaining - 10
      env.cd.waitSampling()
      env.dut.io.skip #= 1
      env.cd.waitSampling(5)
      assert(!d.interrupt)
      env.waitFor("interrupt", 12)(d.interrupt)
      d.set(Offset.enableClear, 1)
      env.cd.waitSampling(4)
      assert(!d.interrupt && env.readRegister(1, Offset.interruptEnable) == 0)
    }
  }

  test("a driver that polls with the cause disabled and waits for the interrupt otherwise gets every frame") {
    PsPortBench.run("polling", 12) { env =>
      val d = new Driver(env, 0)
      var received, interrupts = 0
      val total = 400
      var left = total
      d.coalesce(20, 4)
      d.set(Offset.interruptEnable, 1)
      env.cd.onSamplings {
        if (left > 0 && env.rxQueue(0).size < 4 && simRandom.nextInt(60) == 0) {
          env.rxQueue(0).enqueue(env.randomFrame(60 + simRandom.nextInt(100)))
          left -= 1
        }
      }
      while (received < total) {
        env.waitFor("interrupt", 3000)(d.interrupt)
        interrupts += 1
        d.set(Offset.enableClear, 1)
        d.set(Offset.interruptStatus, 1)
        // A budget smaller than what may wait: a driver then polls again without the interrupt.
        var more = true
        while (more) {
          val got = (0 until 8).takeWhile(_ => d.rx.receive().nonEmpty).size
          received += got
          d.fill()
          env.cd.waitSampling(simRandom.nextInt(100))
          more = got == 8
        }
        d.set(Offset.enableSet, 1)
      }
      println(s"$total frames, $interrupts interrupts")
      assert(interrupts < total / 2, "interrupts are coalesced")
      assert(env.counter(0, Offset.rxFrames) == total)
    }
  }

  test("transmit timestamps wait in order for software, raise a level and are counted when lost") {
    PsPortBench.run("timestamps", 13) { env =>
      env.writeRegister(1, Offset.interruptEnable, 0xc)
      def stamp() =
        (simRandom.nextInt(65536), simRandom.nextLong() & 0xffffffffffffL, simRandom.nextInt(1000000000).toLong)
      val stamps = Seq.fill(20)(stamp())
      def read(): (Int, Long, Long) = {
        val status = env.readRegister(1, Offset.timestampStatus)
        assert((status & 1) == 1)
        val low = env.readRegister(1, Offset.timestampSeconds)
        val seconds = low | (env.readRegister(1, Offset.timestampSeconds + 4) << 32)
        ((status >> 16).toInt, seconds, env.readRegister(1, Offset.timestampNanoseconds))
      }
      stamps.take(3).foreach(env.timestampQueue(1).enqueue(_))
      env.cd.waitSampling(10)
      assert(env.dut.io.interrupt.toBoolean)
      for (stamp <- stamps.take(3)) {
        env.writeRegister(1, Offset.interruptStatus, 0xf)
        assert(env.dut.io.interrupt.toBoolean && read() == stamp, "the cause is a level and cannot be cleared")
        env.writeRegister(1, Offset.timestampPop, 1)
      }
      env.cd.waitSampling(5)
      assert(!env.dut.io.interrupt.toBoolean && (env.readRegister(1, Offset.timestampStatus) & 1) == 0)
      env.writeRegister(1, Offset.timestampPop, 1)
      stamps.foreach(env.timestampQueue(1).enqueue(_))
      env.cd.waitSampling(30)
      assert(env.counter(1, Offset.timestampsLost) == 4)
      assert(env.readRegister(1, Offset.interruptStatus) == 0xc, "a loss is an error")
      for (stamp <- stamps.take(16)) {
        assert(read() == stamp)
        env.writeRegister(1, Offset.timestampPop, 1)
      }
      env.cd.waitSampling(5)
      assert(env.readRegister(1, Offset.interruptStatus) == 8)
      env.writeRegister(1, Offset.interruptStatus, 8)
      assert(env.readRegister(1, Offset.interruptStatus) == 0)
    }
  }
}
