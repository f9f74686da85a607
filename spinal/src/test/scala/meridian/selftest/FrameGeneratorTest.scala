// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.host.FrameSim._
import meridian.queue.QueueCredit
import spinal.core.sim._

/** Speed, sizes, queues, buffers and pace of the generator. */
class FrameGeneratorTest extends FrameGeneratorBench {

  /** Sizes of a sequence, without end. */
  private def sizes(s: (Int, Int, Int)): Iterator[Int] =
    Iterator.continually(if (s._2 == 0) Seq(s._1) else (s._1 to s._3 by s._2)).flatten

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width, queues = 64)
    lazy val compiled = SimConfig.compile {
      val dut = new FrameGenerator(p)
      dut.maker.io.job.simPublic()
      dut.plan.io.frames.simPublic()
      dut
    }

    test(s"$width bytes: frames of every size follow each other without a bubble") {
      compiled.doSim(s"speed$width", seed = 1) { dut =>
        val b = new Bench(dut, p, 1)
        b.posts = Seq(5)
        b.pool(5) = 100000
        for (size <- Seq(60, 64, 65, 128, 1514, 9600)) {
          b.start(Settings(first = 5, sizes = (size, 0, size)))
          val begun = b.cycles.now
          waitFor(b.cd, "frames")(b.seen.size >= 60)
          b.stop()
          val beats = (size + width - 1) / width
          val span = b.seen(59).lastAt - b.seen.head.firstAt + 1
          assert(span == 60L * beats, s"$size bytes")
          assert(b.seen.head.firstAt - begun == QueueCredit.latency + 7, "go, a cycle to see it, and the latency")
        }
      }
    }

    test(s"$width bytes: sizes follow a sequence, queues have their turns, and the run ends") {
      compiled.doSim(s"sequence$width", seed = 2) { dut =>
        val b = new Bench(dut, p, 2)
        b.posts = 8 until 13
        for ((steps, i) <- Seq((60, 1, 75), (1, 1, 70), (64, 500, 9600), (100, 7, 100), (200, 33, 265)).zipWithIndex) {
          b.start(Settings(first = 8, count = 5, sizes = steps, frames = 53))
          waitFor(b.cd, "the end")(dut.io.complete.toBoolean)
          b.stop()
          assert(b.lengths == sizes(steps).take(53).toSeq, s"sequence $i")
          assert(b.seen.map(_.queue).toSeq == Seq.tabulate(53)(8 + _ % 5))
        }
      }
    }

    test(s"$width bytes: one free buffer is enough for a frame, and a queue without any holds no other up") {
      compiled.doSim(s"scarce$width", seed = 3) { dut =>
        val b = new Bench(dut, p, 3)
        b.start(Settings(first = 2, count = 4, sizes = (60, 0, 60)))
        b.cd.waitSampling(100)
        for (i <- 1 to 40) {
          val queue = 2 + b.random.nextInt(4)
          b.pool(queue) += 1
          waitFor(b.cd, s"frame $i", 200)(b.seen.size == i)
          assert(b.seen.last.queue == queue)
          b.cd.waitSampling(b.random.nextInt(20))
        }
        assert(b.denied > 40)
        b.stop()
      }
    }

    test(s"$width bytes: frames are whole at any pace, with buffers that come and go, and stopped at any cycle") {
      for (seed <- 10 until 16) compiled.doSim(s"random$width.$seed", seed) { dut =>
        val b = new Bench(dut, p, seed)
        def some = Seq(1.0, 0.5, 0.1, 0.02)(b.random.nextInt(4))
        for (_ <- 0 until 25) {
          val first = b.random.nextInt(40)
          val count = Seq(1, 2, 5, 20)(b.random.nextInt(4))
          val size = 60 + b.random.nextInt(if (b.random.nextBoolean()) 100 else 9541)
          val last = size + b.random.nextInt(9601 - size)
          val step = if (size == last) b.random.nextInt(3) else 1 + b.random.nextInt(2000)
          b.posts = first until first + count
          b.drains = b.random.nextBoolean()
          b.queryPace = some
          b.backPace = some
          b.postPace = some
          b.sink.pace(some.toFloat)
          val bounded = b.random.nextInt(3) == 0
          val s = Settings(first, count, (size, step, last), b.random.nextInt(3) * b.random.nextInt(60))
          b.start(if (bounded) s.copy(rate = 1L << (16 + b.random.nextInt(10)), burst = b.random.nextInt(3000)) else s)
          b.cd.waitSampling(b.random.nextInt(if (b.random.nextInt(4) == 0) 30 else 1500))
          b.stop()
          assert(b.lengths == sizes((size, step, last)).take(b.seen.size).toSeq)
        }
        assert(b.returned > 0 && b.denied > 0, "buffers were given back, and questions denied")
      }
    }

    test(s"$width bytes: rate and interval are kept") {
      compiled.doSim(s"rate$width", seed = 4) { dut =>
        val b = new Bench(dut, p, 4)
        b.pool(1) = 1000000
        b.start(Settings(first = 1, sizes = (100, 0, 100), interval = 37))
        waitFor(b.cd, "frames")(b.seen.size >= 30)
        b.stop()
        val gaps = b.seen.map(_.firstAt).sliding(2).map(pair => pair(1) - pair(0)).toSet
        assert(gaps == Set(37L))
        // 2 bytes a cycle.
        b.start(Settings(first = 1, sizes = (100, 100, 1000), rate = 2L << 20, burst = 1))
        waitFor(b.cd, "frames")(b.seen.size >= 80)
        b.stop()
        val bytes = b.seen.take(70).map(_.frame.length).sum
        val span = b.seen(70).firstAt - b.seen.head.firstAt
        assert((span - bytes / 2).abs < 20, s"$bytes bytes in $span cycles")
      }
    }

    test(s"$width bytes: rate and interval are kept behind a wait for buffers, and one for the stream") {
      compiled.doSim(s"wait$width", seed = 5) { dut =>
        val b = new Bench(dut, p, 5)
        def run(s: Settings): Unit = {
          b.pool(1) = 20
          b.start(s)
          b.cd.waitSampling(5000)
          assert(b.seen.size == 20)
          b.pool(1) = 100000
          waitFor(b.cd, "frames behind the wait for buffers")(b.seen.size >= 50)
          b.sink.pace(0)
          b.cd.waitSampling(5000)
          b.sink.pace(1)
          waitFor(b.cd, "frames behind the wait for the stream")(b.seen.size >= 90)
          b.stop()
        }
        run(Settings(first = 1, sizes = (100, 0, 100), interval = 50))
        val gaps = b.seen.map(_.begunAt).sliding(2).map(pair => pair(1) - pair(0)).toSeq
        assert(gaps.forall(_ >= 50) && gaps.count(_ > 50) <= 3, s"$gaps")
        // 2 bytes a cycle, and 250 at once.
        run(Settings(first = 1, sizes = (100, 0, 100), rate = 2L << 20, burst = 250))
        val begun = b.seen.map(_.begunAt)
        for (i <- begun.indices; j <- i + 1 until begun.size) {
          val (bytes, cycles) = (100 * (j - i), begun(j) - begun(i))
          assert(bytes <= 250 + 2 * cycles + 8, s"frames $i to ${j - 1}: $bytes bytes in $cycles cycles")
        }
      }
    }
  }
}
