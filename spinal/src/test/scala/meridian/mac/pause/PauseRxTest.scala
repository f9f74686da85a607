// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** From a frame at the receive side to frames that begin, or do not, at the transmit side; two clocks of 25G. */
class PauseRxTest extends AnyFunSuite {
  private val p = ShellParam()
  private def clock(name: String) = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))

  /** Frames of one beat each are always there, a gate a class. */
  class Line(val rxCd: ClockDomain, val txCd: ClockDomain) extends Component {
    val dut = new PauseRx(p, rxCd, txCd, unitCycles = 64)
    val config = in(PauseRxConfig())
    val watch = in(PauseWatchConfig())
    val link = in Bool ()
    val beat = slave(Flow(meridian.frame.RxBeat()))
    val begins, paused, storm = out Bits (8 bits)
    dut.io.config := config
    dut.io.watch := watch
    dut.io.link := link
    dut.io.beat << beat
    dut.io.bad := beat.error
    dut.io.skip := 1
    paused := dut.io.paused
    storm := dut.io.storm
    val gates = txCd on new Area {
      for (i <- 0 until 8) {
        val gate = new FrameGate(NoData())
        gate.io.input.valid := True
        gate.io.input.last := True
        gate.io.closed := dut.io.held(i)
        gate.io.output.ready := True
        begins(i) := gate.io.output.valid
      }
    }
  }
  private lazy val compiled = SimConfig
    .withConfig(SpinalConfig(targetDirectory = "target/pauseRx"))
    .compile(new Line(clock("macRx"), clock("macTx")))

  private val cycle = 2560L
  class Bench(line: Line, txPeriod: Long, phase: Long) {
    // The last beat of the last frame, and when frames of each class began last, in ps.
    var lastBeat = 0L
    val lastBegin = Array.fill(8)(0L)
    val firstBegin = Array.fill(8)(0L)
    line.beat.valid #= false
    line.config.pause #= true
    line.config.pfc #= 0xff
    line.config.station #= 0
    line.watch.limit #= 0
    line.watch.drop #= 0
    line.link #= true
    line.rxCd.forkStimulus(cycle)
    sleep(phase)
    line.txCd.forkStimulus(txPeriod)
    sleep(100 * cycle)
    line.txCd.onSamplings {
      val begins = line.begins.toInt
      for (i <- 0 until 8 if (begins >> i & 1) == 1) {
        if (simTime() - lastBegin(i) > 2 * cycle) firstBegin(i) = simTime()
        lastBegin(i) = simTime()
      }
    }
    def send(frame: Seq[Int]): Unit = {
      val beats = ControlFrame.beats(frame)
      for (((data, count), i) <- beats.zipWithIndex) {
        line.beat.valid #= true
        line.beat.data #= data
        line.beat.count #= count
        line.beat.last #= i == beats.size - 1
        line.beat.error #= false
        line.rxCd.waitSampling()
      }
      lastBeat = simTime()
      line.beat.valid #= false
    }
    def pass(cycles: Long): Unit = sleep(cycles * cycle)
  }

  test("the last frame begins 7 cycles behind the last beat at most, the next when the quanta are over") {
    var latest = 0.0
    for (seed <- 0 until 40)
      compiled.doSim(s"seed$seed") { line =>
        val random = new Random(seed)
        val bench = new Bench(line, cycle + random.nextInt(3) - 1, random.nextInt(2560).toLong + 1)
        val quanta = 20 + random.nextInt(20)
        val enable = 1 + random.nextInt(255)
        val pause = random.nextInt(4) == 0
        bench.send(if (pause) ControlFrame.pause(quanta) else ControlFrame.pfc(enable, Seq.fill(8)(quanta)))
        bench.pass(quanta * 8 + 40)
        for (i <- 0 until 8) {
          if (pause || (enable >> i & 1) == 1) {
            val stopped = bench.firstBegin(i) - bench.lastBeat
            assert(stopped > quanta * 8 * cycle, s"class $i goes on early, after $stopped ps")
            assert(stopped < (quanta * 8 + 10) * cycle, s"class $i goes on late, after $stopped ps")
          } else assert(bench.firstBegin(i) < bench.lastBeat, s"class $i was stopped")
        }
      }
    for (seed <- 0 until 40)
      compiled.doSim(s"stop$seed") { line =>
        val bench = new Bench(line, cycle + seed % 3 - 1, 64L * seed + 1)
        bench.send(ControlFrame.pfc(0xff, Seq.fill(8)(1000)))
        bench.pass(100)
        for (i <- 0 until 8) latest = latest max (bench.lastBegin(i) - bench.lastBeat).toDouble / cycle
      }
    println(f"last frame begins $latest%.2f cycles behind the last beat")
    assert(latest > 4 && latest <= 7)
  }

  test("a time of 0, a lost link, and the end of obedience release at once") {
    for (how <- 0 until 4)
      compiled.doSim(s"how$how") { line =>
        val bench = new Bench(line, cycle, 700)
        line.config.pause #= how != 2
        bench.pass(10)
        bench.send(ControlFrame.pfc(0xff, Seq.fill(8)(0xffff)))
        bench.pass(50)
        assert(line.paused.toInt == 0xff && line.begins.toInt == 0)
        how match {
          case 0 => bench.send(ControlFrame.pfc(0x0f, Seq.fill(8)(0)))
          case 1 => line.link #= false
          case 2 => line.config.pfc #= 0xf0
          case 3 => line.config.pause #= false; line.config.pfc #= 0
        }
        bench.pass(10)
        val free = if (how == 0 || how == 2) 0x0f else 0xff
        assert(line.begins.toInt == free && line.paused.toInt == (0xff & ~free))
        // Without a link nothing stops a class; a new link does not bring back the old time.
        if (how == 1) {
          bench.send(ControlFrame.pause(0xffff))
          bench.pass(20)
          assert(line.begins.toInt == 0xff)
          line.link #= true
          bench.pass(20)
          assert(line.begins.toInt == 0xff)
        }
      }
  }

  test("a storm lets the frames go until the pause ends") {
    compiled.doSim("storm") { line =>
      val bench = new Bench(line, cycle, 300)
      line.watch.limit #= 4
      for (_ <- 0 until 20) {
        bench.send(ControlFrame.pfc(0x02, Seq.fill(8)(20)))
        bench.pass(100)
      }
      assert(line.storm.toInt == 2 && line.begins.toInt == 0xff && line.paused.toInt == 2)
      bench.pass(100)
      assert(line.storm.toInt == 0 && line.begins.toInt == 0xff && line.paused.toInt == 0)
      bench.send(ControlFrame.pfc(0x02, Seq.fill(8)(20)))
      bench.pass(20)
      assert(line.begins.toInt == 0xfd)
    }
  }
  test("a storm under PFC is over when PAUSE takes its place, and PAUSE stops that class, too") {
    compiled.doSim("kind") { line =>
      val bench = new Bench(line, cycle, 300)
      line.watch.limit #= 4
      line.config.pause #= false
      line.config.pfc #= 0x02
      for (_ <- 0 until 20) {
        bench.send(ControlFrame.pfc(0x02, Seq.fill(8)(20)))
        bench.pass(100)
      }
      assert(line.storm.toInt == 2 && line.begins.toInt == 0xff)
      line.config.pause #= true
      line.config.pfc #= 0
      bench.send(ControlFrame.pause(20))
      bench.pass(20)
      assert(line.begins.toInt == 0 && line.storm.toInt == 0)
    }
  }
}
