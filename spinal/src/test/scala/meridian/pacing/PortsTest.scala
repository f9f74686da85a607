// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.util.Random

/** A port that is full, slow or paused holds up no frame of a paced queue, which share one stream of all ports. */
class PortsTest extends AnyFunSuite {
  val p = ShellParam(ports = 2, functions = 8, queues = 64)
  lazy val pacer = PacerBench.compile(p)

  def bench(name: String, seed: Int, trip: Int = 500)(body: (PortsBench, Random) => Unit): Unit =
    test(name) {
      pacer.doSim(name.replace(' ', '_'), seed) { dut =>
        val random = new Random(seed)
        val b = new PortsBench(p, dut, random, trip)
        b.run(p.queues + 100)
        body(b, random)
      }
    }

  /** Function 0 with eight queues on port 0, function 1 with one queue on port 1. */
  def two(b: PortsBench, first: => Int, second: => Int): Unit = {
    b.ports(1) = 1
    for (queue <- 0 until 8) b.start(queue, 0, 64)(first)
    b.start(8, 1, 256)(second)
  }

  /** What part of its speed each port uses. */
  def busy(b: PortsBench, cycles: Int): Seq[Double] = {
    val before = b.wire
    b.run(cycles)
    b.wire.zip(before).zip(b.speed).map { case ((now, then), speed) => (now - then) / (cycles * speed) }
  }

  for ((first, second, seed) <- Seq((1514, 1514, 1), (1514, 60, 2), (60, 1514, 3), (9014, 64, 4), (64, 9014, 5)))
    bench(s"a port full of $first bytes and one of $second fill both lines", seed) { (b, _) =>
      two(b, first, second)
      b.run(20000)
      b.stalled = 0
      val used = busy(b, 60000)
      assert(used.min > 0.99, s"of the lines is used: $used")
      assert(b.stalled == 0, "frames waited for their port")
    }

  for ((share, seed) <- Seq(0.4 -> 6, 0.02 -> 7, 0.0 -> 8))
    bench(s"a port at $share of its speed holds up no other", seed) { (b, _) =>
      two(b, 1514, 700)
      b.rate(0, 8000, minimum = true) // more than the slow port can send: it is below its minimum all the time
      b.run(20000)
      b.speed(0) = 12.5 * share
      b.run(20000)
      val before = b.wire
      b.run(60000)
      val sent = b.wire.zip(before).map { case (now, then) => (now - then) / 60000.0 }
      assert(b.stalled == 0, "frames waited for their port")
      assert(sent(1) > 0.99 * 12.5 && sent(0) >= 0.98 * b.speed(0), s"bytes a cycle: $sent")
      b.speed(0) = 12.5
      b.run(10000)
      assert(busy(b, 20000).min > 0.99, "the port is fast again")
    }

  bench("functions with small frames on a full port are served alike", seed = 13) { (b, _) =>
    for (function <- 4 until 8; queue <- 0 until 8) b.start(8 * function + queue, function, 64)(60)
    b.run(20000)
    val before = b.frames.clone()
    b.run(50000)
    val each = (4 until 8).map(function => b.frames(function) - before(function))
    assert(each.min > 0.95 * each.max, s"frames: $each")
    assert(b.stalled == 0, "frames waited for their port")
  }

  bench("frames of paced queues and of others on one port both move", seed = 9) { (b, _) =>
    b.start(0, 0, 64)(1514)
    b.flood(8, 1)(1514)
    b.run(20000)
    val before = b.bytes.clone()
    b.run(60000)
    val each = (0 to 1).map(function => (b.bytes(function) - before(function)) / 60000.0)
    assert(each.sum > 12 && each.min > 2, s"bytes a cycle: $each")
  }

  bench("sizes at random stay within the buffer, or little beyond", seed = 10) { (b, random) =>
    def mixed = if (random.nextBoolean()) 60 + random.nextInt(200) else 1514
    two(b, mixed, 1514)
    b.run(20000)
    b.stalled = 0
    val used = busy(b, 100000)
    assert(used.min > 0.99 && b.stalled == 0, s"of the lines is used: $used, ${b.stalled} cycles of waiting")
  }

  bench("frames that grow at once cost other ports no more than those granted as small ones", seed = 11) {
    (b, random) =>
      var size = 60
      two(b, size, 1514)
      b.run(20000)
      for (round <- 0 until 2) {
        size = 9014
        b.stalled = 0
        b.run(100000)
        // The buffer takes its part of them; the others come at the speed of the line.
        val most = (Pacing.maxOutstanding * (9014 + PortsBench.overhead) - p.txBufferBytes) / 12.5 + 2000
        assert(b.stalled < most, s"round $round: ${b.stalled} cycles of waiting")
        b.stalled = 0
        b.run(20000)
        assert(b.stalled == 0, s"round $round: ${b.stalled} cycles of waiting once their length is known")
        size = 60
        b.run(10000)
      }
  }

  bench("a port that drops its frames holds up none of its functions, and no other port", seed = 12) { (b, _) =>
    two(b, 1514, 1514)
    b.run(20000)
    b.speed(0) = 0
    b.run(20000)
    val before = b.bytes(0)
    b.run(20000)
    assert(b.bytes(0) == before, "frames for a port that takes none")
    b.dut.io.sends #= 2
    b.drops = Set(0)
    b.run(10000)
    assert(busy(b, 40000)(1) > 0.99, "frames that are dropped fill the stream")
    assert(b.bytes(0) > before + 50000, "frames that are dropped wait for their port")
    b.drops = Set()
    b.speed(0) = 12.5
    b.dut.io.sends #= 3
    b.run(20000)
    assert(busy(b, 20000).min > 0.99, "the port has a link again")
  }

  /** Ports with frames that are cut into segments. */
  private val cutting =
    ShellParam(ports = 2, functions = 8, queues = 64, segmentation = true, txBufferBytes = ShellParam.segmentedTxBuffer)
  private lazy val cutPacer = PacerBench.compile(cutting)

  private def cutBench(name: String, seed: Int)(body: (PortsBench, Random) => Unit): Unit = test(name) {
    cutPacer.doSim(name.replace(' ', '_'), seed) { dut =>
      val random = new Random(seed)
      val b = new PortsBench(cutting, dut, random)
      b.run(cutting.queues + 100)
      body(b, random)
    }
  }

  for (
    ((what, second), i) <- Seq[(String, Random => Int)](
      "other such frames" -> (_ => 65000),
      "frames of 1514 bytes" -> (_ => 1514),
      "frames of 60 bytes" -> (_ => 60),
      "frames of any size" -> (random => if (random.nextBoolean()) 1000 + random.nextInt(64000) else 60)
    ).zipWithIndex
  )
    cutBench(s"a port full of frames that are cut and one of $what fill both lines", 20 + i) { (b, random) =>
      b.ports(1) = 1
      for (queue <- 0 until 8) b.start(queue, 0, 64, cut = true)(65000)
      b.start(8, 1, 256, cut = i != 2)(second(random))
      b.run(200000) // those that were granted before their length was known have left
      b.stalled = 0
      val used = busy(b, 100000)
      assert(used.min > 0.96, s"of the lines is used: $used")
      assert(b.stalled == 0, s"frames waited for their port for ${b.stalled} cycles")
    }

  cutBench("short frames among some that are cut leave the other port its line", 24) { (b, random) =>
    b.ports(1) = 1
    for (queue <- 0 until 8) b.start(queue, 0, 64, cut = true)(if (random.nextInt(8) == 0) 65000 else 60)
    b.start(8, 1, 256)(1514)
    b.run(200000)
    b.stalled = 0
    val used = busy(b, 200000)
    assert(used(0) > 0.6 && used(1) > 0.99, s"of the lines is used: $used")
    assert(b.stalled < 1000, s"frames waited for their port for ${b.stalled} cycles")
  }

  cutBench("frames that are cut where short ones were granted hold up other ports no longer than long ones do", 25) {
    (b, _) =>
      var size = 60
      b.ports(1) = 1
      for (queue <- 0 until 8) b.start(queue, 0, 64, cut = true)(size)
      b.start(8, 1, 256)(1514)
      b.run(20000)
      assert(b.stalled == 0)
      size = 65000
      b.run(200000)
      val most = (Pacing.maxSegmented * Pacing.segmentsBytes(cutting) - cutting.txBufferBytes) / 12.5
      assert(b.stalled > 0 && b.stalled < most, s"${b.stalled} cycles of waiting")
      b.stalled = 0
      assert(busy(b, 100000).min > 0.99 && b.stalled == 0, "their length is known")
  }

  for ((size, i) <- Seq(65000, 30000, 9000).zipWithIndex)
    cutBench(s"frames of $size bytes get no more of a line than those of 1514 bytes and of 60", 40 + i) { (b, _) =>
      for (function <- 0 until 4) b.ports(function) = 0
      for (queue <- 0 until 4) b.start(queue, 0, 64, cut = true)(size)
      for (queue <- 4 until 8) b.start(queue, 1, 64, cut = true)(size)
      for (queue <- 8 until 12) b.start(queue, 2, 256)(1514)
      for (queue <- 12 until 16) b.start(queue, 3, 256)(60)
      b.run(200000)
      b.stalled = 0
      val before = b.bytes.take(3).toSeq
      assert(busy(b, 300000).head > 0.99 && b.stalled == 0)
      val shares = b.bytes.take(3).toSeq.zip(before).map { case (now, old) => (now - old).toDouble }
      assert(shares.max < 1.3 * shares.min, s"functions got $shares")
    }

  for ((share, i) <- Seq(0.0, 0.1, 0.4).zipWithIndex)
    cutBench(s"a port at $share of its speed with the smallest segments holds up no other", 30 + i) { (b, _) =>
      b.ports(1) = 1
      b.segment = 394 // 256 bytes behind the longest headers
      for (queue <- 0 until 8) b.start(queue, 0, 64, cut = true)(256 * 394)
      b.start(8, 1, 256)(1514)
      b.run(200000)
      b.speed(0) = 12.5 * share
      b.run(100000)
      b.stalled = 0
      val used = busy(b, 100000)
      assert(used(1) > 0.99 && b.stalled == 0, s"of the lines is used: $used, ${b.stalled} cycles of waiting")
    }

  cutBench("frames that are refused are charged as what they were", 34) { (b, _) =>
    b.rate(0, 1000)
    b.refuses = Set(0, 1)
    for (queue <- 0 until 2) b.start(queue, 0, 64, cut = true)(65536)
    b.run(200000)
    val before = b.frames(0)
    b.run(1000000)
    val sent = (b.frames(0) - before) * 65536 * 8 / 4000.0 // Mb/s
    assert((sent - 1000).abs < 150, s"$sent Mb/s")
  }

  cutBench("a function with frames that are cut is held to its rate", 26) { (b, _) =>
    b.rate(0, 3000)
    for (queue <- 0 until 4) b.start(queue, 0, 64, cut = true)(65000)
    b.run(600000)
    val before = b.bytes(0)
    b.run(1000000)
    val sent = (b.bytes(0) - before) * 8 / 4000.0 // Mb/s at 4 ns a cycle
    assert((sent - 3000).abs < 60, s"$sent Mb/s")
  }
}
