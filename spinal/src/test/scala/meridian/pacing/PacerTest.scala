// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.{LongTest, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.util.Random

/** The pacer against rates measured at the stream. */
class PacerTest extends AnyFunSuite {
  val p = ShellParam(ports = 3, functions = 8, queues = 64)
  lazy val pacer = PacerBench.compile(p)
  lazy val slowPacer = PacerBench.compile(p.copy(hostMhz = 125))

  def bench(
      name: String,
      seed: Int = 1,
      trip: Int = 500,
      drain: Double = 12.5,
      slow: Boolean = false,
      long: Boolean = false
  )(body: (PacerBench, Random) => Unit): Unit =
    test(name, (if (long) Seq(LongTest) else Nil): _*) {
      (if (slow) slowPacer else pacer).doSim(name.replace(' ', '_'), seed) { dut =>
        val random = new Random(seed)
        val b = new PacerBench(dut.p, dut, random, trip, drain)
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

  /** Within 1 %, and what a few frames on their way make at both ends of the cycles measured. */
  def near(found: Double, expected: Double, cycles: Int, what: String): Unit = {
    val tolerance = expected / 100 + 6000 * 8 / (cycles * 4e-3)
    assert(Math.abs(found - expected) <= tolerance, s"$what: $found Mb/s, expected $expected")
  }

  bench("a function keeps its maximum and another is not slowed") { (b, random) =>
    b.rate(4, 2000)
    b.start(8, 4, 64)(random.between(60, 1515))
    b.start(0, 0, 256)(1514)
    b.run(20000)
    val mbps = measure(b, 900000) // batches of both take turns: it goes up and down by some of them
    near(mbps(4), 2000, 900000, "limited")
    near(mbps.sum, 25000, 900000, "the line")
  }

  bench("rates from slow to fast are those of their registers", seed = 2) { (b, random) =>
    val rates = Seq(40.0, 100.0, 333.0, 1000.0, 1500.0, 2500.0, 4000.0, 6000.0)
    for ((rate, function) <- rates.zipWithIndex) {
      b.rate(function, rate)
      for (k <- 0 until 1 + function % 3) b.start(8 * function + k, function, 256)(60 << random.nextInt(4))
    }
    b.run(20000)
    val mbps = measure(b, 400000)
    for ((rate, function) <- rates.zipWithIndex) near(mbps(function), rate, 400000, s"function $function")
  }

  // Measured as if a cycle took 4 ns: half of what it is at 8.
  bench("rates keep their unit in a host clock of 125 MHz", seed = 2, drain = 25, slow = true, long = true) {
    (b, random) =>
      val rates = Seq(40.0, 100.0, 333.0, 1000.0, 1500.0, 2500.0, 4000.0, 6000.0)
      for ((rate, function) <- rates.zipWithIndex) {
        b.rate(function, rate)
        b.start(8 * function, function, 256)(60 << random.nextInt(4))
      }
      b.run(20000)
      val mbps = measure(b, 400000)
      for ((rate, function) <- rates.zipWithIndex) near(mbps(function) / 2, rate, 400000, s"function $function")
  }

  bench("64-byte frames of many queues fill the line", drain = 60 * 0.149, seed = 3) { (b, _) =>
    for (queue <- 0 until p.queues) b.start(queue, queue % p.functions, 64)(60)
    b.run(20000)
    val before = b.frames.clone()
    b.run(100000)
    val frames = b.frames.zip(before).map { case (now, old) => (now - old).toDouble }
    // A frame of 64 bytes with FCS takes 84 bytes of the line: 37.2 million a second at 25 Gb/s.
    assert(frames.sum >= 100000 * 0.149 * 0.995)
    val each = frames.map(_ * p.functions / frames.sum)
    assert(each.min > 0.95 && each.max < 1.05, "functions do not take turns")
  }

  bench("one queue alone fills the line", drain = 60 * 0.149, seed = 4) { (b, _) =>
    b.start(63, 7, 512)(60)
    b.run(10000)
    val before = b.frames.sum
    b.run(50000)
    assert(b.frames.sum - before >= 50000 * 0.149 * 0.995)
  }

  bench("a rate that changes holds from then on, and none lifts it", seed = 5, long = true) { (b, _) =>
    b.start(0, 0, 256)(1000)
    for (rate <- Seq(8000.0, 800.0, 3000.0)) {
      b.rate(0, rate)
      b.run(30000)
      near(measure(b, 200000).head, rate, 200000, "limited")
    }
    b.rate(0, 0)
    b.run(10000)
    near(measure(b, 50000).head, 25000, 50000, "unlimited")
  }

  bench("frames are charged as they are, though each is another than expected", seed = 6, long = true) { (b, random) =>
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
    near(b.bytes(5) * 8.0 / (b.cycle * 4e-3), 1000, 100000, "from the start")
    // What is sent too early is a debt of some 100 KiB, and the function has paid when it sends again.
    var sent, silent = 0L
    while (silent < 6000 || b.bytes(5) == sent) {
      silent = if (b.bytes(5) == sent) silent + 500 else 0
      sent = b.bytes(5)
      b.run(500)
      assert(b.cycle < 3000000, "the function never stops, or never sends again")
    }
    near(sent * 8.0 / (b.cycle * 4e-3), 1000, 1000000, "once it has paid")
  }

  bench("stops, resets and late frames leave nothing behind", seed = 7) { (b, random) =>
    for (function <- 0 until 8) b.rate(function, 250.0 * (function + 1))
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
    b.run(600000) // a millisecond without frames makes up for those that were lost; then the buckets fill
    assert(b.idle, "something is left")
    for (function <- 0 until 8) b.start(function, function, 128)(700)
    b.run(120000) // the burst
    val mbps = measure(b, 200000)
    for (function <- 0 until 8) near(mbps(function), 250.0 * (function + 1), 200000, s"function $function")
  }

  bench("a minimum is held on a full line, and what is left is shared", seed = 8) { (b, random) =>
    val sizes = Seq(60, 300, 1514, 1514, 700, 9600, 1000, 200)
    b.rate(7, 9000, minimum = true)
    b.rate(5, 4000, minimum = true)
    b.rate(1, 1500, minimum = true)
    b.rate(1, 2000)
    for (function <- 0 until 8; k <- 0 to function % 2) b.start(8 * function + k, function, 200)(sizes(function))
    b.run(150000)
    val mbps = measure(b, 300000)
    near(mbps.sum, 25000, 300000, "the line")
    for ((function, least) <- Seq(7 -> 9000.0, 5 -> 4000.0, 1 -> 1500.0))
      assert(mbps(function) >= 0.99 * least - 50, s"function $function: ${mbps(function)} Mb/s of $least")
    assert(mbps(1) < 2050)
    assert((0 until 8).forall(mbps(_) > 100), s"somebody starves: $mbps")
  }

  bench("a minimum that is not used is for others", seed = 9) { (b, _) =>
    b.rate(3, 20000, minimum = true)
    b.start(24, 3, 200)(500)
    b.rate(3, 1000)
    b.start(0, 0, 200)(1514)
    b.run(50000)
    val mbps = measure(b, 200000)
    near(mbps(3), 1000, 200000, "limited")
    near(mbps.sum, 25000, 200000, "the line")
  }

  // Three ports, so that a number names one that does not exist.
  bench("functions change their port under traffic, and no port is closed or forgotten", seed = 10) { (b, random) =>
    for (function <- 0 until 8; k <- 0 to 1) b.start(8 * function + k, function, 64)(random.between(60, 1515))
    for (round <- 0 until 400) {
      val function = random.nextInt(8)
      // A function without queues, as one that a PF has just made, is bound like any other.
      if (random.nextInt(4) == 0) for (k <- 0 to 1) if (b.queues(8 * function + k).keep > 0) b.stop(8 * function + k)
      b.ports(function) = random.nextInt(4)
      b.run(100 + random.nextInt(300))
    }
    for (function <- 0 until 8) b.ports(function) = function % 3
    for (function <- 0 until 8; k <- 0 to 1) b.queues(8 * function + k).keep = 64
    b.run(300000) // frames of stopped queues that never come are given up after a millisecond
    val mbps = measure(b, 100000)
    near(mbps.sum, 25000, 100000, "the line")
    for (port <- 0 until 3) {
      val sent = mbps.zipWithIndex.collect { case (rate, function) if function % 3 == port => rate }.sum
      assert(sent > 25000 / 3 * 0.7, s"port $port sends $sent Mb/s: $mbps")
    }
  }
}
