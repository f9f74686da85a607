// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.util.Random

/** The pacer against rates measured at the stream. */
class PacerTest extends AnyFunSuite {
  val p = ShellParam(functions = 8, queues = 64)
  lazy val pacer = SimConfig.withVerilator.compile(new Pacer(p))

  def bench(name: String, seed: Int = 1, trip: Int = 500, drain: Double = 12.5)(
      body: (PacerBench, Random) => Unit
  ): Unit =
    test(name) {
      pacer.doSim(name.replace(' ', '_'), seed) { dut =>
        val random = new Random(seed)
        val b = new PacerBench(p, dut, random, trip, drain)
        b.run(p.queues + 100)
        body(b, random)
      }
    }

  /** Mb/s of each function over some cycles of 4 ns. */
  def measure(b: PacerBench, cycles: Int): Seq[Double] = {
    val before = b.bytes.clone()
    b.run(cycles)
    b.bytes.zip(before).map { case (now, then) => (now - then) * 8.0 / (cycles * 4e-3) }.toSeq
  }

  def near(found: Double, expected: Double, percent: Double, what: String): Unit =
    assert(Math.abs(found - expected) <= expected * percent / 100, s"$what: $found Mb/s, expected $expected")

  bench("a function keeps its maximum and another is not slowed") { (b, random) =>
    b.rate(4, 2000)
    b.start(8, 4, 64)(random.between(60, 1515))
    b.start(0, 0, 256)(1514)
    b.run(20000)
    val mbps = measure(b, 300000)
    near(mbps(4), 2000, 1, "limited")
    near(mbps.sum, 25000, 1, "the line")
  }

  bench("rates from slow to fast are those of their registers", seed = 2) { (b, random) =>
    val rates = Seq(40.0, 100.0, 333.0, 1000.0, 1500.0, 2500.0, 4000.0, 6000.0)
    for ((rate, function) <- rates.zipWithIndex) {
      b.rate(function, rate)
      for (k <- 0 until 1 + function % 3) b.start(8 * function + k, function, 256)(60 << random.nextInt(4))
    }
    b.run(20000)
    val mbps = measure(b, 400000)
    for ((rate, function) <- rates.zipWithIndex) near(mbps(function), rate, 1, s"function $function")
  }

  bench("64-byte frames of many queues fill the line", drain = 60 * 0.149, seed = 3) { (b, _) =>
    for (queue <- 0 until p.queues) b.start(queue, queue % p.functions, 64)(60)
    b.run(20000)
    val before = b.frames.sum
    b.run(100000)
    // A frame of 64 bytes with FCS takes 84 bytes of the line: 37.2 million a second at 25 Gb/s.
    assert(b.frames.sum - before >= 100000 * 0.149 * 0.995)
    val each = b.frames.map(_.toDouble / b.frames.sum * p.functions)
    assert(each.min > 0.95 && each.max < 1.05, "functions do not take turns")
  }

  bench("one queue alone fills the line", drain = 60 * 0.149, seed = 4) { (b, _) =>
    b.start(63, 7, 512)(60)
    b.run(10000)
    val before = b.frames.sum
    b.run(50000)
    assert(b.frames.sum - before >= 50000 * 0.149 * 0.995)
  }

  bench("a rate that changes holds from then on, and none lifts it", seed = 5) { (b, _) =>
    b.start(0, 0, 256)(1000)
    for (rate <- Seq(8000.0, 800.0, 3000.0)) {
      b.rate(0, rate)
      b.run(30000)
      near(measure(b, 200000).head, rate, 1, "limited")
    }
    b.rate(0, 0)
    b.run(10000)
    near(measure(b, 50000).head, 25000, 1, "unlimited")
  }

  bench("frames are charged as they are, though each is another than expected", seed = 6) { (b, random) =>
    b.rate(5, 1000)
    var run, size = 0
    b.start(40, 5, 128) {
      if (run == 0) {
        run = 1 + random.nextInt(60)
        size = if (random.nextBoolean()) 0 else 9600
      }
      run -= 1
      size
    }
    b.run(1000000)
    // In the long run, as debts are paid; a frame without a byte counts as the smallest.
    near(b.bytes(5) * 8.0 / (b.cycle * 4e-3), 1000, 10, "from the start")
  }

  bench("stops, resets and late frames leave nothing behind", seed = 7) { (b, random) =>
    for (function <- 0 until 8) b.rate(function, 500.0 * (function + 1))
    for (_ <- 0 until 150) {
      for (_ <- 0 until 4) {
        val queue = random.nextInt(p.queues)
        if (!b.queues(queue).paced) b.start(queue, random.nextInt(8), 1 + random.nextInt(100))(60 + random.nextInt(500))
        else if (b.queues(queue).keep == 0) b.queues(queue).keep = 20
        else if (random.nextBoolean()) b.stop(queue)
        else b.unpace(queue)
      }
      b.run(50 + random.nextInt(1500))
    }
    for (queue <- 0 until p.queues) b.unpace(queue)
    b.run(300000) // a millisecond without frames makes up for those that were lost
    assert(b.idle, "something is left")
    for (function <- 0 until 8) b.start(function, function, 128)(700)
    b.run(20000)
    val mbps = measure(b, 200000)
    for (function <- 0 until 8) near(mbps(function), 500.0 * (function + 1), 1, s"function $function")
  }
}
