// SPDX-License-Identifier: Apache-2.0
package meridian.transceiver

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** From the ps clock to those of the MAC and back: no pattern but those that were chosen, no pulse more or less. */
class TransceiverCrossingTest extends AnyFunSuite {
  private val domain = ClockDomainConfig(resetKind = SYNC)
  class Bench extends Component {
    val ps = ClockDomain.external("ps", config = domain)
    val rx = ClockDomain.external("rx", config = domain)
    val tx = ClockDomain.external("tx", config = domain)
    val crossing = new TransceiverCrossing(ps, rx, tx)
    val port = spinal.lib.slave(TransceiverPort())
    val pins = spinal.lib.master(TransceiverPins())
    val txRestart = in Bool ()
    crossing.io.port <> port
    crossing.io.pins <> pins
    crossing.io.txRestart := txRestart
    crossing.io.loop.loops := False
    crossing.io.loop.lost := 0
  }
  private lazy val compiled =
    SimConfig.withConfig(SpinalConfig(targetDirectory = "target/transceiver")).compile(new Bench)

  /** psPeriod and macPeriod in simulated time; the clocks have no relation. */
  private def run(name: String, macPeriod: Int)(body: (Bench, Random) => Unit): Unit =
    test(s"$name, a cycle of the MAC is $macPeriod / 400 of one of the PS")(
      compiled.doSim(name.replaceAll("\\W+", "_") + macPeriod, macPeriod) { dut =>
        SimTimeout(1000000000)
        for (pin <- dut.port.flatten ++ dut.pins.flatten if pin.isInput) pin match {
          case bit: Bool  => bit #= false
          case bits: Bits => bits #= 0
          case word: UInt => word #= 0
        }
        dut.txRestart #= false
        dut.ps.forkStimulus(400)
        dut.rx.forkStimulus(macPeriod)
        dut.tx.forkStimulus(macPeriod + 2)
        dut.ps.waitSampling(20)
        body(dut, new Random(macPeriod))
      }
    )

  for (period <- Seq(256, 640)) {
    run("patterns arrive whole", period) { (dut, random) =>
      var chosen = Set(0)
      dut.rx.onSamplings(assert(chosen(dut.pins.rxprbssel.toInt), "a mixture of two patterns"))
      dut.tx.onSamplings(assert(chosen(dut.pins.txprbssel.toInt), "a mixture of two patterns"))
      for (_ <- 0 until 500) {
        val next = Seq(0, 1, 2, 3, 4, 5)(random.nextInt(6))
        chosen = Set(dut.pins.rxprbssel.toInt, dut.pins.txprbssel.toInt, next)
        dut.port.rxPrbs #= next
        dut.port.txPrbs #= next
        dut.ps.waitSampling(20)
        assert(dut.pins.rxprbssel.toInt == next && dut.pins.txprbssel.toInt == next)
      }
    }

    run("a pulse is one cycle of the other clock", period) { (dut, random) =>
      var forced, reset = 0
      dut.tx.onSamplings(if (dut.pins.txprbsforceerr.toBoolean) forced += 1)
      dut.rx.onSamplings(if (dut.pins.rxprbscntreset.toBoolean) reset += 1)
      for (n <- 1 to 200) {
        dut.port.forceError #= true
        dut.port.resetCount #= n % 2 == 0
        dut.ps.waitSampling()
        dut.port.forceError #= false
        dut.port.resetCount #= false
        dut.ps.waitSampling(12 + random.nextInt(10))
        assert((forced, reset) == (n, n / 2))
      }
    }

    run("each error is seen, and a clock that stands is told", period) { (dut, random) =>
      dut.ps.waitSampling(100)
      assert(dut.port.rxClock.toBoolean)
      for (_ <- 0 until 100) {
        dut.pins.rxprbserr #= true
        dut.rx.waitSampling()
        dut.pins.rxprbserr #= false
        var seen = 0
        for (_ <- 0 until 60) {
          dut.ps.waitSampling()
          if (dut.port.prbsError.toBoolean) seen += 1
        }
        assert(seen > 4 && seen < 40, s"$seen cycles")
        dut.rx.waitSampling(random.nextInt(5))
      }
    }
  }

  test("a receiver without a clock is told, and one whose clock comes back, too")(compiled.doSim("no_clock", 1) { dut =>
    SimTimeout(1000000000)
    dut.ps.forkStimulus(400)
    dut.tx.forkStimulus(258)
    dut.port.drp.drpen #= false
    dut.rx.deassertReset()
    dut.ps.waitSampling(600)
    assert(!dut.port.rxClock.toBoolean)
    val clock = fork(dut.rx.forkStimulus(256))
    dut.ps.waitSampling(200)
    assert(dut.port.rxClock.toBoolean)
    clock.join()
  })
}
