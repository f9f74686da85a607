// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** Counts of a clock between latches: their difference, a clock that stands still, resets of who asks, skipped time. */
class ClockMeterTest extends AnyFunSuite {
  class Top extends Component {
    private def clock(name: String) = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))
    val ps = clock("ps")
    val mac = clock("mac")
    val latch = spinal.lib.slave(ClockLatch())
    val skip = in UInt (32 bits)
    val meter = new ClockMeter(ps, mac)
    meter.io.latch <> latch
    meter.io.skip := skip
  }
  private lazy val compiled = SimConfig.compile(new Top)
  private val psPeriod = 4000

  class Bench(val dut: Top, period: Int) {
    val random = new Random(period)
    var runs = true
    var busy = 0 // cycles of it
    dut.latch.begin #= false
    dut.skip #= 1
    dut.ps.forkStimulus(psPeriod)
    fork {
      sleep(1234)
      while (true) {
        if (runs) dut.mac.clockToggle()
        sleep(period / 2)
      }
    }
    dut.ps.onSamplings(if (dut.latch.busy.toBoolean) busy += 1)
    dut.ps.waitSampling(20)

    /** Asks, and says when. */
    def ask(): Long = {
      dut.latch.begin #= true
      dut.ps.waitSampling()
      dut.latch.begin #= false
      simTime()
    }

    /** When, and the count. */
    def latch(): (Long, Long) = {
      val at = ask()
      dut.ps.waitSampling()
      assert(dut.latch.busy.toBoolean)
      dut.ps.waitSamplingWhere(!dut.latch.busy.toBoolean)
      (at, count)
    }
    def count: Long = dut.latch.count.toLong
    def still: Boolean = dut.latch.still.toBoolean

    /** The cycles between two latches are those of the time between them, to one. */
    def isRight(first: (Long, Long), last: (Long, Long), more: Long = 0): Boolean = {
      val cycles = (last._2 - first._2 - more) & 0xffffffffL
      !still && math.abs(cycles - (last._1 - first._1).toDouble / period) <= 1
    }
  }
  private def run(name: String, period: Int = 2560)(body: Bench => Unit): Unit = test(name) {
    compiled.doSim(name.filter(_.isLetterOrDigit).take(40)) { dut =>
      SimTimeout(10L * 1000 * 1000 * 1000)
      body(new Bench(dut, period))
    }
  }

  for (period <- Seq(2560, 2558, 2562, 4000, 6400, 6414, 100000))
    run(s"the cycles of a clock of $period ps between any two latches are right to one", period) { b =>
      val found = Seq.fill(40) {
        b.dut.ps.waitSampling(1 + b.random.nextInt(2000))
        b.latch()
      }
      for (first <- found.indices; last <- first + 1 until found.size)
        assert(b.isRight(found(first), found(last)), s"${found(first)} ${found(last)}")
      assert(b.busy < 40 * ClockMeter.patience / 2, "there is as much time again")
    }

  run("a latch while one is under way has no effect") { b =>
    val first = b.latch()
    b.dut.ps.waitSampling(500)
    val at = b.ask()
    b.dut.latch.begin #= true
    b.dut.ps.waitSampling(2)
    b.dut.latch.begin #= false
    b.dut.ps.waitSamplingWhere(!b.dut.latch.busy.toBoolean)
    val found = b.count
    assert(b.isRight(first, (at, found)))
    b.dut.ps.waitSampling(500)
    assert(b.count == found && b.isRight(first, b.latch()))
  }

  for (after <- Seq(1, 10, ClockMeter.patience - 20, ClockMeter.patience + 20, 5000))
    run(s"a clock that comes back $after cycles after a latch has no count of that time, and is right behind") { b =>
      val first = b.latch()
      b.runs = false
      b.ask()
      b.dut.ps.waitSampling(after)
      val late = after > ClockMeter.patience
      assert(b.dut.latch.busy.toBoolean != late && b.still == late)
      if (late) {
        val begins = b.busy
        for (_ <- 0 until 3) {
          b.ask()
          b.dut.ps.waitSampling(4)
          assert(b.still && b.count == first._2 && b.busy == begins, "it is known that the clock stands still")
        }
      }
      b.runs = true
      b.dut.ps.waitSampling(40)
      assert(b.still == late, "a late answer is no count")
      if (late) assert(b.count == first._2)
      val again = b.latch()
      b.dut.ps.waitSampling(700)
      assert(b.isRight(again, b.latch()))
    }

  run("resets of who asks lose no cycle, and leave no latch without an end") { b =>
    val first = b.latch()
    for (round <- 0 until 60) {
      b.ask()
      sleep(b.random.nextInt(60000))
      b.dut.ps.assertReset()
      sleep(b.random.nextInt(60000))
      b.dut.ps.deassertReset()
      b.dut.ps.waitSampling(40)
      assert(!b.dut.latch.busy.toBoolean)
      assert(b.isRight(first, b.latch()), s"round $round")
    }
  }

  run("a clock counts as many cycles as an edge stands for, also past the end of the counter") { b =>
    for (cycles <- Seq(1001L, 0xfffffff0L, 3L)) {
      val first = b.latch()
      b.dut.ps.waitSampling(300)
      b.dut.mac.waitSampling()
      b.dut.skip #= cycles
      b.dut.mac.waitSampling()
      b.dut.skip #= 1
      b.dut.ps.waitSampling(50)
      assert(b.isRight(first, b.latch(), cycles - 1))
    }
  }
}
