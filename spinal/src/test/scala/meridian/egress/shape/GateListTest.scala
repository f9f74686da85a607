// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import meridian.Samplings._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** Lists against a model that knows the gates at any time. Time runs in steps of 0.01 ns; the component sees whole ns. */
class GateListTest extends AnyFunSuite {
  private val period = 256L // of 0.01 ns
  private lazy val compiled =
    SimConfig
      .withConfig(SpinalConfig(targetDirectory = "target/gateList"))
      .compile(new GateList(TimeNumber(BigDecimal("2.56e-9"))))
  private val late = 2 * period + 200 // two cycles and 2 ns
  private val minimum = 36

  case class Plan(entries: Seq[(Int, Int)], base: BigInt, cycle: Int, extension: Int) {
    private val ends = entries.map(_._2).scanLeft(0)(_ + _).tail

    /** Gates so many ns/100 into a cycle. */
    def gates(into: Long): Int = entries(ends.indexWhere(_ * 100L > into) match {
      case -1 => ends.size - 1; case n => n
    })._1

    /** ns/100 since the entry began. */
    def since(into: Long): Long = into - (0 +: ends.init).map(_ * 100L).filter(_ <= into).max

    /** ns/100 from here until class c is closed, or about as many as are told at most; the plan goes on. */
    def left(into: Long, c: Int): Long = {
      var (at, total) = (into, 0L)
      while (total < 2000000 && (gates(at) >> c & 1) == 1) {
        val next = (ends.init :+ cycle).map(_ * 100L).find(_ > at).get
        total += next - at
        at = next % (cycle * 100L)
      }
      total
    }
  }
  private def plan(random: Random, now: BigInt): Plan = {
    val entries = Seq.fill(1 + random.nextInt(10))(
      (random.nextInt(256) | (if (random.nextInt(3) == 0) 0xf0 else 0), minimum + 1 + random.nextInt(700))
    )
    val sum = entries.map(_._2).sum
    val cycle = sum + (if (random.nextBoolean()) 0 else random.nextInt(400))
    val base = random.nextInt(3) match {
      case 0 => BigInt(random.nextInt(cycle)) // long ago
      case 1 => now - random.nextInt(100000)
      case 2 => now + 12000 + random.nextInt(12000)
    }
    Plan(entries, base, cycle, if (random.nextBoolean()) 0 else random.nextInt(cycle))
  }

  case class Seen(at: Long, open: Int, left: Seq[Int], busy: Boolean, began: Boolean)
  class Bench(dut: GateList, start: BigInt) {
    val trace = ArrayBuffer[Seen]()
    var at = 0L // 0.01 ns since start
    dut.io.enable #= true
    dut.io.stepped #= false
    dut.io.write.valid #= false
    dut.io.change #= false
    dut.io.cancel #= false
    dut.io.now #= start
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling()
    sleep(1)
    def now: BigInt = start + at / 100

    /** A cycle begins; a moment later, this is there in it. */
    private def cycle(): Unit = {
      at += period
      dut.io.now #= start + (at + 50) / 100
      delayed(1) {
        trace += Seen(
          at,
          dut.io.open.toInt,
          dut.io.left.map(_.toInt).toSeq,
          dut.io.busy.toBoolean,
          dut.io.cycleBegan.toBoolean
        )
      }
    }
    def step(cycles: Int = 1): Unit = {
      dut.clockDomain.eachSampling(cycles)(cycle())
      sleep(1)
    }
    def write(plan: Plan): Unit = {
      for (((gates, interval), i) <- plan.entries.zipWithIndex) {
        dut.io.write.valid #= true
        dut.io.write.index #= i
        dut.io.write.entry.gates #= gates
        dut.io.write.entry.interval #= interval
        step()
      }
      dut.io.write.valid #= false
      dut.io.schedule.length #= plan.entries.size
      dut.io.schedule.base #= plan.base
      dut.io.schedule.cycle #= plan.cycle
      dut.io.schedule.extension #= plan.extension
    }
    def pulse(signal: Bool): Unit = {
      signal #= true
      step()
      signal #= false
    }
    def change(plan: Plan): Unit = { write(plan); pulse(dut.io.change) }

    /** Steps until the list that waits has begun; returns when that was seen. */
    def begun(): Long = {
      var left = 20000
      var waits = dut.io.busy.toBoolean
      dut.clockDomain.samplingUntil(!waits) {
        cycle()
        delayed(1) { waits = dut.io.busy.toBoolean }
        left -= 1
        assert(left > 0, "the list does not begin")
      }
      at
    }
  }

  /** Checks the trace of a plan from where it began to where the next did, ns/100 since the start of the bench. */
  private def check(trace: Seq[Seen], plan: Plan, from: Long, to: Long, last: Boolean): Unit = {
    val cycle = plan.cycle * 100L
    // The last cycle may go on to the change.
    val cycles = (to - from) / cycle
    val stretch = !last && (to - from) % cycle <= plan.extension * 100L && cycles > 0
    def into(t: Long): Long = {
      val d = t - from
      if (stretch && d / cycle >= cycles) cycle - 1 else d % cycle
    }
    var switches = 0
    for (s <- trace if s.at >= from + late && s.at < to) {
      val (now, before) = (plan.gates(into(s.at)), plan.gates(into(s.at - late)))
      if (now == before) assert(s.open == now, s"at ${s.at}: ${s.open.toHexString}, not ${now.toHexString}")
      else {
        switches += 1
        assert((s.open & ~(now | before)) == 0 && (~s.open & now & before) == 0, s"at ${s.at}")
      }
      if (!(stretch && s.at - from >= cycles * cycle)) for (c <- 0 until 8 if (s.open >> c & 1) == 1) {
        val truth =
          (if ((now >> c & 1) == 0) 0 else plan.left(into(s.at), c)) min (if (last) Long.MaxValue else to - s.at)
        assert(s.left(c) * 100L <= truth, s"class $c at ${s.at}: ${s.left(c)} ns are told, $truth are left")
        // Away from a switch it is told to some cycles.
        val quiet = plan.since(into(s.at)) > 20 * period
        if (quiet && !stretch && last)
          assert(s.left(c) * 100L >= (truth min 1638300L) - 12 * period, s"class $c at ${s.at}: ${s.left(c)}, $truth")
      }
    }
    assert(plan.entries.map(_._1).distinct.size == 1 || switches > 0 || to - from < cycle)
  }

  test("lists follow each other, gates change in time and never before, and the time left is no more than there is") {
    for (seed <- 0 until 6)
      compiled.doSim(s"seed$seed") { dut =>
        val random = new Random(seed)
        val bench = new Bench(dut, BigInt(1790000000L) * 1000000000 + random.nextInt(1 << 30))
        bench.step(50)
        assert(bench.trace.drop(10).forall(s => s.open == 0xff && s.left.forall(_ == 0x3fff)))
        var current: Option[(Plan, Long)] = None
        for (_ <- 0 until 4) {
          val next = plan(random, bench.now)
          val asked = bench.at
          bench.change(next)
          val seen = bench.begun()
          assert(dut.io.code.toEnum == GateCode.accepted && dut.io.running.toBoolean)
          // It begins in step with its base time.
          val cycle = BigInt(next.cycle) * 100
          val exact0 = bench.now - bench.at / 100
          val since = (exact0 * 100 + seen) - next.base * 100
          val n = (since / cycle).max(0)
          val begin = (next.base * 100 + n * cycle - exact0 * 100).toLong
          assert(seen - begin >= 0 && seen - begin <= late, s"it begins ${seen - begin} behind its time")
          if (next.base * 100 - exact0 * 100 > asked + 2500000) assert(n == 0)
          val soonest = ((next.base - exact0) * 100).max(asked + 1740800 + 300 * period).toLong
          assert(begin < soonest + cycle.toLong, "it begins later than it could")
          for ((plan, from) <- current) check(bench.trace.toSeq, plan, from, begin, last = false)
          bench.trace.clear()
          current = Some((next, begin))
          bench.step(random.nextInt(4000))
        }
        bench.trace.clear()
        bench.step(6000)
        check(bench.trace.toSeq, current.get._1, current.get._2, bench.at, last = true)
      }
  }

  test("a list that cannot be is refused with its reason, and the one before goes on") {
    compiled.doSim("codes") { dut =>
      val bench = new Bench(dut, BigInt(10) * 1000000000)
      def told(plan: Plan): GateCode.E = {
        bench.change(plan)
        bench.step(60 + 30 * plan.entries.size)
        dut.io.code.toEnum
      }
      val good = Plan(Seq((1, 100), (2, 200)), 0, 300, 0)
      assert(told(good.copy(entries = Nil)) == GateCode.badLength)
      assert(told(good.copy(entries = Seq((1, 100), (2, 0)))) == GateCode.shortInterval)
      assert(told(good.copy(entries = Seq((1, minimum - 1), (2, 100)))) == GateCode.shortInterval)
      assert(told(good.copy(cycle = 299)) == GateCode.longList)
      assert(told(good.copy(cycle = 0)) == GateCode.longList)
      assert(!dut.io.busy.toBoolean && !dut.io.running.toBoolean && dut.io.open.toInt == 0xff)
      bench.change(good)
      bench.begun()
      assert(told(good.copy(entries = Seq((3, 0)))) == GateCode.shortInterval && dut.io.running.toBoolean)
      assert(bench.trace.takeRight(50).map(_.open).toSet.subsetOf(Set(1, 2)))
      // One that waits for its time makes others wait, until it is given up.
      bench.change(good.copy(entries = Seq((4, 300)), base = bench.now + 1000000))
      bench.step(200)
      assert(dut.io.code.toEnum == GateCode.accepted && dut.io.busy.toBoolean)
      bench.pulse(dut.io.change)
      assert(dut.io.code.toEnum == GateCode.busy)
      bench.pulse(dut.io.cancel)
      assert(!dut.io.busy.toBoolean && dut.io.running.toBoolean)
      bench.change(good.copy(entries = Seq((8, 300))))
      bench.begun()
      bench.step(10)
      assert(dut.io.open.toInt == 8)
      dut.io.enable #= false
      bench.step(3)
      assert(dut.io.open.toInt == 0xff && !dut.io.running.toBoolean && dut.io.code.toEnum == GateCode.none)
    }
  }

  test("each of 256 entries holds in its time") {
    compiled.doSim("long") { dut =>
      val random = new Random(77)
      val bench = new Bench(dut, BigInt(10) * 1000000000)
      val long = Plan(Seq.fill(256)((random.nextInt(256), minimum + 1 + random.nextInt(40))), 0, 20000, 0)
      bench.change(long)
      bench.begun()
      val begin = (bench.now / 20000 * 20000 - BigInt(10) * 1000000000).toLong * 100
      bench.trace.clear()
      bench.step(20000)
      check(bench.trace.toSeq, long, begin, bench.at, last = true)
    }
  }

  test("a step of the time closes the gates until the list is in step again, whatever was under way") {
    for (moment <- 0 until 5)
      compiled.doSim(s"step$moment") { dut =>
        val start = BigInt(10) * 1000000000
        val bench = new Bench(dut, start)
        val first = Plan(Seq((1, 100), (2, 200)), 7, 300, 0)
        val other = Plan(Seq((4, 150), (8, 150)), 11, 300, 0)
        bench.change(first)
        bench.begun()
        if (moment > 0)
          bench.change(
            if (moment == 4) other.copy(cycle = 1) else other.copy(base = if (moment == 3) start + 1000000 else 11)
          )
        bench.step(moment match { case 1 => 5; case 2 => 60; case 3 => 200; case _ => 1 })
        dut.io.stepped #= true
        bench.at += 12345600L // the time jumps
        bench.step()
        dut.io.stepped #= false
        bench.step(3)
        assert(dut.io.open.toInt == 0)
        val before = bench.trace.size
        if (moment == 3) bench.pulse(dut.io.cancel)
        bench.begun()
        bench.step(5) // a list that was refused leaves its place to the one before
        bench.begun()
        bench.step(300)
        val runs = if (moment == 1 || moment == 2) other else first
        for (s <- bench.trace.drop(before).takeRight(250)) {
          val into = ((start * 100 + s.at - runs.base * 100) % (runs.cycle * 100)).toLong
          if (into > late && runs.gates(into) == runs.gates(into - late))
            assert(s.open == runs.gates(into), s"$moment: at ${s.at}")
        }
      }
  }
}
