// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import spinal.core.sim._

class QueueCreditTest extends AnyFunSuite {
  private val p = ShellParam(queues = 16)
  private lazy val compiled = SimConfig.compile(new QueueCredit(p))

  private def needed(length: Int, bytes: Int): Int =
    if (bytes < 64) 1 else ((length + bytes - 1) / bytes) max 1

  /** Drives one cycle after another; a question's answer is checked when it is due. */
  private class Bench(dut: QueueCredit) {
    val cd = dut.clockDomain
    private val due = mutable.Queue.empty[Option[(Boolean, String)]]
    var granted, refused = 0
    dut.io.enforce #= true
    dut.io.status.valid #= false
    dut.io.bufferSize.valid #= false
    dut.io.clear.valid #= false
    dut.io.take.query.valid #= false
    cd.forkStimulus(10)
    SimTimeout(10L * 2000000)
    sleep(100)
    cd.waitSamplingWhere(p.queues + 4)(dut.io.ready.toBoolean)

    def status(
        queue: Int,
        avl: Int,
        qinv: Boolean = false,
        qen: Boolean = true,
        c2h: Boolean = true,
        mm: Boolean = false
    ): Unit = {
      val status = dut.io.status
      status.valid #= true
      status.qid #= queue
      status.avl #= avl
      status.qinv #= qinv
      status.qen #= qen
      status.c2h #= c2h
      status.mm #= mm
    }
    def size(queue: Int, bytes: Int): Unit = {
      dut.io.bufferSize.valid #= true
      dut.io.bufferSize.queue #= queue
      dut.io.bufferSize.bytes #= bytes
    }
    def ask(queue: Int, length: Int): Unit = {
      dut.io.take.query.valid #= true
      dut.io.take.query.queue #= queue
      dut.io.take.query.length #= length
    }

    /** One cycle with what is set; expected: what a question of this cycle is to be answered. */
    def cycle(expected: => Option[(Boolean, String)]): Unit = {
      cd.waitSampling()
      due += expected
      if (due.size > QueueCredit.latency) {
        val answer = dut.io.take.granted
        val wanted = due.dequeue()
        assert(answer.valid.toBoolean == wanted.nonEmpty)
        for ((grant, what) <- wanted) {
          assert(answer.payload.toBoolean == grant, what)
          if (grant) granted += 1 else refused += 1
        }
      }
      dut.io.status.valid #= false
      dut.io.bufferSize.valid #= false
      dut.io.clear.valid #= false
      dut.io.take.query.valid #= false
    }
  }

  for (seed <- 1 to 3) test(s"random messages and questions, seed $seed") {
    compiled.doSim(seed) { dut =>
      val random = new Random(seed)
      val bench = new Bench(dut)
      val free = Array.fill(p.queues)(0)
      val sizes = Array.fill(p.queues)(0)
      var cleared = 0
      for (phase <- 0 until 20) {
        for (queue <- 0 until p.queues) {
          sizes(queue) = Seq(0, 63, 64, 256, 1500, 2048, 4096, 16383, 16384, 65535)(random.nextInt(10))
          bench.size(queue, sizes(queue))
          bench.cycle(None)
        }
        for (_ <- 0 until BufferCount.settle) bench.cycle(None)
        // One, few or all queues, so that operations on the same counter follow each other closely.
        val spread = Seq(1, 3, p.queues)(phase % 3)
        for (_ <- 0 until 2000) {
          var drained, posted = Option.empty[(Int, Int)]
          val clearing = random.nextInt(32) == 0
          if (clearing) {
            dut.io.clear.valid #= true
            dut.io.clear.payload #= random.nextInt(spread)
          }
          if (random.nextInt(3) == 0) {
            val queue = if (random.nextInt(16) == 0) 16 + random.nextInt(2000) else random.nextInt(spread)
            val avl = if (queue < 16 && free(queue) > 2000) 0 else random.nextInt(40)
            val kind = random.nextInt(32)
            bench.status(queue, avl, qinv = kind == 0, qen = kind != 1, c2h = kind != 2, mm = kind == 3)
            if (kind <= 1) drained = Some(queue -> 0)
            else if (kind > 3) posted = Some(queue -> avl)
          }
          val enforce = random.nextInt(64) != 0
          dut.io.enforce #= enforce
          val question = Option.when(random.nextInt(8) != 0) {
            val queue = if (random.nextInt(16) == 0) random.nextInt(2048) else random.nextInt(spread)
            val length = random.nextInt(4) match {
              case 0 => random.nextInt(16001)
              case 1 => sizes(queue % 16) * random.nextInt(4) min 16000
              case _ => random.nextInt(1600)
            }
            bench.ask(queue, length)
            (queue, length)
          }
          bench.cycle {
            if (clearing && dut.io.clear.ready.toBoolean) {
              drained = Some(dut.io.clear.payload.toInt -> 0)
              cleared += 1
            }
            for ((queue, _) <- drained if queue < p.queues) free(queue) = 0
            val answer = question.map { case (queue, length) =>
              val n = needed(length, sizes(queue % 16))
              val grant = !enforce || (queue < p.queues && free(queue) >= n)
              val what = s"queue $queue, $length bytes, $n buffers" + (if (queue < 16) s" of ${free(queue)}" else "")
              if (grant && enforce) free(queue) -= n
              (grant, what)
            }
            for ((queue, avl) <- posted if queue < p.queues) free(queue) += avl
            answer
          }
        }
      }
      for (_ <- 0 to QueueCredit.latency) bench.cycle(None)
      info(s"${bench.granted} granted, ${bench.refused} refused, $cleared cleared")
      assert(bench.granted > 5000 && bench.refused > 5000 && cleared > 100)
    }
  }

  test("buffers needed are exact at every edge") {
    compiled.doSim(1) { dut =>
      val bench = new Bench(dut)
      val random = new Random(1)
      val sizes = (64 to 130) ++ Seq(255, 256, 257, 1024, 1499, 1500, 2048, 4095, 4096, 7999, 8000, 9600, 15999, 16000,
        16001, 16383, 16384, 65535) ++ Seq.fill(40)(64 + random.nextInt(16000)) ++ Seq(0, 1, 63)
      for (bytes <- sizes) {
        bench.size(0, bytes)
        bench.cycle(None)
        for (_ <- 0 until BufferCount.settle) bench.cycle(None)
        val multiples = if (bytes < 64) Nil else random.shuffle((bytes to 16000 by bytes).toList).take(20)
        val edges = Seq(0, 1, 15999, 16000) ++ multiples.flatMap(n => Seq(n - 1, n, n + 1)).filter(_ <= 16000)
        for (length <- edges) {
          val n = needed(length, bytes)
          // Just enough, and one too few.
          for ((given, grant) <- Seq(n -> true, n - 1 -> false)) {
            bench.status(0, 0, qinv = true)
            bench.cycle(None)
            bench.status(0, given)
            bench.cycle(None)
            bench.ask(0, length)
            bench.cycle(Some((grant, s"$length bytes in buffers of $bytes: $given given")))
          }
        }
      }
      for (_ <- 0 to QueueCredit.latency) bench.cycle(None)
    }
  }
}
