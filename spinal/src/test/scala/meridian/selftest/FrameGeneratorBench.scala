// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.host.{Cycles, StreamSink}
import meridian.host.FrameSim._
import meridian.queue.QueueCredit
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** The generator among free buffers that come, go and are taken by others, judged by a model of the buffers of each
  * queue and of the bytes of each frame.
  */
abstract class FrameGeneratorBench extends AnyFunSuite {
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
  case class Seen(queue: Int, frame: Array[Byte], firstAt: Long, lastAt: Long) {
    def begunAt: Long = BigInt(1, frame.slice(24, 32).reverse).toLong
  }
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
}
