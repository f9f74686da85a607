// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import meridian.Samplings._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** A PHC and a crossing in two asynchronous clocks. */
class CrossedPhc(dstFrequency: HertzNumber) extends Component {
  val psCd = ClockDomain.external("ps")
  val dstCd = ClockDomain.external("dst")
  val io = new Bundle {
    val control = spinal.lib.slave(PhcControl())
    val psSkip, dstSkip = in UInt (32 bits)
    val psAhead = in SInt (32 bits)
    val psTime = out(PtpFineTime())
    val dstTime = out(PtpTime())
    val dstLocked, dstKnown = out Bool ()
  }
  val phc = psCd(new Phc(250 MHz))
  val crossing = new TimeCrossing(psCd, dstCd, 250 MHz, dstFrequency)
  phc.io.control <> io.control
  phc.io.skip := io.psSkip
  io.psTime := phc.io.time
  crossing.io.psTime := phc.io.time
  crossing.io.psStepped := phc.io.stepped
  crossing.io.psAhead := io.psAhead
  crossing.io.dstSkip := io.dstSkip
  io.dstTime := crossing.io.dstTime
  io.dstLocked := crossing.io.dstLocked
  io.dstKnown := crossing.io.dstKnown
}

class TimeCrossingTest extends AnyFunSuite {
  import PtpSim._
  private val psFs = 4000000L

  /** Drives both clocks by hand, in fs, and compares io.dstTime at each dst edge with the PHC at that instant. */
  private class Bench(dut: CrossedPhc, dstFs: Long, psPhase: Long) {
    var increment = BigInt(4) << 32
    var now, psEdge = 0L
    private var nextPs = 100000L + psPhase
    private var nextDst = 100000L
    var psTime = BigInt(0)
    var locked = false

    private def ps(seen: => Unit): Unit = dut.psCd.cycleThen {
      psTime = fine(dut.io.psTime)
      psEdge = now
      seen
    }
    private def dst(seen: Double => Unit): Unit = dut.dstCd.cycleThen {
      assert(dut.io.dstTime.nanoseconds.toLong < 1000000000L)
      locked = dut.io.dstLocked.toBoolean
      val whole = coarse(dut.io.dstTime) - (psTime >> 32) / 1000000000 * 1000000000
      val ns = beyondSecond(psTime) + (now - psEdge).toDouble / psFs * increment.toDouble / 4294967296.0
      seen(whole.toDouble - ns)
    }
    // Nanoseconds beyond the second, as a double is too short for all of it.
    private def beyondSecond(t: BigInt): Double = (t % secondFine).toDouble / 4294967296.0

    def run(fs: Long)(each: (Long, Double) => Unit): Unit = {
      val end = now + fs
      var over = false
      def next(): Unit =
        if (now >= end) over = true
        else if (nextPs <= nextDst) {
          now = nextPs
          nextPs += psFs
          ps(next())
        } else {
          now = nextDst
          nextDst += dstFs
          dst { error =>
            each(now, error)
            next()
          }
        }
      next()
      waitUntil(over)
    }

    /** All stand still but for one edge each that stands for as many cycles as fit into about this time. */
    def skip(fs: Long): Unit = {
      val psCycles = fs / psFs
      val dstCycles = fs / dstFs
      dut.io.psSkip #= psCycles
      dut.io.dstSkip #= dstCycles
      now = nextPs + (psCycles - 1) * psFs
      nextPs = now + psFs
      var over = false
      ps {
        dut.io.psSkip #= 1
        now = nextDst + (dstCycles - 1) * dstFs
        nextDst = now + dstFs
        dst { _ =>
          dut.io.dstSkip #= 1
          over = true
        }
      }
      waitUntil(over)
    }
  }

  private def bench(dut: CrossedPhc, dstFs: Long, psPhase: Long): Bench = {
    dut.psCd.fallingEdge()
    dut.dstCd.fallingEdge()
    dut.psCd.assertReset()
    dut.dstCd.assertReset()
    dut.io.control.set.valid #= false
    dut.io.control.adjust.valid #= false
    dut.io.control.increment #= BigInt(4) << 32
    dut.io.psSkip #= 1
    dut.io.dstSkip #= 1
    dut.io.psAhead #= 0
    sleep(10)
    val b = new Bench(dut, dstFs, psPhase)
    b.run(50000000L)((_, _) => ())
    dut.psCd.deassertReset()
    dut.dstCd.deassertReset()
    b
  }

  private def set(dut: CrossedPhc, b: Bench, value: BigInt): Unit = {
    dut.io.control.set.valid #= true
    drive(dut.io.control.set.payload, value)
    b.run(psFs)((_, _) => ())
    dut.io.control.set.valid #= false
  }

  private def adjust(dut: CrossedPhc, b: Bench, amount: BigInt): Unit = {
    dut.io.control.adjust.valid #= true
    dut.io.control.adjust.nanoseconds #= amount >> 32
    dut.io.control.adjust.fraction #= amount & 0xffffffffL
    b.run(psFs)((_, _) => ())
    dut.io.control.adjust.valid #= false
  }

  /** r.m.s. and peak, in ns. */
  private def figures(errors: Seq[Double]): (Double, Double) =
    (math.sqrt(errors.map(e => e * e).sum / errors.size), errors.map(math.abs).max)

  /** Runs until locked, in fs. */
  private def lock(b: Bench, limit: Long): Long = {
    val start = b.now
    while (!b.locked && b.now - start < limit) b.run(1000000L)((_, _) => ())
    assert(b.locked, "not locked")
    b.now - start
  }

  for ((name, frequency, period) <- Seq(("25G", 390.625 MHz, 2560000L), ("10G", 156.25 MHz, 6400000L))) {
    lazy val compiled = SimConfig.compile(new CrossedPhc(frequency))

    for (ppm <- Seq(-100.0, 0.0, 0.4, 33.0, 100.0))
      test(s"$name at $ppm ppm is right to 1 ns r.m.s. and 2.6 ns peak") {
        compiled.doSim(seed = 1) { dut =>
          val b = bench(dut, math.round(period / (1 + ppm * 1e-6)), 1234567L)
          // A second turns 60 us later.
          set(dut, b, secondFine * 1000 - (BigInt(60000) << 32))
          b.run(1000000L)((_, _) => ())
          val took = lock(b, 20000000000L)
          val errors = Vector.newBuilder[Double]
          b.run(80000000000L) { (_, e) =>
            assert(b.locked)
            errors += e
          }
          val all = errors.result()
          val (rms, peak) = figures(all)
          println(
            f"$name $ppm%+.2f ppm: locked after ${took * 1e-9}%.1f us, mean ${all.sum / all.size}%+.3f ns, " +
              f"rms $rms%.3f ns, peak $peak%.3f ns"
          )
          assert(rms < 1.0 && peak < 2.6)
        }
      }

    test(s"$name follows set, adjust and increment") {
      compiled.doSim(seed = 2) { dut =>
        val b = bench(dut, math.round(period / (1 - 50e-6)), 700001L)
        lock(b, 20000000000L)
        for (
          (what, act) <- Seq[(String, () => Unit)](
            "set" -> (() => set(dut, b, secondFine * 0x123456789abL + 77)),
            "set back by 3 ns" -> (() => set(dut, b, b.psTime + b.increment - (BigInt(3) << 32))),
            "adjust by half a second" -> { () =>
              dut.io.control.adjust.valid #= true
              dut.io.control.adjust.nanoseconds #= -500000000
              dut.io.control.adjust.fraction #= 0
              b.run(psFs)((_, _) => ())
              dut.io.control.adjust.valid #= false
            }
          )
        ) {
          act()
          b.run(400000000L)((_, _) => ())
          assert(!b.locked, s"$what: still says locked")
          val took = lock(b, 8000000000L)
          val errors = Vector.newBuilder[Double]
          b.run(20000000000L)((_, e) => errors += e)
          val (rms, peak) = figures(errors.result())
          println(f"$name $what: locked after ${took * 1e-9}%.1f us, then rms $rms%.3f ns, peak $peak%.3f ns")
          assert(rms < 1.0 && peak < 2.6)
        }
        b.increment = (BigInt(4) << 32) * 1000100 / 1000000
        dut.io.control.increment #= b.increment
        b.run(30000000L)((_, _) => ())
        val errors = Vector.newBuilder[Double]
        b.run(60000000000L)((_, e) => errors += e)
        val (rms, peak) = figures(errors.result())
        println(f"$name increment +100 ppm: rms $rms%.3f ns, peak $peak%.3f ns")
        assert(rms < 1.0 && peak < 2.6 && b.locked)
      }
    }

    test(s"$name is ahead or behind by what it is told, to a fraction of a nanosecond") {
      compiled.doSim(seed = 5) { dut =>
        val b = bench(dut, math.round(period / (1 + 30e-6)), 700001L)
        set(dut, b, secondFine * 1000 - (BigInt(60000) << 32))
        lock(b, 20000000000L)
        val (highest, lowest) = (BigInt(2).pow(31) - 1, -BigInt(2).pow(31))
        for (units <- Seq[BigInt](250 << 16, 250 << 16 | 0x6000, -(313 << 16) + 0x4000, highest, lowest, 5, 0)) {
          val was = dut.io.psAhead.toBigInt
          dut.io.psAhead #= units
          b.run(400000000L)((_, _) => ())
          assert(b.locked == (units == was), s"$units: the change is a step")
          val took = lock(b, 8000000000L)
          val errors = Vector.newBuilder[Double]
          // Seconds turn meanwhile, here and in the PHC.
          set(dut, b, secondFine * 1000 - (BigInt(20000) << 32))
          b.run(400000000L)((_, _) => ())
          lock(b, 8000000000L)
          b.run(40000000000L)((_, e) => errors += e)
          val ahead = units.toDouble / 65536
          val all = errors.result().map(_ - ahead)
          val mean = all.sum / all.size
          val (rms, peak) = figures(all)
          println(
            f"$name ahead by $ahead%.4f ns: locked after ${took * 1e-9}%.1f us, mean $mean%+.3f ns, rms $rms%.3f ns"
          )
          assert(math.abs(mean) < 0.2 && rms < 1.0 && peak < 2.6)
        }
      }
    }

    test(
      s"$name: behind a reset of the MAC at any time, the first time that is loaded is right to a cycle, and known in time"
    ) {
      compiled.doSim(seed = 6) { dut =>
        val b = bench(dut, math.round(period / (1 - 40e-6)), 700001L)
        val random = new scala.util.Random(6)
        set(dut, b, secondFine * 1000 + (BigInt(77) << 32))
        lock(b, 20000000000L)
        var worst, unknown = 0.0
        var latest = 0L
        for (_ <- 0 until 200) {
          dut.dstCd.assertReset()
          b.run(20 * period + random.nextInt(300) * 1000000L)((_, _) => ())
          dut.dstCd.deassertReset()
          val start = b.now
          var known = -1L
          var loaded = false
          b.run(3000000000L) { (now, e) =>
            if (math.abs(e) < 1e6) loaded = true
            if (loaded) worst = worst.max(math.abs(e))
            if (dut.io.dstKnown.toBoolean) {
              if (known < 0) known = now
              assert(loaded)
            } else {
              assert(known < 0, "the time is not known any more")
              unknown = unknown.max(math.abs(e))
            }
          }
          assert(known > 0, "the time is never known")
          latest = latest.max(known - start)
        }
        println(f"$name: known after ${latest * 1e-9}%.2f us, then $worst%.3f ns off at most, $unknown%.0f ns before")
        assert(worst < period * 1e-6 && latest < 1500000000L)
        assert(unknown > 1e6, "nothing was to be told")
      }
    }

    test(s"$name: behind a reset of the MAC the time is known in time, however often the PHC is stepped") {
      compiled.doSim(seed = 7) { dut =>
        val b = bench(dut, math.round(period / (1 - 40e-6)), 700001L)
        val random = new scala.util.Random(7)
        set(dut, b, secondFine * 1000)
        lock(b, 20000000000L)
        for (round <- 0 until 40) {
          val every = Seq(60, 124, 700, 1000)(round % 4) * 1000000L // from twice a sample on
          dut.dstCd.assertReset()
          b.run(20 * period + random.nextInt(300) * 1000000L)((_, _) => ())
          dut.dstCd.deassertReset()
          val start = b.now
          while (!dut.io.dstKnown.toBoolean) {
            assert(b.now - start < 1500000000L, s"steps every $every fs")
            adjust(dut, b, BigInt(random.nextInt(2000) - 1000) << 32)
            b.run(every - psFs)((_, _) => ())
          }
          b.run(400000000L)((_, _) => ())
          b.run(100000000L)((_, e) => assert(math.abs(e) < period * 1e-6))
        }
      }
    }

    test(s"$name is right again soon after idle skips") {
      compiled.doSim(seed = 3) { dut =>
        val b = bench(dut, math.round(period / (1 + 20e-6)), 700001L)
        lock(b, 20000000000L)
        b.run(100000000000L)((_, _) => ())
        for (fs <- Seq(20000000L, 1000000000L, 1000000000000L, 900000000000000L)) {
          b.skip(fs)
          // The loop keeps the frequency to 20 ppm, and the time to 2.6 ns.
          val first = Vector.newBuilder[Double]
          b.run(10 * period)((_, e) => first += e)
          assert(b.locked == fs < 100000000000L)
          val (_, firstPeak) = figures(first.result())
          b.run(400000000L)((_, _) => ())
          val took = lock(b, 8000000000L)
          val errors = Vector.newBuilder[Double]
          b.run(10000000000L)((_, e) => errors += e)
          val (rms, peak) = figures(errors.result())
          println(
            f"$name skip of ${fs * 1e-9}%.2f us: at once $firstPeak%.2f ns, " +
              f"locked after ${took * 1e-9 + 0.4}%.1f us, then rms $rms%.3f ns, peak $peak%.3f ns"
          )
          assert(firstPeak < 2.6 + fs * 1e-6 * 20e-6)
          assert(rms < 1.0 && peak < 2.6)
        }
      }
    }

    test(s"$name lands where it would have after many short skips") {
      compiled.doSim(seed = 4) { dut =>
        val b = bench(dut, math.round(period / (1 + 20e-6)), 700001L)
        val random = new scala.util.Random(4)
        set(dut, b, secondFine * 10 - (BigInt(300000) << 32))
        b.run(400000000L)((_, _) => ())
        lock(b, 20000000000L)
        var worst, worstLocked = 0.0
        for (_ <- 0 until 1000) {
          b.run(8000000L + random.nextInt(400000000)) { (_, e) =>
            worst = worst.max(math.abs(e))
            if (b.locked) worstLocked = worstLocked.max(math.abs(e))
          }
          b.skip(16000000L + random.nextInt(1000000000))
        }
        assert(dut.io.dstTime.seconds.toBigInt == 10)
        println(f"$name 1000 short skips: peak $worstLocked%.3f ns while locked, $worst%.3f ns in all")
        assert(worstLocked < 2.6 && worst < 10)
      }
    }
  }
}
