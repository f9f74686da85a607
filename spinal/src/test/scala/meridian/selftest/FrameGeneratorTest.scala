// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.filter.queue.QueueCredit
import meridian.host.FrameSim._
import meridian.host.{Cycles, StreamSink}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** The generator among free buffers that come, go and are taken by others, judged by a model of the buffers of each
  * queue and of the bytes of each frame.
  */
class FrameGeneratorTest extends AnyFunSuite {
  case class Settings(
      first: Int = 0,
      count: Int = 1,
      sizes: (Int, Int, Int) = (60, 0, 60),
      interval: Long = 0,
      rate: Long = 0,
      burst: Int = 0,
      frames: Long = 0
  )
  case class Claim(length: Int, needed: Int)
  case class Seen(queue: Int, frame: Array[Byte], firstAt: Long, lastAt: Long)
  val addresses = Seq[Byte](2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7)

  class Bench(val dut: FrameGenerator, p: ShellParam, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val cycles = new Cycles(cd)
    val bufferBytes = 256
    val run = 1 + random.nextInt(31)
    val pool = mutable.Map[Int, Int]().withDefaultValue(0)
    val claims = mutable.Map[Int, mutable.ArrayBuffer[Claim]]()
    def of(queue: Int) = claims.getOrElseUpdate(queue, mutable.ArrayBuffer())
    val answers = mutable.Queue[(Long, Boolean, Int)]()
    val begun = mutable.Queue[(Int, Int, BigInt)]() // queue, length, cycle
    val seen = mutable.ArrayBuffer[Seen]()
    val sequence = mutable.Map[Int, Int]().withDefaultValue(0)
    var queryPace, backPace, postPace = 1.0
    var drains, stopped = false
    var posts = Seq[Int]() // queues that the host gives buffers to
    var beginnings, cut, planned, denied, returned = 0
    private var draining = Option.empty[Int]

    dut.io.go #= false
    dut.io.restart #= false
    dut.io.clear.valid #= false
    dut.io.query.ready #= false
    dut.io.answer.valid #= false
    dut.io.drained.valid #= false
    dut.io.giveBack.ready #= false
    dut.io.now #= 0

    // What happened in the cycle that ends here, in its order; then what the next one brings.
    cd.onSamplings {
      val now = dut.io.now.toBigInt
      if (dut.io.begun.toBoolean) {
        val (queue, length) = (dut.maker.io.job.payload.queue.toInt, dut.maker.io.job.length.toInt)
        val at = of(queue).indexWhere(_.length == length)
        assert(at >= 0, s"a frame of $length bytes to queue $queue begins without a buffer")
        assert(!stopped, "a frame begins after the stop")
        of(queue).remove(at)
        begun.enqueue((queue, length, now))
        beginnings += 1
      }
      for (queue <- draining) {
        pool(queue) = 0
        of(queue).clear()
      }
      if (dut.io.query.valid.toBoolean && dut.io.query.ready.toBoolean) {
        val (queue, length) = (dut.io.query.payload.queue.toInt, dut.io.query.length.toInt)
        val needed = (length + bufferBytes - 1) / bufferBytes
        val granted = pool(queue) >= needed
        if (granted) {
          pool(queue) -= needed
          of(queue) += Claim(length, needed)
        } else denied += 1
        answers.enqueue((cycles.now + QueueCredit.latency, granted, needed))
      }
      if (dut.io.giveBack.valid.toBoolean && dut.io.giveBack.ready.toBoolean) {
        val (queue, amount) = (dut.io.giveBack.payload.queue.toInt, dut.io.giveBack.amount.toInt)
        val at = of(queue).indexWhere(_.needed == amount)
        assert(at >= 0, s"$amount buffers go back to queue $queue that nobody took")
        of(queue).remove(at)
        pool(queue) += amount
        returned += 1
      }
      if (dut.plan.io.frames.valid.toBoolean && dut.plan.io.frames.ready.toBoolean) planned += 1

      for (queue <- posts if random.nextDouble() < postPace) pool(queue) += 1 + random.nextInt(4)
      dut.io.now #= now + 1
      draining = if (drains && random.nextInt(60) == 0) Some(posts(random.nextInt(posts.size))) else None
      dut.io.drained.valid #= draining.isDefined
      for (queue <- draining) dut.io.drained.payload #= queue
      dut.io.giveBack.ready #= draining.isEmpty && random.nextDouble() < backPace
      dut.io.query.ready #= random.nextDouble() < queryPace
      val due = answers.headOption.exists(_._1 == cycles.now + 1)
      dut.io.answer.valid #= due
      if (due) {
        val (_, granted, needed) = answers.dequeue()
        dut.io.answer.granted #= granted
        dut.io.answer.needed #= needed
      }
    }

    private val bytes = mutable.ArrayBuffer[Byte]()
    private var firstAt = 0L
    val sink = new StreamSink(dut.io.frames, cd)({ word =>
      if (bytes.isEmpty) firstAt = cycles.now
      val last = word.last.toBoolean
      val mty = word.fragment.mty.toInt
      assert(last || mty == 0)
      val (queue, length, stamp) = begun.head
      assert(word.fragment.meta.queue.toInt == queue && word.fragment.meta.length.toInt == length)
      assert(word.fragment.meta.function.toInt == 3)
      bytes ++= toBytes(word.fragment.data.toBigInt, p.hostBytes).take(p.hostBytes - mty)
      if (last) {
        val right = TestFrameModel(length, queue, run, sequence(queue), stamp, addresses)
        assert(bytes.toSeq == right.toSeq, s"frame ${sequence(queue)} of queue $queue")
        seen += Seen(queue, bytes.toArray, firstAt, cycles.now)
        sequence(queue) += 1
        begun.dequeue()
        bytes.clear()
      }
    })
    cd.waitSampling(3)

    def start(s: Settings): Unit = {
      val settings = dut.io.run.settings
      settings.function #= 3
      settings.first #= s.first
      settings.count #= s.count
      dut.io.run.last #= s.first + s.count - 1
      dut.io.run.number #= run
      settings.sizeFirst #= s.sizes._1
      settings.sizeStep #= s.sizes._2
      settings.sizeLast #= s.sizes._3
      settings.interval #= s.interval
      settings.rate #= s.rate
      settings.burst #= s.burst
      settings.frames #= s.frames
      settings.destination #= toBig(addresses.take(6))
      settings.source #= toBig(addresses.drop(6))
      for (queue <- s.first until s.first + s.count) {
        dut.io.clear.valid #= true
        dut.io.clear.payload #= queue
        cd.waitSampling()
        sequence(queue) = 0
      }
      dut.io.clear.valid #= false
      dut.io.restart #= true
      cd.waitSampling()
      dut.io.restart #= false
      seen.clear()
      beginnings = 0
      planned = 0
      stopped = false
      dut.io.go #= true
    }

    /** Ends the test in the next cycle, and looks whether all that was taken has gone or come back. */
    def stop(): Unit = {
      dut.io.go #= false
      cd.waitSampling() // still the cycle before, as it is seen here
      stopped = true
      val before = beginnings
      cd.waitSampling(2)
      waitFor(cd, "idle", 20000)(dut.io.idle.toBoolean)
      drains = false
      cd.waitSampling(4)
      assert(beginnings == before && begun.isEmpty, "what had begun has gone to its end")
      assert(claims.values.forall(_.isEmpty), s"buffers are lost: $claims")
      assert(dut.io.counts(0).toBigInt == beginnings && dut.io.counts(3).toBigInt == planned - beginnings)
      assert(dut.io.counts(1).toBigInt == seen.map(_.frame.length).sum)
    }
    def lengths: Seq[Int] = seen.map(_.frame.length).toSeq
  }

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

    test(s"$width bytes: sizes by a sequence, queues in turn, and an end") {
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

    test(s"$width bytes: at any pace, with buffers that come and go, stopped at any cycle") {
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
  }
}
