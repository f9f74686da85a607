// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** Cycles a frame with both directions of one port busy, memory 50 cycles away, clock 250 MHz. */
class PsPortRateTest extends AnyFunSuite {
  def measure(length: Int, frames: Int, seed: Int): (Double, Double) = {
    var result = (0.0, 0.0)
    PsPortBench.run(s"rate$length", seed) { env =>
      env.memory.latency = () => 50
      env.memory.ready = () => true
      env.rxGap = () => false
      env.txReady(0) = () => true
      val rx = new RxRing(env, 0, 0x10000, 8)
      val tx = new TxRing(env, 0, 0x20000, 8)
      for (i <- 0 until frames) {
        // Buffers of Linux: received to a line, sent from where the IP header is aligned.
        rx.post(0x1000000L + 0x4000 * i, 9600)
        tx.post(0x2000002L + 0x4000 * i, length)
      }
      rx.start()
      tx.start()
      rx.publish()
      for (_ <- 0 until frames) env.rxQueue(0).enqueue(env.randomFrame(length))
      tx.publish()
      env.waitFor("all frames", 400 * frames)(env.txEnds(0).size == frames && env.rxEnds(0).size == frames)
      env.waitFor("all completions", 1000)(env.dut.io.idle.toBoolean)
      assert(env.counter(0, Offset.rxFrames) == frames && env.counter(0, Offset.txFrames) == frames)
      def each(ends: Iterable[Long]): Double = {
        val steady = ends.drop(frames / 4)
        (steady.last - steady.head).toDouble / (steady.size - 1)
      }
      result = (each(env.rxEnds(0)), each(env.txEnds(0)))
      println(f"$length%5d bytes: receive ${result._1}%.1f cycles a frame, transmit ${result._2}%.1f")
    }
    result
  }

  test("10 Gb/s of 1500-byte frames pass both ways at a memory latency of 50 cycles") {
    // 1514 bytes, FCS, preamble and gap at 10 Gb/s are 1230 ns: 307 cycles.
    val (rx, tx) = measure(1514, 60, 2)
    assert(rx <= 204 && tx <= 204, "the documented budget")
  }

  test("3 million 64-byte frames a second pass both ways at a memory latency of 50 cycles") {
    val (rx, tx) = measure(60, 200, 3)
    assert(rx <= 83.3 && tx <= 83.3, "3 Mpps at 250 MHz")
    assert(rx <= 20 && tx <= 20, "the documented budget")
  }
}
