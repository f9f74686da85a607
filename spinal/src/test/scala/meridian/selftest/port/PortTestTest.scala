// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.selftest.TestFrameModel
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** The test of a port with a wire around it that loses, damages, swaps and repeats frames. */
class PortTestTest extends AnyFunSuite {
  private val p = ShellParam(selfTest = true)
  private lazy val compiled = SimConfig.compile(new PortTestTop(p, watchCycles = 2000, answerCycles = 6000))
  private val zero = PortJudge.counts.map(_._1 -> BigInt(0)).toMap

  private def run(name: String)(body: PortTestBench => Unit): Unit = test(name) {
    compiled.doSim(name.filter(_.isLetterOrDigit).take(40)) { dut =>
      SimTimeout(40L * 1000 * 1000 * 1000)
      body(new PortTestBench(dut))
    }
  }

  private def through(frame: OnWire): Seq[(Array[Byte], Boolean)] = Seq((frame.data, false))

  for ((size, count) <- Seq(60 -> 400, 61 -> 100, 67 -> 100, 1514 -> 40, 9596 -> 12, 9600 -> 6))
    run(
      s"$count frames of $size bytes without FCS leave at line rate, as the text of TestFrame has them, and are taken"
    ) { b =>
      b.loop = through
      b.start(first = size, frames = count, mode = 7)
      b.untilIdle()
      assert(b.wire.size == count && b.end == b.code(PortTestEnd.complete))
      for ((frame, i) <- b.wire.zipWithIndex)
        assert(frame.data.sameElements(b.expected(frame.data, size, i)), s"frame $i")
      val ideal = (size + 24) / 8.0
      val cycles = (b.wire.last.start - b.wire.head.start) / (count - 1)
      println(f"$size bytes: a frame in $cycles%.3f cycles, line rate is $ideal%.3f")
      assert(cycles <= ideal + 1.0 / count + 0.13)
      val counts = b.counts
      assert(counts("sent") == count && counts("sent_bytes") == BigInt(count) * size)
      assert(counts("good") == count && counts("received_bytes") == BigInt(count) * size && counts("timed") == count)
      assert(
        (counts -- Seq("sent", "sent_bytes", "good", "received_bytes", "timed", "latency_sum")).values.forall(_ == 0)
      )
      val (least, most) = (b.read("least"), b.read("most"))
      println(s"  latency $least to $most ns, sum ${counts("latency_sum")}")
      // The bench hands on whole frames, so a long one takes its own time.
      val flight = 2.56 * (size / 8).max(b.flight)
      assert(least.toDouble >= flight - 1 && most.toDouble <= flight + 40)
      assert(counts("latency_sum") >= least * count && counts("latency_sum") <= most * count)
      assert(b.toHost.isEmpty && b.toPs.isEmpty && b.read("cut") == 0)
    }

  private def flipped(data: Array[Byte], at: (Int, Int)*): Array[Byte] =
    at.foldLeft(data) { case (d, (place, bits)) => d.updated(place, (d(place) ^ bits).toByte) }

  private val faults =
    Seq[(String, Int => Seq[(Array[Byte], Boolean)] => Seq[(Array[Byte], Boolean)], Map[String, Int])](
      (
        "a bit error",
        n => f => f.map { case (d, bad) => (d.updated(40 + n % 20, (d(40 + n % 20) ^ 4).toByte), bad) },
        Map("damaged_pattern" -> 1, "good" -> -1, "bit_errors" -> 1)
      ),
      (
        "errors in the first and the last beat of the pattern and in one between",
        n => f => f.map { case (d, bad) => (flipped(d, 34 -> 0x80, 50 -> 0xff, 51 -> 0xff, 79 -> 0x11), bad) },
        Map("damaged_pattern" -> 1, "good" -> -1, "bit_errors" -> 19)
      ),
      (
        "bits of the header and a bad FCS",
        n => f => f.map { case (d, _) => (flipped(d, 0 -> 0xff, 11 -> 1), true) },
        Map("damaged_fcs" -> 1, "good" -> -1)
      ),
      (
        "a bit error and a bad FCS",
        n => f => f.map { case (d, _) => (flipped(d, 41 -> 3), true) },
        Map("damaged_fcs" -> 1, "good" -> -1, "bit_errors" -> 2)
      ),
      (
        // Each of the six words with pattern has a wrong bit.
        "a bit error in the number",
        n => f => f.map { case (d, bad) => (flipped(d, 18 -> 1), bad) },
        Map("damaged_pattern" -> 1, "good" -> -1, "bit_errors" -> 6)
      ),
      ("a bad FCS", n => f => f.map { case (d, _) => (d, true) }, Map("damaged_fcs" -> 1, "good" -> -1)),
      ("a lost frame", n => _ => Nil, Map("skipped" -> 1, "good" -> -1)),
      (
        "a truncated frame",
        n => f => f.map { case (d, bad) => (d.take(d.length - 1 - n % 8), bad) },
        Map("damaged_length" -> 1, "good" -> -1)
      ),
      (
        "a frame that is too long",
        n => f => f.map { case (d, bad) => (d ++ Array[Byte](1), bad) },
        Map("damaged_length" -> 1, "good" -> -1)
      ),
      ("a repeated frame", n => f => f ++ f, Map("repeated" -> 1, "good" -> 1)),
      (
        "another label",
        n => f => f.map { case (d, bad) => (d.updated(14, (d(14) ^ 1).toByte), bad) },
        Map("skipped" -> 1, "good" -> -1, "foreign" -> 1)
      )
    )
  for ((name, change, moved) <- faults)
    run(s"$name moves only its counter") { b =>
      var sent = 0
      var changed = 0
      b.loop = { frame =>
        sent += 1
        if (sent % 10 == 5) { changed += 1; change(sent)(through(frame)) }
        else through(frame)
      }
      b.start(first = 80, frames = 100, mode = 7)
      b.untilIdle()
      val counts = b.counts
      assert(changed == 10)
      val different = counts -- Seq("sent_bytes", "received_bytes", "timed", "latency_sum")
      val expected = (zero ++ Map("sent" -> BigInt(100), "good" -> BigInt(100))).map { case (k, v) =>
        k -> (v + moved.getOrElse(k, 0) * changed)
      }
      assert(different == (expected -- Seq("sent_bytes", "received_bytes", "timed", "latency_sum")))
      assert(counts("timed") == counts("good"))
      val passed = if (name == "another label") changed else 0
      assert(b.toHost.size == passed && b.toPs.size == passed)
    }

  run("swapped frames are skipped, then late") { b =>
    var held = Option.empty[(Array[Byte], Boolean)]
    var sent = 0
    b.loop = { frame =>
      sent += 1
      if (sent % 10 == 5) { held = Some((frame.data, false)); Nil }
      else { val out = Seq((frame.data, false)) ++ held; held = None; out }
    }
    b.start(first = 100, frames = 100, mode = 7)
    b.untilIdle()
    val counts = b.counts
    assert(counts("good") == 100 && counts("skipped") == 10 && counts("late") == 10 && counts("repeated") == 0)
  }

  run("bad settings are refused by their codes, and leave counters and end") { b =>
    b.loop = through
    b.start(first = 60, frames = 10, mode = 7)
    b.untilIdle()
    val before = b.counts
    import PortTestRefusal._
    def refused(code: SpinalEnumElement[PortTestRefusal.type])(start: => Unit): Unit = {
      start
      b.untilIdle()
      assert(b.refusal == b.code(code))
      assert(b.counts == before && b.end == b.code(PortTestEnd.complete) && b.wire.size == 10)
    }
    refused(nothing)(b.start(mode = 4))
    refused(sizeRange)(b.start(first = 59))
    refused(sizeRange)(b.start(first = 60, last = 9601, step = 1))
    refused(sizeSequence)(b.start(first = 70, last = 69, step = 1))
    refused(sizeSequence)(b.start(first = 70, last = 71))
    refused(frames)(b.start(frames = 5, mode = 2))
    refused(interval)(b.start(interval = 390625001))
    b.dut.io.link #= false
    refused(linkDown)(b.start())
    b.dut.io.link #= true
    b.dut.macTx.assertReset()
    b.dut.ps.waitSampling(20)
    refused(mac)(b.start())
    b.dut.macTx.deassertReset()
    b.dut.ps.waitSampling(100)
    refused(stopped) { b.start(); b.dut.ps.waitSampling(200); b.stop() }
    val frame = Array.tabulate(64)(_.toByte)
    refused(traffic) { b.start(); b.dut.ps.waitSampling(100); b.receive(frame) } // for host and PS
    refused(psTraffic) {
      b.start(); b.dut.ps.waitSampling(100); b.sendPs(frame); b.until("it")(b.wire.size == 11); b.wire.remove(10)
    }
    b.start(mode = 7)
    b.start(mode = 7)
    b.dut.ps.waitSampling(100)
    assert(b.refusal == b.code(running) && b.state == b.code(PortTestState.running))
    b.off()
    b.untilIdle()
  }

  run("an interval is kept to the cycle, and a stop lets one frame end and counts what it cut") { b =>
    b.loop = through
    b.start(first = 60, last = 63, step = 1, frames = 1000, interval = 500, mode = 7)
    b.until("ten frames")(b.wire.size == 10)
    b.stop()
    b.dut.ps.waitSampling(50)
    val sent = b.wire.size
    b.untilIdle()
    assert(b.wire.size == sent && sent <= 11 && b.end == b.code(PortTestEnd.command))
    assert(b.wire.map(_.start).sliding(2).forall(pair => pair(1) - pair(0) == 500))
    for ((frame, i) <- b.wire.zipWithIndex) assert(frame.data.sameElements(b.expected(frame.data, 60 + i % 4, i)))
    assert(b.count("sent") == sent && b.count("good") == sent && b.read("cut") == 1000 - sent)
  }

  for ((size, rate, burst) <- Seq((60, 1 << 20, 8), (1514, 3 << 20, 16), (200, 1234567, 4000)))
    run(s"a rate of $rate with a burst of $burst is kept over the test by frames of $size bytes") { b =>
      b.start(first = size, frames = 100, mode = 5, rate = rate, burst = burst)
      b.untilIdle(400000)
      assert(b.wire.size == 100 && b.end == b.code(PortTestEnd.complete))
      val starts = b.wire.map(_.start)
      val ideal = size * (1 << 20) / rate.toDouble // cycles
      val cycles = (starts.last - starts.head) / 99
      println(f"$size bytes: a frame in $cycles%.3f cycles, by the rate $ideal%.3f")
      assert(math.abs(cycles - ideal) <= ideal * 0.001 + 0.1)
      assert(starts.sliding(2).forall(pair => math.abs(pair(1) - pair(0) - ideal) <= 2))
    }

  run("a burst lets the rate catch up with what the MAC did not take, by so many bytes and no more") { b =>
    b.start(first = 100, frames = 0, mode = 5, rate = 1 << 18, burst = 1000) // a frame in 400 cycles
    b.until("it runs")(b.wire.size == 3)
    b.holds = true
    b.dut.ps.waitSampling(8000)
    b.holds = false
    val from = b.wire.size
    b.until("the burst")(b.wire.size == from + 20)
    b.off()
    b.untilIdle()
    val gaps = b.wire.map(_.start).drop(from).sliding(2).map(pair => pair(1) - pair(0)).toSeq
    // Those that waited in registers, then the bucket's 1000 bytes and the frame that goes at 0.
    assert((11 to 14).contains(gaps.count(_ < 50)) && gaps.drop(14).forall(gap => math.abs(gap - 400) <= 2), gaps)
  }

  run("frames of PS and host pass in both directions during a test that was forced, and the PS's go first") { b =>
    b.loop = frame => if (frame.ofTest) through(frame) else Nil
    b.start(first = 1514, frames = 60, mode = 7)
    b.until("the first")(b.wire.nonEmpty)
    def data(source: Int, i: Int) = Array.tabulate(100 + i)(n => if (n == 6) source.toByte else (n + i).toByte)
    for (i <- 0 until 10) {
      val first = b.wire.size
      b.sendPs(data(0x11, i))
      b.sendHost(data(0x12, i))
      b.receive(data(0x13, i))
      b.until("the frame of the PS")(b.wire.exists(f => f.data.sameElements(data(0x11, i))))
      // One test frame is under way, and the next may be in the registers before the choice.
      assert(b.wire.indexWhere(f => f.data.sameElements(data(0x11, i))) <= first + 2)
    }
    b.untilIdle()
    assert(b.wire.filter(_.data(6) == 0x12).map(_.data.toSeq) == (0 until 10).map(data(0x12, _).toSeq))
    assert(b.toHost == (0 until 10).map(data(0x13, _).toSeq) && b.toPs == b.toHost)
    assert(b.count("sent") == 60 && b.count("good") == 60 && b.wire.size == 80)
  }

  run("a frame that comes across the start is not taken, and one across the end is taken whole") { b =>
    val frame = TestFrameModel(9000, 0x234, 2, 0, 0)
    b.receive(frame)
    b.dut.ps.waitSampling(100)
    b.start(first = 60, mode = 6)
    b.until("the frame")(b.toHost.nonEmpty)
    assert(b.toHost.head == frame.toSeq && b.count("good") == 0 && b.count("received_bytes") == 0)
    b.receive(frame)
    b.dut.ps.waitSampling(100)
    b.off()
    b.untilIdle()
    assert(b.toHost.size == 1 && b.count("good") == 1 && b.count("received_bytes") == 9000)
  }

  run("a frame that still waits for the wire keeps the plan of its test: a start is refused until it has gone") { b =>
    b.loop = through
    b.start(first = 1000, label = 0x1234, mode = 7)
    b.until("it runs")(b.wire.size == 3)
    b.holds = true
    b.stop()
    b.untilIdle()
    for (mode <- Seq(2, 7)) {
      b.start(first = 70, label = 0x4321, mode = mode)
      b.untilIdle()
      assert(b.refusal == b.code(PortTestRefusal.mac))
    }
    b.holds = false
    b.dut.ps.waitSampling(2000)
    assert(b.wire.size > 3)
    for ((frame, i) <- b.wire.zipWithIndex)
      assert(frame.data.sameElements(b.expected(frame.data, 1000, i)), s"frame $i")
    b.start(first = 70, frames = 5, label = 0x4321, mode = 7)
    b.untilIdle()
    assert(b.refusal == b.code(PortTestRefusal.none) && b.count("good") == 5)
  }

  run(
    "a delayed generator begins a known time behind its checker, at line rate, and a stop or a lost link ends the delay"
  ) { b =>
    val armed = b.code(PortTestState.armed)
    val frame = TestFrameModel(100, 0x234, 2, 0, 0) // of the label of the bench's start
    b.start(first = 60, frames = 50, mode = 15)
    val begun = b.cycle
    b.dut.ps.waitSampling(100)
    assert(b.state == armed)
    b.receive(frame)
    b.until("the frame")(b.count("good") == 1)
    assert(b.wire.isEmpty && b.state == armed && b.toHost.isEmpty)
    b.loop = through
    b.untilIdle()
    val delay = PortTestControl.delayCycles * 4 / 2.56
    assert(b.wire.head.start - begun > delay - 50 && b.wire.head.start - begun < delay + 200)
    assert((b.wire.last.start - b.wire.head.start) / 49 <= 10.5 + 0.15)
    assert(b.end == b.code(PortTestEnd.complete) && b.count("good") == 51 && b.wire.size == 50)
    for (
      (how, end) <- Seq[(() => Unit, SpinalEnumElement[PortTestEnd.type])](
        (() => b.stop(), PortTestEnd.command),
        (() => b.off(), PortTestEnd.command),
        (() => b.dut.io.link #= false, PortTestEnd.linkDown)
      )
    ) {
      b.start(first = 60, frames = 50, mode = if (end == PortTestEnd.linkDown) 11 else 15)
      b.until("the delay")(b.state == armed)
      how()
      b.untilIdle()
      assert(b.end == b.code(end) && b.wire.size == 50 && b.read("cut") == 50 && b.count("sent") == 0)
    }
  }

  run("a link that falls and a MAC that is reset end a test, and the next one starts from 0") { b =>
    b.loop = through
    b.start(frames = 100, interval = 400)
    b.until("it runs")(b.wire.nonEmpty)
    b.dut.io.link #= false
    b.untilIdle()
    assert(b.end == b.code(PortTestEnd.linkDown) && b.read("cut") == 100 - b.wire.size)
    val before = b.wire.size
    b.start(first = 9000, frames = 100, mode = 7) // forced, so without a link
    b.until("it runs")(b.wire.size > before + 2)
    b.resetMacTx(30)
    b.untilIdle()
    assert(b.end == b.code(PortTestEnd.mac) && b.read("cut") > 0)
  }
}
