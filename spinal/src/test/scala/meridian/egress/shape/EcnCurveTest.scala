// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import meridian.Samplings._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** How often frames are marked, against the curve; and how the mean follows the fill. */
class EcnCurveTest extends AnyFunSuite {
  private val (fillBits, lists) = (13, 16)
  private val visitCycles = EcnCurve.visitCycles(lists)
  private val latency = EcnCurve.latency(lists)
  private lazy val compiled =
    SimConfig.withConfig(SpinalConfig(targetDirectory = "target/ecnCurve")).compile(new EcnCurve(fillBits, lists))

  case class Line(min: Int, max: Int, most: Double, weight: Int = 0) {
    val slope: Int = if (max == min) 0 else math.round(most / (max - min) * (1 << EcnCurve.slopeFraction)).toInt
    def chance(fill: Double): Double =
      if (max == 0 || fill < min) 0 else if (fill >= max) 1 else (fill - min) * most / (max - min)
  }
  private def start(dut: EcnCurve): Unit = {
    for (fill <- dut.io.fill) fill #= 0
    dut.io.settings.write #= false
    dut.io.query.valid #= false
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling(5 * visitCycles)
  }
  private def write(dut: EcnCurve, list: Int, line: Line): Unit = {
    assert(line.slope < (1 << EcnCurve.slopeBits))
    val settings = dut.io.settings
    settings.list #= list
    settings.value.min #= line.min
    settings.value.max #= line.max
    settings.value.slope #= line.slope
    settings.value.weight #= line.weight
    settings.write #= true
    for (isSlope <- Seq(false, true)) {
      settings.isSlope #= isSlope
      dut.clockDomain.waitSampling()
    }
    settings.write #= false
    sleep(1)
    val found = settings.line
    assert(
      Seq(found.min, found.max, found.slope, found.weight)
        .map(_.toInt) == Seq(line.min, line.max, line.slope, line.weight)
    )
  }
  private def set(dut: EcnCurve, lines: Seq[Line]): Unit = {
    start(dut)
    for ((line, i) <- lines.zipWithIndex) write(dut, i, line)
  }

  test("marks follow the curve of each list within 1 %, and none comes without a query") {
    compiled.doSim(seed = 5) { dut =>
      val random = new Random(4)
      val lines = Seq(
        Line(100, 2000, 0.1),
        Line(0, 17, 1),
        Line(500, 500, 0),
        Line(0, 0, 1),
        Line(1000, 8000, 1),
        Line(4000, 4100, 0.5),
        Line(100, 8191, 0.02),
        Line(1, 1, 0)
      ) ++ Seq.fill(8)(
        if (random.nextBoolean()) Line(0, 0, 1) else Line(random.nextInt(4000), 4096 + random.nextInt(4000), 1)
      )
      set(dut, lines)
      for (_ <- 0 until 6) {
        val fill = lines.map { l =>
          if (random.nextInt(5) == 0) random.nextInt(1 << fillBits)
          else (l.min + random.nextInt((l.max - l.min) max 2) - random.nextInt(2)) max 0
        }
        for (i <- 0 until lists) dut.io.fill(i) #= fill(i)
        dut.clockDomain.waitSampling(latency)
        val asked, marked = Array.fill(lists)(0)
        var last = -1
        var chosen = 0
        def ask(): Unit = {
          chosen = random.nextInt(lists)
          dut.io.query.valid #= true
          dut.io.query.payload #= chosen
        }
        ask()
        dut.clockDomain.eachSampling(480000) {
          if (last >= 0) {
            asked(last) += 1
            if (dut.io.mark.toBoolean) marked(last) += 1
          }
          last = chosen
          ask()
        }
        for (i <- 0 until lists) {
          val (got, want) = (marked(i).toDouble / asked(i), lines(i).chance(fill(i)))
          assert(math.abs(got - want) < 0.01, s"list $i with ${lines(i)} at ${fill(i)}: $got, not $want")
          if (want == 0 || want == 1) assert(got == want, s"list $i with ${lines(i)} at ${fill(i)}: $got")
        }
      }
      dut.io.query.valid #= false
      dut.clockDomain.waitSampling(2)
      dut.clockDomain.eachSampling(1000)(assert(!dut.io.mark.toBoolean))
    }
  }

  test("a new fill counts after the latency that is told") {
    compiled.doSim("latency") { dut =>
      set(dut, Seq.fill(lists)(Line(50, 50, 0)))
      for (n <- 0 until 64) {
        dut.clockDomain.waitSampling(n)
        dut.io.query.valid #= true
        dut.io.query.payload #= n % lists
        for (up <- Seq(true, false)) {
          dut.io.fill(n % lists) #= (if (up) 50 else 49)
          dut.clockDomain.waitSampling(latency + 1)
          sleep(1)
          assert(dut.io.mark.toBoolean == up)
        }
      }
    }
  }

  test("the mean follows the fill as its weight says, up and down") {
    compiled.doSim("mean") { dut =>
      val weights = Seq(0, 1, 2, 4, 6, 8, 9, 10)
      set(dut, weights.map(w => Line(4000, 4000, 0, w))) // half of the fill
      for (up <- Seq(true, false)) {
        for (i <- 0 until 8) dut.io.fill(i) #= (if (up) 8000 else 0)
        val visits = 1200
        val changed = Array.fill(8)(-1)
        // The first eight cycles of each visit ask for the eight classes.
        var cycle = 0
        def ask(): Unit = {
          dut.io.query.valid #= true
          dut.io.query.payload #= (cycle % visitCycles) min 7
        }
        ask()
        dut.clockDomain.eachSampling(visits * visitCycles) {
          delayed(1) {
            val (n, i) = (cycle / visitCycles, cycle % visitCycles)
            if (i < 8 && dut.io.mark.toBoolean == up && changed(i) < 0) changed(i) = n
            cycle += 1
            ask()
          }
        }
        sleep(1)
        for ((weight, i) <- weights.zipWithIndex) {
          val visitsToHalf = if (weight == 0) 1 else math.ceil(math.log(0.5) / math.log(1 - math.pow(2, -weight))).toInt
          assert(math.abs(changed(i) - visitsToHalf) <= 3, s"weight $weight: ${changed(i)} visits, not $visitsToHalf")
        }
        dut.clockDomain.waitSampling(visitCycles * 12000) // until it is there
      }
    }
  }

  test("nothing is marked after reset, and a line counts after the latency and no more once it is taken away") {
    compiled.doSim("reset") { dut =>
      for (fill <- dut.io.fill) fill #= (1 << fillBits) - 1
      dut.io.settings.write #= false
      dut.io.query.valid #= true
      dut.io.query.payload #= 0
      dut.clockDomain.forkStimulus(10)
      for (n <- 0 until 6 * visitCycles) {
        dut.io.query.payload #= n % lists
        dut.clockDomain.waitSampling()
        sleep(1)
        assert(!dut.io.mark.toBoolean, s"marked in cycle $n")
      }
      for (i <- 0 until lists; line <- Seq(Line(1, 1, 0), Line(0, 0, 0))) {
        write(dut, i, line)
        dut.io.query.payload #= i
        dut.clockDomain.waitSampling(latency + 1)
        sleep(1)
        assert(dut.io.mark.toBoolean == (line.max > 0))
      }
    }
  }

  test("it is idle when the lists with a line are empty, and their means with them") {
    compiled.doSim("idle") { dut =>
      start(dut)
      assert(dut.io.idle.toBoolean)
      for (line <- Seq(Line(0, 0, 1, 3), Line(10, 40, 1), Line(10, 40, 1, 3))) {
        write(dut, 5, line)
        dut.io.fill(5) #= 1000
        dut.clockDomain.waitSampling(4)
        assert(!dut.io.idle.toBoolean)
        dut.clockDomain.waitSampling(20 * visitCycles)
        dut.io.fill(5) #= 0
        var rounds = 0
        while (!dut.io.idle.toBoolean) {
          dut.clockDomain.waitSampling(visitCycles)
          rounds += 1
          assert(rounds < 400)
        }
        // 1000 << 15 shrinks by an eighth a visit, down to 1.
        if (line.max > 0 && line.weight > 0) assert(rounds > 100) else assert(rounds <= 4)
      }
    }
  }

  test("a mean that a short fill has left is not idle") {
    compiled.doSim("shortFill") { dut =>
      start(dut)
      write(dut, 5, Line(10, 40, 1, 3))
      for (n <- 0 until visitCycles) {
        var wait = 0
        while (!dut.io.idle.toBoolean) {
          dut.clockDomain.waitSampling()
          wait += 1
          assert(wait < 400 * visitCycles)
        }
        dut.clockDomain.waitSampling(n)
        dut.io.fill(5) #= 1000
        dut.clockDomain.waitSampling(visitCycles)
        dut.io.fill(5) #= 0
        dut.clockDomain.eachSampling(20 * visitCycles)(assert(!dut.io.idle.toBoolean, s"in round $n"))
      }
    }
  }
}
