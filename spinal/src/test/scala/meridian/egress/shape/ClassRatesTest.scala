// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import meridian.Samplings._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** A line on which classes always have frames, against the bounds of token buckets in exact numbers. */
class ClassRatesTest extends AnyFunSuite {
  private val clock: HertzNumber = BigDecimal("390.625") MHz
  private lazy val compiled =
    SimConfig.withConfig(SpinalConfig(targetDirectory = "target/classRates")).compile(new ClassRates(clock, 25))
  private val bytesPerCycle = 8

  /** Bytes that a rate gives in a cycle. */
  private def perCycle(rate: Int): Double =
    (BigDecimal(rate) * ClassBuckets.unit(clock, 25) / 8 / clock.toBigDecimal).toDouble

  test("the steps of rates are those that are told") {
    def kilobits(clock: HertzNumber, rate: Int) = (ClassBuckets.unit(clock, rate) / 1000).toDouble.round
    assert(kilobits(clock, 25) == 381 && kilobits(BigDecimal("156.25") MHz, 10) == 153)
    assert(kilobits(250 MHz, 25) == 488 && kilobits(250 MHz, 10) == 244)
    for (
      (c, rate) <- Seq(
        (clock, 25),
        (HertzNumber(250000000), 25),
        (HertzNumber(250000000), 10),
        (HertzNumber(125000000), 25)
      )
    ) {
      val highest = ClassBuckets.unit(c, rate) * ((1 << ClassBuckets.rateBits) - 1)
      assert(highest >= BigDecimal(rate) * 1000000000)
    }
  }

  private def write(dut: ClassRates, least: Boolean, trafficClass: Int, rate: Int, burst: Int): Unit = {
    dut.io.settings.least #= least
    dut.io.settings.write.trafficClass #= trafficClass
    for ((isBurst, value) <- Seq(true -> burst, false -> rate)) {
      dut.io.settings.write.valid #= true
      dut.io.settings.write.isBurst #= isBurst
      dut.io.settings.write.value #= value
      dut.clockDomain.waitSampling()
    }
    dut.io.settings.write.valid #= false
    dut.io.settings.look #= trafficClass
    dut.clockDomain.waitSampling()
    assert(dut.io.settings.rate.toInt == rate && dut.io.settings.burst.toInt == burst)
  }

  private def setUp(dut: ClassRates): Unit = {
    dut.io.settings.least #= false
    dut.io.settings.look #= 0
    dut.io.settings.write.valid #= false
    dut.io.charge.valid #= false
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling(20)
    for (least <- Seq(false, true); i <- 0 until 8) {
      dut.io.settings.least #= least
      dut.io.settings.look #= i
      dut.clockDomain.waitSampling()
      assert(dut.io.settings.rate.toInt == 0 && dut.io.settings.burst.toInt == 0, "a rate is set after a reset")
    }
  }

  test(
    "no class has more than burst, rate and a frame in any time, and none less than its rate where the line has room"
  ) {
    compiled.doSim { dut =>
      val random = new Random(1)
      setUp(dut)
      val rates = Seq(1, 300, 3000, 6000, 9000, 12000, 20000, 0) // 77 % of the line, and one without a bound
      val bursts = Seq(0, 1, 100, 200, 3, 400, 1000, 0)
      val gains = rates.map(perCycle)
      for (i <- 0 until 8) write(dut, least = false, i, rates(i), bursts(i))
      val had = Array.fill(8)(0.0)
      val lowest = Array.fill(8)(0.0) // of had - rate * t until now
      var until = 0
      val cycles = 200000
      var t = 0
      def cycle(): Unit = {
        if (t >= until) {
          val may = (0 until 8).filter(i => (dut.io.blocked.toInt >> i & 1) == 0)
          val bounded = may.filter(rates(_) != 0)
          assert(may.contains(7))
          val chosen = if (bounded.nonEmpty) bounded(random.nextInt(bounded.size)) else 7
          val bytes = if (random.nextBoolean()) 84 else 84 + random.nextInt(1500)
          dut.io.charge.valid #= true
          dut.io.charge.trafficClass #= chosen
          dut.io.charge.bytes #= bytes
          had(chosen) += bytes
          until = t + (bytes + bytesPerCycle - 1) / bytesPerCycle
          val i = chosen
          if (rates(i) != 0) {
            // From the best moment before this frame on.
            val over = had(i) - gains(i) * t - lowest(i)
            val gain = gains(i) * ClassBuckets.visitCycles
            val bound = bursts(i) * 64 + 2 * gain + bytes + 1
            assert(over <= bound, s"class $i has $over bytes too many at $t, the bound is $bound")
          }
        }
        for (i <- 0 until 8) lowest(i) = lowest(i) min (had(i) - gains(i) * t)
        t += 1
      }
      dut.clockDomain.eachSampling(cycles) {
        dut.io.charge.valid #= false
        delayed(1)(cycle())
      }
      sleep(1)
      // With a burst that lasts until its turn comes, a class has its rate in full.
      for (i <- 0 until 7; want = gains(i) * cycles if bursts(i) >= 100)
        assert(math.abs(had(i) - want) < want * 0.001 + bursts(i) * 64 + 1600, s"class $i has ${had(i)} of $want")
    }
  }

  test("a class below its lowest rate is urgent, and one above it is not, however much it had") {
    compiled.doSim("least") { dut =>
      val random = new Random(2)
      setUp(dut)
      val rate = 6554 // a tenth of the line
      write(dut, least = true, 3, rate, 50) // 3200 bytes
      def charge(bytes: Int, every: Int, times: Int): Double = {
        var urgent, n = 0
        def ask(): Unit = dut.io.charge.valid #= n % every == 0
        dut.io.charge.trafficClass #= 3
        dut.io.charge.bytes #= bytes
        ask()
        dut.clockDomain.eachSampling(times * every) {
          val seen = dut.io.urgent.toInt
          if ((seen >> 3 & 1) == 1) urgent += 1
          assert((seen & ~8) == 0 && dut.io.blocked.toInt == 0)
          n += 1
          ask()
        }
        dut.io.charge.valid #= false
        urgent.toDouble / (times * every)
      }
      dut.clockDomain.waitSampling(5000) // until it has its burst
      assert(charge(1000, 2500, 20) > 0.99) // half of its rate
      assert(charge(1000, 200, 300) < 1.0 / 6) // six times its rate
      // It is urgent again as soon as it gets less, not only when all it had above is paid for.
      dut.clockDomain.waitSampling(1300)
      assert((dut.io.urgent.toInt >> 3 & 1) == 1)
      // As long as only urgent frames go, it has its rate.
      var had = 0.0
      val cycles = 100000
      var until = 0
      var t = 0
      def cycle(): Unit = {
        if (t >= until) {
          val mine = (dut.io.urgent.toInt >> 3 & 1) == 1
          val bytes = 84 + random.nextInt(1500)
          dut.io.charge.valid #= true
          dut.io.charge.trafficClass #= (if (mine) 3 else 0)
          dut.io.charge.bytes #= bytes
          if (mine) had += bytes
          until = t + (bytes + bytesPerCycle - 1) / bytesPerCycle
        }
        t += 1
      }
      dut.clockDomain.eachSampling(cycles) {
        dut.io.charge.valid #= false
        delayed(1)(cycle())
      }
      sleep(1)
      // What a frame takes below zero is forgotten, so it has its rate at least.
      assert(had >= perCycle(rate) * cycles - 1600, s"$had of ${perCycle(rate) * cycles}")
    }
  }

  test("a class has its lowest rate with any burst, also if its frames take what it was given to the byte") {
    compiled.doSim("leastBursts") { dut =>
      setUp(dut)
      val bytes = 1280
      val perVisit = 1 << ClassBuckets.fractionBits(clock, 25) // in rates, what gives a byte a visit
      for (burst <- Seq(0, 1, 1000); gain <- Seq(1, 64, 256)) { // of which a frame is a multiple
        write(dut, least = true, 6, 0, 0)
        dut.clockDomain.waitSampling(2 * ClassBuckets.visitCycles)
        write(dut, least = true, 6, gain * perVisit, burst)
        var had, until, t = 0
        val visits = 20 * bytes / gain
        // The class sends only while it is urgent, as beside a strict one that always has frames.
        dut.clockDomain.eachSampling(visits * ClassBuckets.visitCycles) {
          dut.io.charge.valid #= false
          delayed(1) {
            if (t >= until && (dut.io.urgent.toInt >> 6 & 1) == 1) {
              dut.io.charge.valid #= true
              dut.io.charge.trafficClass #= 6
              dut.io.charge.bytes #= bytes
              had += bytes
              until = t + bytes / bytesPerCycle
            }
            t += 1
          }
        }
        sleep(1)
        dut.io.charge.valid #= false
        assert(had >= gain * (visits - 2) - bytes, s"with a burst of $burst and $gain bytes a visit it had $had")
      }
    }
  }

  test("a rate of 0 lets a class go on at once, and a bucket that fills is not idle") {
    compiled.doSim("off") { dut =>
      setUp(dut)
      assert(dut.io.idle.toBoolean)
      write(dut, least = false, 0, 655, 2) // 0.08 bytes a cycle
      def charge(bytes: Int): Unit = {
        dut.io.charge.valid #= true
        dut.io.charge.trafficClass #= 0
        dut.io.charge.bytes #= bytes
        dut.clockDomain.waitSampling()
        dut.io.charge.valid #= false
        dut.clockDomain.waitSampling(8)
      }
      def blocked: Int = dut.io.blocked.toInt
      charge(1000)
      assert(blocked == 1)
      dut.clockDomain.waitSampling(11000) // of 1000 / 0.08, from an empty bucket on
      assert(blocked == 1 && !dut.io.idle.toBoolean)
      dut.clockDomain.waitSampling(1700)
      assert(blocked == 0 && !dut.io.idle.toBoolean)
      dut.clockDomain.waitSampling(2000)
      assert(dut.io.idle.toBoolean, "a bucket that is full is not idle")
      charge(120)
      assert(blocked == 0)
      charge(120)
      assert(blocked == 1)
      write(dut, least = false, 0, 0, 2)
      dut.clockDomain.waitSampling(2 * ClassBuckets.visitCycles)
      assert(blocked == 0 && dut.io.idle.toBoolean)
      for (_ <- 0 until 20) { charge(9600); assert(blocked == 0) }
      // What it had meanwhile does not count when it gets a rate again.
      write(dut, least = false, 0, 655, 2)
      dut.clockDomain.waitSampling(2 * ClassBuckets.visitCycles)
      assert(blocked == 0)
    }
  }

  test("the blocked classes are known 7 cycles behind a charge, in each phase") {
    compiled.doSim("latency") { dut =>
      setUp(dut)
      write(dut, least = false, 5, 1, 0)
      for (phase <- 0 until 8) {
        write(dut, least = false, 5, 0, 0)
        dut.clockDomain.waitSampling(2 * ClassBuckets.visitCycles + phase)
        assert(dut.io.blocked.toInt == 0)
        write(dut, least = false, 5, 1, 0)
        dut.io.charge.valid #= true
        dut.io.charge.trafficClass #= 5
        dut.io.charge.bytes #= 64
        dut.clockDomain.waitSampling()
        dut.io.charge.valid #= false
        dut.clockDomain.waitSampling(7)
        sleep(1)
        assert(dut.io.blocked.toInt == 0x20, s"at $phase")
      }
    }
  }
}
