// SPDX-License-Identifier: Apache-2.0
package meridian.queue

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import spinal.core.sim._

class QueueTableTest extends AnyFunSuite {
  private val p = ShellParam(queues = 64, functions = 8)

  /** Whose each queue is, and what each function was given, after whole writes. */
  case class Model(owner: Map[Int, Int] = Map.empty, ranges: Map[Int, (Int, Int)] = Map.empty) {
    def write(function: Int, base: Int, count: Int): (Model, Boolean) =
      if (function >= p.functions) (this, true)
      else {
        val cut = count min ((p.queues - base) max 0)
        val kept = owner.filter(_._2 != function)
        (Model(kept ++ (base until base + cut).map(_ -> function), ranges + (function -> (base, cut))), cut < count)
      }
    def count(function: Int): (Int, Int) = {
      val (base, count) = ranges.getOrElse(function, (0, 0))
      (if (count == 0) 0 else base, count)
    }
  }

  for (seed <- 1 to 2) test(s"random ranges under questions, seed $seed") {
    SimConfig.compile(new QueueTable(p)).doSim(seed) { dut =>
      val random = new Random(seed)
      val cd = dut.clockDomain
      var model = Model()
      val released = mutable.Buffer.empty[Int]
      var next = model // after the write at hand
      var errors, cycles = 0
      val asked = Array.fill(2)(mutable.Queue.empty[Option[(Int, Set[Option[Int]])]])
      val askedRange = mutable.Queue.empty[Option[(Int, Set[(Int, Int)])]]
      dut.io.range.valid #= false
      dut.io.owner.foreach(_.query.valid #= false)
      dut.io.functionRange.query.valid #= false
      cd.forkStimulus(10)
      SimTimeout(10L * 1000000)
      sleep(100)

      /** One cycle. What is asked in it may be answered as before or as after the write at hand. */
      def cycle(): Unit = {
        cd.waitSampling()
        cycles += 1
        if (dut.io.rangeError.toBoolean) errors += 1
        if (dut.io.released.valid.toBoolean) released += dut.io.released.payload.toInt
        if (dut.io.idle.toBoolean && !dut.io.range.valid.toBoolean) model = next
        for ((port, pending) <- dut.io.owner.zip(asked)) {
          pending += Option.when(port.query.valid.toBoolean) {
            val queue = port.query.payload.toInt
            queue -> Set(model, next).map(_.owner.get(queue))
          }
          if (pending.size > QueueTable.latency) {
            val due = pending.dequeue()
            assert(port.result.valid.toBoolean == due.nonEmpty)
            for ((queue, allowed) <- due) {
              val got = Option.when(port.result.payload.valid.toBoolean)(port.result.function.toInt)
              assert(allowed.contains(got), s"queue $queue is of $got, allowed $allowed")
            }
          }
          port.query.valid #= random.nextInt(8) != 0
          port.query.payload #= (if (random.nextInt(8) == 0) random.nextInt(2048) else random.nextInt(p.queues))
        }
        askedRange += Option.when(dut.io.functionRange.query.valid.toBoolean) {
          val function = dut.io.functionRange.query.payload.toInt
          function -> Set(model, next).map(_.count(function))
        }
        if (askedRange.size > QueueTable.latency) {
          val result = dut.io.functionRange.result
          val due = askedRange.dequeue()
          assert(result.valid.toBoolean == due.nonEmpty)
          for ((function, allowed) <- due) {
            val count = result.count.toInt
            val got = (if (count == 0) 0 else result.base.toInt, count)
            assert(allowed.contains(got), s"function $function has $got, allowed $allowed")
          }
        }
        dut.io.functionRange.query.valid #= random.nextInt(8) != 0
        dut.io.functionRange.query.payload #=
          (if (random.nextInt(8) == 0) random.nextInt(256) else random.nextInt(p.functions))
      }

      def waitIdle(limit: Int): Unit = {
        val start = cycles
        while (!dut.io.idle.toBoolean) {
          cycle()
          assert(cycles - start <= limit, "never idle")
        }
      }
      waitIdle(p.queues + 2)
      var longest, resets = 0
      for (_ <- 0 until 300) {
        val function = if (random.nextInt(16) == 0) random.nextInt(256) else random.nextInt(p.functions)
        val base = if (random.nextInt(16) == 0) random.nextInt(2048) else random.nextInt(p.queues)
        val count = random.nextInt(8) match {
          case 0 => 0
          case 1 => random.nextInt(4096)
          case _ => random.nextInt(16)
        }
        assert(dut.io.range.ready.toBoolean)
        dut.io.range.valid #= true
        dut.io.range.function #= function
        dut.io.range.base #= base
        dut.io.range.count #= count
        val reset = random.nextInt(3) == 0
        dut.io.range.reset #= reset
        val before = errors
        val (after, wrong) = model.write(function, base, count)
        val away = model.owner.collect { case (queue, `function`) if !after.owner.contains(queue) => queue }
        next = after
        cycle()
        dut.io.range.valid #= false
        val start = cycles
        cycle()
        waitIdle(QueueTable.writeCycles(p))
        longest = longest max (cycles - start)
        for (_ <- 0 until 2 + random.nextInt(30)) cycle()
        assert(released.sorted == (if (reset) away.toSeq.sorted else Nil), s"function $function, reset $reset")
        resets += released.size
        released.clear()
        assert(errors - before == (if (wrong) 1 else 0), s"function $function, base $base, count $count")
        assert(model == next)
      }
      info(s"$cycles cycles, longest write $longest cycles, $resets queues released")
      assert(resets > 50)
    }
  }
}
