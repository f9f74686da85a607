// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

object PtpSim {
  val secondFine = BigInt(1000000000) << 32

  /** A fine time as one number in 2^-32 ns. */
  def fine(t: PtpFineTime): BigInt =
    t.seconds.toBigInt * secondFine + (t.nanoseconds.toBigInt << 32) + t.fraction.toBigInt
  def drive(t: PtpFineTime, value: BigInt): Unit = {
    t.seconds #= value / secondFine
    t.nanoseconds #= (value % secondFine) >> 32
    t.fraction #= value & 0xffffffffL
  }
  def coarse(t: PtpTime): BigInt = t.seconds.toBigInt * 1000000000 + t.nanoseconds.toBigInt
  def drive(t: PtpTime, ns: BigInt): Unit = {
    t.seconds #= ns / 1000000000
    t.nanoseconds #= ns % 1000000000
  }
}

class PhcTest extends AnyFunSuite {
  import PtpSim._
  lazy val compiled = SimConfig.compile(new Phc(250 MHz))

  def idle(dut: Phc): Unit = {
    dut.io.control.set.valid #= false
    dut.io.control.adjust.valid #= false
    dut.io.control.increment #= BigInt(4) << 32
    dut.io.skip #= 1
  }

  test("the increments of common clocks are their periods") {
    assert(Phc.increment(250 MHz) == BigInt(4) << 32)
    assert(Phc.increment(100 MHz) == BigInt(10) << 32)
    assert(Phc.increment(HertzNumber(BigDecimal("333333333.333333"))) == BigInt(3) << 32)
  }

  test("the time agrees with exact arithmetic over commands, carries of the second and skips") {
    val seed = 20240
    println(s"seed $seed")
    compiled.doSim(seed = seed) { dut =>
      val random = new Random(seed)
      idle(dut)
      dut.clockDomain.forkStimulus(10)
      dut.clockDomain.waitSampling(5)
      // A change acts at the edge it is given plus this many edges.
      val latency = 4
      val increments = mutable.Queue.fill(latency)(BigInt(4) << 32)
      val adjusts = mutable.Queue.fill(latency)(Option.empty[BigInt])
      var increment = BigInt(4) << 32
      var expected = BigInt(-1)
      var carries, sets, steps, skips = 0
      for (cycle <- 0 until 60000) {
        val quiet = cycle == 0
        val set = quiet || random.nextInt(50) == 0
        // Mostly just before the turn of a second, as that is where it can go wrong.
        val inside =
          if (random.nextBoolean()) secondFine - 1 - BigInt(38, random)
          else BigInt(63, random) % secondFine
        val value = BigInt(30, random) * secondFine + inside
        val adjust = !quiet && random.nextInt(12) == 0
        val amount = random.nextInt(5) match {
          case 0 => secondFine
          case 1 => -secondFine
          case 2 => BigInt(random.nextInt())
          case 3 => BigInt(64, random) - (BigInt(1) << 63)
          case _ => BigInt(random.nextLong()) % (secondFine + 1)
        }
        val bounded = amount.max(-secondFine).min(secondFine)
        if (random.nextInt(40) == 0) increment = random.nextInt(4) match {
          case 0 => (BigInt(1) << 40) - 1
          case 1 => BigInt(0)
          case _ => BigInt(40, random)
        }
        val skip = if (random.nextInt(10) == 0) {
          val most = if (increments.max == 0) BigInt(0xffffffffL) else (secondFine - 1) / increments.max
          (if (random.nextBoolean()) most else most * random.nextInt(1000) / 1000).min(0xffffffffL).max(1)
        } else BigInt(1)

        dut.io.control.set.valid #= set
        drive(dut.io.control.set.payload, value)
        dut.io.control.adjust.valid #= adjust
        dut.io.control.adjust.nanoseconds #= bounded >> 32
        dut.io.control.adjust.fraction #= bounded & 0xffffffffL
        dut.io.control.increment #= increment
        dut.io.skip #= skip
        dut.clockDomain.waitSampling()
        sleep(1)

        val acting = increments.dequeue()
        increments.enqueue(increment)
        val landing = adjusts.dequeue()
        adjusts.enqueue(if (adjust) Some(bounded) else None)
        val before = expected
        if (set) {
          expected = value + acting * (skip - 1)
          for (i <- adjusts.indices) adjusts(i) = None
          sets += 1
        } else {
          expected = expected + acting * skip + landing.getOrElse(BigInt(0))
          if (landing.isDefined) steps += 1
        }
        if (skip > 1) skips += 1
        if (before / secondFine != expected / secondFine && !set) carries += 1
        assert(dut.io.stepped.toBoolean == (set || landing.isDefined), s"cycle $cycle stepped")
        assert(dut.io.time.nanoseconds.toLong < 1000000000L, s"cycle $cycle")
        if (expected >= 0) assert(fine(dut.io.time) == expected, s"cycle $cycle")
        else expected = fine(dut.io.time)
      }
      println(s"$sets sets, $steps steps, $skips skips, $carries second carries")
      assert(sets > 500 && steps > 2000 && skips > 3000 && carries > 1000)
    }
  }

  test("the clock runs on across seconds without a wrong cycle") {
    compiled.doSim(seed = 1) { dut =>
      idle(dut)
      dut.io.control.increment #= (BigInt(4) << 32) + 12345
      dut.clockDomain.forkStimulus(10)
      dut.clockDomain.waitSampling(5)
      var value = secondFine * 7 - (BigInt(4000) << 32)
      dut.io.control.set.valid #= true
      drive(dut.io.control.set.payload, value)
      dut.clockDomain.waitSampling()
      dut.io.control.set.valid #= false
      for (_ <- 0 until 3000) {
        sleep(1)
        assert(fine(dut.io.time) == value)
        value += (BigInt(4) << 32) + 12345
        dut.clockDomain.waitSampling()
      }
      assert(value / secondFine == 7)
    }
  }
}
