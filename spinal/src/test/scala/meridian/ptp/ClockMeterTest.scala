// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** Cycles of a clock in seconds that are 20 us long: the count, steps of the PHC, a clock that stands still, skipped time. */
class ClockMeterTest extends AnyFunSuite {
  class Top extends Component {
    private def clock(name: String) = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))
    val ps = clock("ps")
    val mac = clock("mac")
    val time = in(PtpFineTime())
    val stepped = in Bool ()
    val skip = in UInt (32 bits)
    val cycles = out UInt (32 bits)
    val number = out UInt (16 bits)
    val quiet = out UInt (32 bits)
    val seconds = ps(new WholeSeconds)
    seconds.io.time := time
    seconds.io.stepped := stepped
    number := seconds.io.number
    quiet := seconds.io.quietCycles
    val meter = new ClockMeter(ps, mac)
    meter.io.second := seconds.io.second
    meter.io.skip := skip
    cycles := meter.io.cycles
  }
  private lazy val compiled = SimConfig.compile(new Top)
  private val length = 5000 // ps cycles

  class Bench(val dut: Top, period: Int) {
    private var second = 0L
    private var cycle = 0
    private var jump = 0L
    var runs = true
    dut.time.seconds #= 0
    dut.time.nanoseconds #= 0
    dut.time.fraction #= 0
    dut.stepped #= false
    dut.skip #= 1
    dut.ps.forkStimulus(4000)
    fork {
      sleep(1234)
      while (true) {
        if (runs) dut.mac.clockToggle()
        sleep(period / 2)
      }
    }
    dut.ps.onSamplings {
      cycle += 1
      dut.stepped #= jump != 0
      if (jump != 0) { second += jump; cycle = 0; jump = 0 }
      else if (cycle >= length) { second += 1; cycle = 0 }
      dut.time.seconds #= second
      dut.time.nanoseconds #= 1000000000L - 4L * (length - cycle)
    }

    /** By so many seconds, and to the begin of one. */
    def step(seconds: Long): Unit = jump = seconds

    /** Until the results of a second are there: the count. */
    def next(): Long = {
      dut.ps.waitSamplingWhere(cycle == WholeSeconds.answer + 10)
      val found = dut.cycles.toLong
      dut.ps.waitSampling()
      found
    }
    def number: Int = dut.number.toInt
    val ideal = length * 4000.0 / period
    def isRight(found: Long): Boolean = math.abs(found - ideal) <= 1
    next() // the first second begins somewhere
  }
  private def run(name: String, period: Int = 2560)(body: Bench => Unit): Unit = test(name) {
    compiled.doSim(name.filter(_.isLetterOrDigit).take(40)) { dut =>
      SimTimeout(10L * 1000 * 1000 * 1000)
      body(new Bench(dut, period))
    }
  }

  for (period <- Seq(2560, 2558, 2562, 6400, 6414))
    run(s"each second has the cycles of a clock of $period ps, to one, and no cycle is lost between them", period) {
      b =>
        b.next()
        val first = b.number
        val found = Seq.fill(30)(b.next())
        assert(found.forall(b.isRight), s"${b.ideal}: $found")
        assert(math.abs(found.sum - 30 * b.ideal) <= 1 && b.number - first == 30)
    }

  for (seconds <- Seq(1L, 2L, 1001L, -1L))
    run(s"a step of the PHC by $seconds s makes no count of the second in which it is, and the next is right") { b =>
      b.next()
      assert(b.isRight(b.next()))
      val before = b.number
      b.dut.ps.waitSampling(1700)
      b.step(seconds)
      // Behind the step the clock is at the beginning of a second.
      b.next()
      assert(b.number == before)
      assert(b.next() == 0 && b.number == before)
      assert(b.isRight(b.next()) && b.number == before + 1)
    }

  for (silent <- Seq(1, 2, 3))
    run(s"a clock that stands still for $silent seconds has 0 cycles, and is right again a second behind") { b =>
      b.next()
      assert(b.isRight(b.next()))
      b.dut.ps.waitSampling(1000)
      b.runs = false
      b.next() // an answer that does not come is missed a second later
      for (_ <- 0 until silent) assert(b.next() == 0)
      b.dut.ps.waitSampling(1000)
      b.runs = true
      val found = Seq.fill(5)(b.next())
      val wrong = found.takeWhile(!b.isRight(_))
      assert(wrong.forall(_ == 0) && wrong.size <= 3 && found.drop(wrong.size).forall(b.isRight), found)
    }

  run("a clock counts as many cycles as an edge stands for") { b =>
    b.next()
    assert(b.isRight(b.next()))
    b.dut.ps.waitSampling(300)
    b.dut.mac.waitSampling()
    b.dut.skip #= 1001
    b.dut.mac.waitSampling()
    b.dut.skip #= 1
    assert(b.isRight(b.next() - 1000) && b.isRight(b.next()))
  }

  run("a simulation that skips time leaves out neither the turn of a second nor the answers behind it") { b =>
    b.next()
    var last = 0L
    var shortest = Long.MaxValue
    b.dut.ps.onSamplings {
      val left = (1000000000L - b.dut.time.nanoseconds.toLong) / 4 // cycles of 4 ns
      val into = length - left
      val quiet = b.dut.quiet.toLong
      // Four cycles old, and true for cycles of 8 ns.
      assert(quiet == 0 || 2 * quiet <= left + 4, s"$quiet cycles before $left")
      if (into >= 4 && into <= WholeSeconds.answer) assert(quiet == 0, s"$quiet cycles at $into")
      if (into > WholeSeconds.answer + 10 && left > 200) shortest = shortest.min(quiet * 10 / left)
    }
    b.next()
    b.next()
    assert(shortest >= 2, "time is skipped")
  }
}
