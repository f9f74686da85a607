// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

class QuietTimeTest extends AnyFunSuite {
  import PtpSim._
  private val never = 0xffffffffL
  private val second = BigInt(1000000000)
  lazy val compiled = SimConfig.compile(new PhcWithPins(250 MHz))

  private def start(dut: PhcWithPins): Unit = {
    val signals = dut.io.signals
    signals.control.set.valid #= false
    signals.control.adjust.valid #= false
    signals.control.increment #= BigInt(4) << 32
    signals.pps.enable #= false
    signals.pps.width #= 1
    signals.perout.enable #= false
    signals.extTs.rising #= false
    signals.extTs.falling #= false
    signals.extTsEvent.ready #= true
    dut.io.skip #= 1
    dut.io.extTs #= false
    dut.clockDomain.forkStimulus(4000)
    dut.clockDomain.waitSampling(10)
  }

  private def cycle(dut: PhcWithPins): Unit = {
    dut.clockDomain.waitSampling()
    sleep(1)
  }

  /** The time in ns. */
  private def now(dut: PhcWithPins): BigInt = fine(dut.io.time) >> 32

  private def set(dut: PhcWithPins, ns: BigInt): Unit = {
    dut.io.signals.control.set.valid #= true
    drive(dut.io.signals.control.set.payload, ns << 32)
    cycle(dut)
    dut.io.signals.control.set.valid #= false
  }

  test("without a pin in use it is quiet for ever") {
    compiled.doSim(seed = 1) { dut =>
      start(dut)
      for (_ <- 0 until 100) {
        cycle(dut)
        assert(dut.io.quietCycles.toLong == never)
      }
    }
  }

  test("no pin moves before its time, skipping as far as it is said to be quiet") {
    compiled.doSim(seed = 2) { dut =>
      val random = new Random(7)
      var edges, skipped, looks = 0L
      start(dut)
      for (round <- 0 until 12) {
        val signals = dut.io.signals
        signals.perout.enable #= false
        signals.pps.enable #= false
        signals.control.increment #= (BigInt(4) << 32) + random.between(-400000, 400000)
        cycle(dut)
        set(dut, second * random.between(1, 1000) + random.between(0, 1000000000))
        val usePps = random.nextInt(3) != 0
        val usePerout = !usePps || random.nextBoolean()
        signals.pps.width #= random.between(1, 900)
        if (usePerout) {
          drive(signals.perout.start, now(dut) + random.between(1000, 400000000))
          val period = random.between(2000, 700000000)
          signals.perout.period.seconds #= 0
          signals.perout.period.nanoseconds #= period
          signals.perout.width.seconds #= 0
          signals.perout.width.nanoseconds #= random.between(100, period - 200)
        }
        signals.pps.enable #= usePps
        signals.perout.enable #= usePerout
        for (_ <- 0 until 12) cycle(dut)

        var pins = (dut.io.pps.toBoolean, dut.io.perout.toBoolean)
        var promise = ""
        def look(mayMove: Boolean): Unit = {
          cycle(dut)
          looks += 1
          val found = (dut.io.pps.toBoolean, dut.io.perout.toBoolean)
          if (found != pins) {
            assert(mayMove, s"round $round: $pins became $found at ${now(dut)} ns, in time said to be quiet ($promise)")
            edges += 1
          }
          pins = found
        }
        val end = now(dut) + 3 * second
        while (now(dut) < end) {
          val quiet = dut.io.quietCycles.toLong
          assert(quiet != never)
          // The promise is of the time before the edge that ends it.
          val most = math.min(quiet, 200000000L)
          promise = s"$quiet cycles at ${now(dut)} ns"
          if (most > 1) {
            dut.io.skip #= most
            look(mayMove = false)
            dut.io.skip #= 1
            skipped += most
            for (_ <- 0 until 4) look(mayMove = quiet < 20)
          } else look(mayMove = true)
        }
      }
      assert(edges > 40, s"only $edges edges")
      assert(skipped > 1000 * looks, s"$skipped cycles skipped in $looks looks")
    }
  }
}
