// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** The three users of the clock's time, at a clock of their own. */
class PtpPins extends Component {
  val io = new Bundle {
    val control = spinal.lib.slave(PhcControl())
    val skip = in UInt (32 bits)
    val time = out(PtpFineTime())
    val ppsConfig = in(PpsConfig())
    val pps, second = out Bool ()
    val peroutConfig = in(PeroutConfig())
    val perout, running = out Bool ()
    val extTsConfig = in(ExtTsConfig())
    val pin = in Bool ()
    val event = spinal.lib.master(spinal.lib.Stream(PtpTime()))
    val lost = out UInt (16 bits)
  }
  val phc = new Phc
  phc.io.control <> io.control
  phc.io.skip := io.skip
  io.time := phc.io.time
  val ppsOut = new PpsOut
  ppsOut.io.config := io.ppsConfig
  ppsOut.io.time := phc.io.time
  ppsOut.io.stepped := phc.io.stepped
  io.pps := ppsOut.io.pps
  io.second := ppsOut.io.second
  val perout = new Perout
  perout.io.config := io.peroutConfig
  perout.io.time := phc.io.time
  perout.io.stepped := phc.io.stepped
  io.perout := perout.io.output
  io.running := perout.io.running
  val extTs = new ExtTs
  extTs.io.config := io.extTsConfig
  extTs.io.pin := io.pin
  extTs.io.time := phc.io.time
  io.event << extTs.io.event
  io.lost := extTs.io.lost
}

class PtpPinsTest extends AnyFunSuite {
  import PtpSim._
  lazy val compiled = SimConfig.compile(new PtpPins)
  private val period = 4000L // ps, one simulator step each
  private val second = BigInt(1000000000)

  private def start(dut: PtpPins): Unit = {
    dut.io.control.set.valid #= false
    dut.io.control.adjust.valid #= false
    dut.io.control.increment #= BigInt(4) << 32
    dut.io.skip #= 1
    dut.io.ppsConfig.enable #= false
    dut.io.ppsConfig.width #= 1
    dut.io.peroutConfig.enable #= false
    dut.io.extTsConfig.rising #= false
    dut.io.extTsConfig.falling #= false
    dut.io.pin #= false
    dut.io.event.ready #= false
    dut.clockDomain.forkStimulus(period)
    dut.clockDomain.waitSampling(10)
  }

  /** One cycle, and the time in ns that holds after it. */
  private def cycle(dut: PtpPins): BigInt = {
    dut.clockDomain.waitSampling()
    sleep(1)
    fine(dut.io.time) >> 32
  }

  private def set(dut: PtpPins, ns: BigInt): Unit = {
    dut.io.control.set.valid #= true
    drive(dut.io.control.set.payload, ns << 32)
    cycle(dut)
    dut.io.control.set.valid #= false
  }

  test("pps rises with the second and lasts its width") {
    compiled.doSim(seed = 1) { dut =>
      start(dut)
      dut.io.ppsConfig.enable #= true
      dut.io.ppsConfig.width #= 20
      // An increment a little off, so that cycles do not fall on the second.
      dut.io.control.increment #= (BigInt(4) << 32) + 12345678
      set(dut, second * 41 - 1003)
      var seconds, rises = 0
      var last = false
      def watch(): Unit = {
        val before = fine(dut.io.time) >> 32
        val now = cycle(dut)
        val pps = dut.io.pps.toBoolean
        if (pps && !last) {
          rises += 1
          assert(dut.io.second.toBoolean)
          assert(now / second > before / second, s"rises at $now")
        } else assert(!dut.io.second.toBoolean)
        if (!pps && last) assert((now % second - 20000000).abs < 20, s"falls at $now")
        if (now / second > before / second) {
          seconds += 1
          assert(pps && !last)
        }
        last = pps
      }
      for (_ <- 0 until 1000) watch()
      // Over most of the pulse and of the second by skips.
      for (_ <- 0 until 3) {
        dut.io.skip #= 4990000
        cycle(dut)
        dut.io.skip #= 1
        assert(dut.io.pps.toBoolean)
        for (_ <- 0 until 12000) watch()
        assert(!dut.io.pps.toBoolean)
        dut.io.skip #= 244000000
        cycle(dut)
        dut.io.skip #= 1
        val left = second - (fine(dut.io.time) >> 32) % second
        assert(left > 2000)
        dut.io.skip #= (left - 1000) / 5
        cycle(dut)
        dut.io.skip #= 1
        while (second - (fine(dut.io.time) >> 32) % second > 2000) {
          dut.io.skip #= 100
          cycle(dut)
          dut.io.skip #= 1
        }
        for (_ <- 0 until 1000) watch()
      }
      assert(rises == 4 && seconds == 4)

      // Steps into the width and over a second give no pulse.
      for (to <- Seq(second * 100 + 5000000, second * 200, second * 3 + 999)) {
        set(dut, to)
        cycle(dut)
        for (_ <- 0 until 100) {
          cycle(dut)
          assert(!dut.io.pps.toBoolean)
        }
      }
      // A skip over the second gives it late.
      set(dut, second * 5 - 100000)
      cycle(dut)
      dut.io.skip #= 50000
      cycle(dut)
      dut.io.skip #= 1
      for (_ <- 0 until 4) cycle(dut)
      assert(dut.io.pps.toBoolean)
      dut.io.ppsConfig.enable #= false
      for (_ <- 0 until 4) cycle(dut)
      assert(!dut.io.pps.toBoolean)
    }
  }

  test("the periodic output changes at its times") {
    val seed = 5
    println(s"seed $seed")
    compiled.doSim(seed = seed) { dut =>
      val random = new Random(seed)
      start(dut)
      dut.io.control.increment #= (BigInt(4) << 32) + 98765432
      for (round <- 0 until 12) {
        val width = 64 + random.nextInt(2000)
        val period = width + 64 + random.nextInt(2000)
        val from = second * (10 + round) - 5000 - random.nextInt(30000)
        val first = if (round % 3 == 0) second * (10 + round) + round else from + 2000 + random.nextInt(3000)
        set(dut, from)
        dut.io.peroutConfig.enable #= true
        drive(dut.io.peroutConfig.start, first)
        dut.io.peroutConfig.period.seconds #= 0
        dut.io.peroutConfig.period.nanoseconds #= period
        dut.io.peroutConfig.width.seconds #= 0
        dut.io.peroutConfig.width.nanoseconds #= width
        var edges = 0
        var last = false
        for (_ <- 0 until 12000) {
          val now = cycle(dut)
          val level = dut.io.perout.toBoolean
          if (level != last) {
            val expected = first + BigInt(edges / 2) * period + (if (level) 0 else width)
            assert(level == (edges % 2 == 0))
            assert(now >= expected - 1 && now < expected + 5, s"edge $edges at $now and not $expected")
            edges += 1
          }
          last = level
        }
        assert(dut.io.running.toBoolean)
        val end = fine(dut.io.time) >> 32
        assert(edges >= 2 * ((end - first) / period).toInt && edges > 3)
        if (round % 2 == 0) {
          set(dut, second * 5)
          cycle(dut)
          cycle(dut)
          assert(!dut.io.running.toBoolean && !dut.io.perout.toBoolean, "runs on after a step")
        }
        dut.io.peroutConfig.enable #= false
        cycle(dut)
        cycle(dut)
        assert(!dut.io.running.toBoolean && !dut.io.perout.toBoolean)
      }
      // Periods with seconds, over skips.
      set(dut, second * 100)
      dut.io.peroutConfig.enable #= true
      drive(dut.io.peroutConfig.start, second * 101 + 5)
      dut.io.peroutConfig.period.seconds #= 2
      dut.io.peroutConfig.period.nanoseconds #= 600000000
      dut.io.peroutConfig.width.seconds #= 1
      dut.io.peroutConfig.width.nanoseconds #= 500000000
      for (edge <- 0 until 6) {
        val expected = second * 101 + 5 + BigInt(edge / 2) * BigInt(2600000000L) + BigInt(edge % 2) * 1500000000
        var now = cycle(dut)
        while (expected - now > 1000) {
          dut.io.skip #= (((expected - now - 500) / 5).min(100000000)).max(1)
          now = cycle(dut)
          dut.io.skip #= 1
          cycle(dut)
        }
        assert(dut.io.perout.toBoolean == (edge % 2 == 1))
        var waited = 0
        while (dut.io.perout.toBoolean == (edge % 2 == 1)) {
          now = cycle(dut)
          waited += 1
          assert(waited < 400)
        }
        assert(now >= expected - 1 && now < expected + 5, s"edge $edge at $now and not $expected")
      }
    }
  }

  test("external edges are stamped within a cycle") {
    val seed = 6
    println(s"seed $seed")
    compiled.doSim(seed = seed) { dut =>
      val random = new Random(seed)
      start(dut)
      set(dut, second * 77 - 30000)
      val (edge0, time0) = (simTime(), fine(dut.io.time) >> 32)
      // Truth by the simulator's own clock: sleep(1) after the edge at which time0 began.
      def truth(ps: Long) = time0.toDouble + (ps - edge0 + 1) / 1000.0
      val expected = mutable.Queue.empty[Double]
      var worst = 0.0
      var checked = 0
      def check(): Unit = if (dut.io.event.valid.toBoolean && dut.io.event.ready.toBoolean) {
        val got = coarse(dut.io.event.payload)
        val error = (got - time0).toDouble - (expected.dequeue() - time0.toDouble)
        worst = worst.max(error.abs)
        assert(error.abs <= 3.0, s"stamp $got is $error ns off")
        checked += 1
      }
      dut.clockDomain.onSamplings(check())
      dut.io.event.ready #= true
      for ((rising, falling) <- Seq((true, false), (false, true), (true, true), (false, false))) {
        dut.io.extTsConfig.rising #= rising
        dut.io.extTsConfig.falling #= falling
        for (n <- 0 until 200) {
          sleep(5000 + random.nextInt(40000))
          val level = n % 2 == 0
          dut.io.pin #= level
          if (if (level) rising else falling) expected.enqueue(truth(simTime()))
        }
        sleep(100000)
        assert(expected.isEmpty)
      }
      println(f"$checked stamps, worst $worst%.2f ns off")
      assert(checked == 400)

      // Full: 8 wait, the rest is counted.
      dut.io.event.ready #= false
      dut.io.extTsConfig.rising #= true
      for (_ <- 0 until 11) {
        sleep(20000)
        dut.io.pin #= true
        if (expected.size < 8) expected.enqueue(truth(simTime()))
        sleep(20000)
        dut.io.pin #= false
      }
      sleep(100000)
      assert(dut.io.lost.toInt == 3)
      dut.io.event.ready #= true
      sleep(100000)
      assert(expected.isEmpty && checked == 408 && !dut.io.event.valid.toBoolean)
    }
  }
}
