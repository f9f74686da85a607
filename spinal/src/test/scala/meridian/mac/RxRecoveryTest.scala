// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** Two lanes side by side, with short times: when each is reset, for how long, and when no more. */
class RxRecoveryTest extends AnyFunSuite {
  private val timing = RxRecovery.Timing(interval = 50, pulse = 5)

  class Lanes extends Component {
    val io = new Bundle {
      val link = in Bits (2 bits)
      val skip = in UInt (32 bits)
      val reset = out Bits (2 bits)
      val resets, quiet = out Vec (UInt(32 bits), 2)
    }
    for (i <- 0 until 2) {
      val lane = new RxRecovery(timing)
      lane.io.link := io.link(i)
      lane.io.skip := io.skip
      io.reset(i) := lane.io.reset
      io.resets(i) := lane.io.resets.resized
      io.quiet(i) := lane.io.quietCycles
    }
  }
  private lazy val compiled = SimConfig.withConfig(SpinalConfig(targetDirectory = "target/recovery")).compile(new Lanes)

  /** A rise or a fall of a lane's reset, in cycles. */
  case class Edge(lane: Int, at: Long, up: Boolean)
  class Bench(dut: Lanes) {
    val edges = ArrayBuffer[Edge]()
    var cycle = 0L
    private var last = 0
    dut.io.link #= 0
    dut.io.skip #= 1
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling()
    sleep(1)

    /** One clock edge, which stands for `skip` cycles. */
    def step(skip: Long = 1): Unit = {
      dut.io.skip #= skip
      dut.clockDomain.waitSampling()
      sleep(1)
      cycle += skip
      val now = dut.io.reset.toInt
      for (lane <- 0 until 2 if ((now ^ last) >> lane & 1) == 1)
        edges += Edge(lane, cycle, (now >> lane & 1) == 1)
      last = now
    }
    def pulses(lane: Int): Seq[(Long, Long)] =
      edges.filter(_.lane == lane).toSeq.grouped(2).collect { case Seq(a, b) => (a.at, b.at - a.at) }.toSeq
  }

  test("pulses have one width, and the time between them doubles after 8 of them, 3 times at most") {
    compiled.doSim { dut =>
      val bench = new Bench(dut)
      for (_ <- 0 until 8000) bench.step()
      val pulses = bench.pulses(0)
      assert(pulses.forall(_._2 == timing.pulse))
      val waits = pulses.zip(pulses.tail).map { case (a, b) => b._1 - a._1 - a._2 }
      for ((wait, i) <- waits.zipWithIndex) assert(wait == (50 << ((i + 1) / 8 min 3)), s"after reset ${i + 1}")
      assert(waits.count(_ == 400) > 2)
      assert(dut.io.resets(0).toLong == bench.edges.count(e => e.lane == 0 && e.up))
      assert(bench.pulses(1) == pulses)
    }
  }

  test("a lane with a link is left alone, and does not stop the other") {
    compiled.doSim { dut =>
      val bench = new Bench(dut)
      dut.io.link #= 2
      for (_ <- 0 until 1000) bench.step()
      assert(bench.pulses(1) == Nil && dut.io.resets(1).toLong == 0)
      assert(bench.pulses(0).size > 10)
    }
  }

  test("a link that comes, whenever it comes, ends the resets; one that goes begins them with the shortest wait") {
    for (moment <- 1 to 130 by 3)
      compiled.doSim(s"link$moment") { dut =>
        val bench = new Bench(dut)
        for (_ <- 0 until moment) bench.step()
        dut.io.link #= 1
        val before = bench.edges.count(e => e.lane == 0 && e.up)
        for (_ <- 0 until 600) bench.step()
        // None begins any more, and none is cut short.
        assert(bench.edges.count(e => e.lane == 0 && e.up) == before)
        assert(bench.pulses(0).forall(_._2 == timing.pulse) && (dut.io.reset.toInt & 1) == 0)
        assert(dut.io.quiet(0).toLong == 0xffffffffL)
        val gone = bench.cycle
        dut.io.link #= 0
        for (_ <- 0 until 120) bench.step()
        assert(bench.pulses(0).filter(_._1 > gone).head._1 == gone + timing.interval)
      }
  }

  test("skipped time is time, and no more is skipped than is quiet") {
    compiled.doSim { dut =>
      val bench = new Bench(dut)
      for (_ <- 0 until 400) {
        val quiet = dut.io.quiet(0).toLong min dut.io.quiet(1).toLong
        bench.step(if (quiet > 2 && Random.nextBoolean()) Random.nextInt(quiet.toInt) + 1 else 1)
      }
      val pulses = bench.pulses(0)
      assert(pulses.size > 12 && pulses.forall(_._2 == timing.pulse), pulses)
      val waits = pulses.zip(pulses.tail).map { case (a, b) => b._1 - a._1 - a._2 }
      for ((wait, i) <- waits.zipWithIndex) assert(wait == (50 << ((i + 1) / 8 min 3)), s"after reset ${i + 1}")
    }
  }

  test("the card waits 100 ms to 800 ms between pulses of 1 us") {
    assert(RxRecovery.timing(250 MHz) == RxRecovery.Timing(25000000, 250))
    assert(RxRecovery.timing(250 MHz).longest == BigInt(200000000))
  }
}
