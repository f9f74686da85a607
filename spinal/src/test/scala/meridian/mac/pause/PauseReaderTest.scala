// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** Frames of all kinds, back to back and with gaps, against a reader of bytes. */
class PauseReaderTest extends AnyFunSuite {
  private val station = Seq(0x02, 0x11, 0x22, 0x33, 0x44, 0x55)
  private lazy val compiled =
    SimConfig.withConfig(SpinalConfig(targetDirectory = "target/pauseReader")).compile(new PauseReader)

  /** Classes and times. */
  case class Told(enable: Int, quanta: Seq[Int])
  case class Setting(pause: Boolean, pfc: Int, station: Seq[Int])

  class Bench(dut: PauseReader, setting: Setting) {
    val told = ArrayBuffer[(Long, Told)]()
    val seen = ArrayBuffer[String]()
    val taken = ArrayBuffer[Boolean]()
    var cycle = 0L
    dut.io.beat.valid #= false
    dut.io.config.pause #= setting.pause
    dut.io.config.pfc #= setting.pfc
    dut.io.config.station #= ControlFrame.address(setting.station)
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling(2)
    dut.clockDomain.onSamplings {
      cycle += 1
      if (dut.io.times.valid.toBoolean) {
        val times = dut.io.times
        told += ((cycle, Told(times.enable.toInt, times.quanta.map(_.toInt).toSeq)))
      }
      if (dut.io.seen.valid.toBoolean)
        seen += Seq("pause" -> dut.io.seen.pause, "pfc" -> dut.io.seen.pfc, "ignored" -> dut.io.seen.ignored)
          .filter(_._2.toBoolean)
          .map(_._1)
          .mkString("+")
      if (dut.io.beat.valid.toBoolean && dut.io.beat.last.toBoolean) taken += dut.io.take.toBoolean
    }

    /** Returns the cycle of the last beat. */
    def send(frame: Seq[Int], bad: Boolean = false, gap: () => Boolean = () => false): Long = {
      val beats = ControlFrame.beats(frame)
      for (((data, count), i) <- beats.zipWithIndex) {
        while (gap()) idle()
        dut.io.beat.valid #= true
        dut.io.beat.data #= data
        dut.io.beat.count #= count
        dut.io.beat.last #= i == beats.size - 1
        dut.io.bad #= (if (i == beats.size - 1) bad else Random.nextBoolean())
        dut.clockDomain.waitSampling()
      }
      val at = cycle
      dut.io.beat.valid #= false
      at
    }
    def idle(cycles: Int = 1): Unit = {
      dut.io.beat.valid #= false
      dut.clockDomain.waitSampling(cycles)
    }
  }

  private def expected(frame: Seq[Int], setting: Setting): (Boolean, Option[Told], Option[String]) = {
    val on = setting.pause || setting.pfc != 0
    ControlFrame.read(frame, setting.station).filter(_ => on) match {
      case None => (false, None, None)
      case Some((1, fields)) if setting.pause =>
        (true, Some(Told(0xff, Seq.fill(8)(fields.head))), Some("pause"))
      case Some((0x0101, fields)) if setting.pfc != 0 =>
        (true, Some(Told(fields.head & 0xff & setting.pfc, fields.tail)), Some("pfc"))
      case Some(_) => (true, None, Some("ignored"))
    }
  }

  test("a PAUSE and a PFC frame are read two cycles behind their last beats") {
    compiled.doSim { dut =>
      val bench = new Bench(dut, Setting(pause = true, pfc = 0xa5, station))
      val first = bench.send(ControlFrame.pause(0x1234))
      bench.idle(5)
      assert(bench.told.toSeq == Seq((first + 2, Told(0xff, Seq.fill(8)(0x1234)))))
      val second = bench.send(ControlFrame.pfc(0x87, Seq(1, 2, 3, 4, 5, 6, 7, 0xfffe), to = station))
      bench.idle(5)
      assert(bench.told.last == ((second + 2, Told(0x85, Seq(1, 2, 3, 4, 5, 6, 7, 0xfffe)))))
      assert(bench.seen.toSeq == Seq("pause", "pfc") && bench.taken.forall(identity))
    }
  }

  for (
    setting <- Seq(
      Setting(pause = true, pfc = 0, station),
      Setting(pause = false, pfc = 0x18, station),
      Setting(pause = true, pfc = 0xff, Seq.fill(6)(0)),
      Setting(pause = false, pfc = 0, station)
    )
  )
    test(s"frames of all kinds are read, PAUSE ${setting.pause}, PFC ${setting.pfc}, station ${setting.station.head}") {
      compiled.doSim(s"random${setting.hashCode}") { dut =>
        val random = new Random(setting.hashCode)
        val bench = new Bench(dut, setting)
        val frames = Seq.fill(3000)((ControlFrame.random(random, station), random.nextInt(4) == 0))
        val gaps = random.nextInt(3)
        for ((frame, bad) <- frames) {
          bench.send(frame, bad, () => random.nextInt(6) < gaps)
          if (random.nextBoolean()) bench.idle(random.nextInt(4))
        }
        bench.idle(5)
        val models = frames.map { case (frame, bad) => (expected(frame, setting), bad) }
        assert(bench.taken.size == frames.size)
        for (i <- frames.indices) assert(bench.taken(i) == models(i)._1._1, s"frame $i: ${frames(i)}")
        assert(bench.told.map(_._2).toSeq == models.collect { case ((_, Some(told), _), false) => told })
        assert(bench.seen.toSeq == models.collect { case ((_, _, Some(seen)), false) => seen })
        if (setting.pause || setting.pfc != 0) assert(bench.told.size > 100 && bench.seen.count(_ == "ignored") > 100)
      }
    }

  test("runts of any length before a frame leave no trace in it") {
    compiled.doSim("runts") { dut =>
      val bench = new Bench(dut, Setting(pause = true, pfc = 0xff, station))
      val whole = ControlFrame.pfc(0xff, 1 to 8)
      for (length <- 1 until 60) {
        bench.send(ControlFrame.pause(7).take(length), bad = true)
        bench.send(whole)
      }
      bench.idle(5)
      assert(bench.told.map(_._2).toSeq == Seq.fill(59)(Told(0xff, 1 to 8)))
    }
  }
}
