// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{LongTest, ShellParam}
import meridian.meta.RxStamp
import meridian.ptp.{Phc, PhcControl, PtpFineTime, PtpSim}
import meridian.Samplings._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** A PHC, and its time in the clock of users' modules. */
class BoxClock(hostMhz: Int) extends Component {
  private def clock(name: String) = ClockDomain.external(name, config = ClockDomainConfig(resetKind = SYNC))
  val psCd = clock("ps")
  val hostCd = clock("host")
  val io = new Bundle {
    val control = spinal.lib.slave(PhcControl())
    val skip = in UInt (32 bits)
    val psTime = out(PtpFineTime())
    val time = out(RxStamp())
  }
  val phc = psCd(new Phc(250 MHz))
  phc.io.control <> io.control
  phc.io.skip := 1
  io.psTime := phc.io.time
  val carried = new BoxTime(ShellParam(hostMhz = hostMhz), psCd, hostCd)
  carried.io.psTime := phc.io.time
  carried.io.psStepped := phc.io.stepped
  carried.io.hostSkip := io.skip
  io.time := carried.io.hostTime
}

/** What a user's module sees of the PTP clock: its error, that it grows, and what it shows at resets and steps. */
class BoxTimeTest extends AnyFunSuite {
  import PtpSim._
  private val psFs = 4000000L

  /** Drives both clocks, in fs; `each` sees the shown time and the PHC's at that instant, in ns. */
  private class Bench(dut: BoxClock, hostFs: Long, phase: Long) {
    var now, psEdge = 0L
    private var nextPs = 100000L + phase
    private var nextHost = 100000L
    var psTime = BigInt(0)
    for (cd <- Seq(dut.psCd, dut.hostCd)) { cd.fallingEdge(); cd.assertReset() }
    dut.io.control.set.valid #= false
    dut.io.control.adjust.valid #= false
    dut.io.control.increment #= BigInt(4) << 32
    dut.io.skip #= 1

    // From second 1000 on, so that a double holds the shown time and the PHC's to less than a picosecond.
    private val origin = BigInt(999) * 1000000000
    private val originFine = origin << 32
    def run(fs: Long)(each: (Option[Double], Double) => Unit): Unit = {
      val end = now + fs
      var over = false
      def next(): Unit =
        if (now >= end) over = true
        else if (nextPs <= nextHost) {
          now = nextPs
          nextPs += psFs
          dut.psCd.cycleThen {
            psTime = fine(dut.io.psTime)
            psEdge = now
            next()
          }
        } else {
          now = nextHost
          nextHost += hostFs
          dut.hostCd.cycleThen {
            val truth = (psTime - originFine).toDouble / 4294967296.0 + (now - psEdge) * 1e-6
            val shown = coarse(dut.io.time.time)
            val valid = dut.io.time.valid.toBoolean
            if (!valid) assert(shown == 0, "a time that is not known is not 0")
            each(Option.when(valid)((shown - origin).toDouble), truth)
            next()
          }
        }
      next()
      waitUntil(over)
    }
    def pass(fs: Long): Unit = run(fs)((_, _) => ())
    def set(ns: BigInt): Unit = {
      dut.io.control.set.valid #= true
      drive(dut.io.control.set.payload, ns << 32)
      pass(psFs)
      dut.io.control.set.valid #= false
    }
    def release(cds: ClockDomain*): Unit = cds.foreach(_.deassertReset())
  }

  private val thousand = BigInt(1000) * 1000000000
  for (mhz <- Seq(250, 125)) {
    val period = 1000000000L / mhz
    lazy val compiled = SimConfig.compile(new BoxClock(mhz))

    val more = if (mhz == 250) Nil else Seq(LongTest)
    test(s"$mhz MHz: the time is right to less than a cycle, grows in each cycle, and is known in 1.5 us", more: _*) {
      compiled.doSim(seed = 1) { dut =>
        var (latest, over) = (0L, 0.0)
        val random = new Random(1)
        for (ppm <- Seq(-100, 0, 0, 0, 0, 7, 33, 100); phase = random.nextInt(8000000).toLong) {
          val b = new Bench(dut, math.round(period / (1 + ppm * 1e-6)), phase)
          b.pass(100 * psFs)
          b.release(dut.psCd)
          b.pass(5 * psFs)
          b.set(thousand + 999950000) // a second turns 50 us later
          b.release(dut.hostCd)
          val start = b.now
          var known = -1L
          var last = 0.0
          var least, most = 0.0
          b.run(if (ppm == 0) 70000000000L else 300000000000L) { (shown, truth) =>
            for (time <- shown) {
              if (known < 0) known = b.now - start
              assert(time > last, s"at $ppm ppm $time ns follows $last ns")
              last = time
              least = least.min(time - truth)
              most = most.max(time - truth)
            }
            if (known >= 0) assert(shown.nonEmpty, "the time is not known any more")
          }
          println(f"$mhz MHz, $ppm%+d ppm: known after ${known * 1e-9}%.2f us, off by $least%+.2f to $most%+.2f ns")
          assert(known >= 0)
          latest = latest.max(known)
          over = over.max(most).max(-least)
        }
        println(f"$mhz MHz: known after ${latest * 1e-9}%.2f us at the latest, off by $over%.2f ns at most")
        assert(latest < 1500000000L && over < period * 1e-6)
      }
    }

    test(s"$mhz MHz: a step of the PHC shows within 0.3 us, and nothing between the two times") {
      compiled.doSim(seed = 2) { dut =>
        val b = new Bench(dut, period, 1234567L)
        b.pass(100 * psFs)
        b.release(dut.psCd, dut.hostCd)
        b.set(thousand)
        b.pass(20000000000L)
        var slowest = 0L
        for (by <- Seq[BigInt](500000000, -700000000, -3000, 20, BigInt("3000000000000"), BigInt("-3000000000000"))) {
          b.set((b.psTime >> 32) + by)
          val start = b.now
          var stepped = false
          b.run(20000000000L) { (shown, truth) =>
            val off = shown.get - truth
            if (math.abs(off) < period * 1e-6) stepped = true
            else {
              assert(!stepped && math.abs(off + by.toDouble) < period * 1e-6 + 8, s"a step by $by ns: off by $off ns")
              slowest = slowest.max(b.now - start)
            }
          }
          assert(stepped)
        }
        println(f"$mhz MHz: a step shows after ${slowest * 1e-9}%.3f us at the latest")
        assert(slowest < 300000000L)
      }
    }

    test(s"$mhz MHz: no time is shown while the PS is in reset, and the right one soon after") {
      compiled.doSim(seed = 3) { dut =>
        val b = new Bench(dut, math.round(period / (1 - 40e-6)), 700001L)
        b.pass(100 * psFs)
        b.release(dut.psCd, dut.hostCd)
        b.set(thousand)
        b.pass(20000000000L)
        for (round <- 0 until 10) {
          dut.psCd.assertReset()
          b.pass(10 * period + round * 700000L)
          b.run(2000000000L)((shown, _) => assert(shown.isEmpty, "a time in the reset of the PS"))
          b.release(dut.psCd)
          b.set(thousand + round)
          var known = -1L
          val start = b.now
          b.run(3000000000L) { (shown, truth) =>
            for (time <- shown) {
              if (known < 0) known = b.now - start
              assert(math.abs(time - truth) < period * 1e-6, s"off by ${time - truth} ns")
            }
          }
          assert(known >= 0 && known < 1600000000L, s"known after $known fs")
        }
      }
    }
  }
}
