// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.selftest.port.{PortTestBench, PortTestState, PortTestTop}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** A port whose MAC is left out of the way by the loopback at its host side: frames of all sources, clocks that differ,
  * resets, and changes under traffic.
  */
class MacLoopTest extends AnyFunSuite {
  private val p = ShellParam(selfTest = true)
  private lazy val compiled = SimConfig.compile(new PortTestTop(p, watchCycles = 2000, answerCycles = 6000))

  private def run(name: String, rx: Int = 2560)(body: PortTestBench => Unit): Unit = test(name) {
    compiled.doSim(name.filter(_.isLetterOrDigit).take(40)) { dut =>
      SimTimeout(40L * 1000 * 1000 * 1000)
      val bench = new PortTestBench(dut, macRx = rx)
      bench.setLoop(true)
      bench.until("the loop")(dut.io.loops.toBoolean)
      body(bench)
    }
  }

  private def data(source: Int, number: Int, length: Int): Array[Byte] =
    Array.tabulate(length)(n => if (n == 6) source.toByte else if (n == 7) number.toByte else (n + 3 * number).toByte)

  for ((size, count) <- Seq(60 -> 400, 61 -> 100, 67 -> 100, 68 -> 100, 1514 -> 40, 9596 -> 12, 9600 -> 6))
    run(s"$count frames of $size bytes go round at line rate, without a MAC and without a link") { b =>
      b.holds = true // the MAC takes nothing, and has no link
      b.dut.io.link #= false
      val ends = mutable.ArrayBuffer[Long]()
      b.dut.ps.onSamplings(if (b.dut.io.sent.valid.toBoolean) ends += simTime())
      b.start(first = size, frames = count, mode = 7)
      b.untilIdle()
      val counts = b.counts
      assert(counts("sent") == count && counts("good") == count && counts("received_bytes") == BigInt(count) * size)
      assert(b.wire.isEmpty && b.dut.io.lost.toBigInt == 0 && b.toHost.isEmpty && b.toPs.isEmpty)
      val cycles = (ends.last - ends.head) / 2560.0 / (count - 1)
      val ideal = (size + 24) / 8.0
      println(f"$size bytes: a frame in $cycles%.3f cycles, line rate is $ideal%.3f")
      assert(math.abs(cycles - ideal) <= 4.0 / (count - 1) + 0.01)
      // Generator, merge, MacTx and crossing.
      println(s"  latency ${b.read("least")} to ${b.read("most")} ns")
      assert(b.read("least") > 20 && b.read("most") < 80 && counts("timed") == count)
    }

  run("frames of host and PS come back to both as they were sent, and what the MAC receives is not seen") { b =>
    val sizes = Seq(1, 8, 59, 60, 61, 64, 100, 1514, 9600)
    for ((size, i) <- sizes.zipWithIndex) {
      b.receive(data(0x13, i, 100))
      if (size >= 60) b.sendHost(data(0x12, i, size))
      b.sendPs(data(0x11, i, size.max(14)))
    }
    val expected = sizes.indices.flatMap(i => (if (sizes(i) >= 60) Seq(0x12 -> i) else Nil) :+ 0x11 -> i)
    b.until("all of them")(b.toPs.size == expected.size)
    b.dut.ps.waitSampling(1000)
    for (source <- Seq(0x11, 0x12)) {
      val sent = expected.collect {
        case (s, i) if s == source => data(source, i, sizes(i).max(14)).toSeq.padTo(60, 0.toByte)
      }
      assert(b.toPs.filter(_(6) == source) == sent && b.toHost.filter(_(6) == source) == sent)
    }
    assert(b.toPs.size == expected.size && b.toHost.size == expected.size && b.wire.isEmpty)
  }

  run("a frame of the PS has a transmit stamp with its tag and a receive stamp, of the time that it takes") { b =>
    for (i <- 0 until 20) {
      b.sendPs(data(0x11, i, 60 + i), tag = Some(0x1000 + i))
      b.until("the frame")(b.toPs.size == i + 1)
    }
    assert(b.txStamps.map(_._1) == (0 until 20).map(0x1000 + _))
    for (((_, sent), received) <- b.txStamps.zip(b.rxStamps)) {
      val came = received.getOrElse(fail("a frame has no receive stamp"))
      assert(came - sent >= 5 && came - sent <= 40, s"sent $sent, came $came")
    }
  }

  for (ppm <- Seq(-200, 200))
    run(s"a receive clock that is $ppm ppm off costs no frame", rx = 2560 - 2560 * ppm / 1000000 - ppm.sign) { b =>
      b.start(first = 60, last = 9600, step = 95, frames = 400, mode = 7)
      b.untilIdle(2000000)
      assert(b.count("sent") == 400 && b.count("good") == 400 && b.dut.io.lost.toBigInt == 0)
    }

  run("behind a receive clock that is 5 % slow, frames are lost and counted, and nothing stands still", rx = 2700) {
    b =>
      b.start(first = 9600, frames = 40, mode = 7)
      b.untilIdle(2000000)
      val counts = b.counts
      val lost = b.dut.io.lost.toBigInt
      assert(
        counts("sent") == 40 && lost > 0 && counts("good") + lost == 40 && counts("good") + counts("damaged_fcs") <= 40
      )
      b.start(first = 60, frames = 40, mode = 7) // in whose gaps the clock catches up
      b.untilIdle()
      assert(b.count("good") == 40)
  }

  private val sides = Seq[(String, PortTestTop => spinal.core.ClockDomain)](
    "receive" -> (_.macRx),
    "transmit" -> (_.macTx)
  )
  for ((side, domain) <- sides)
    run(s"a reset of the $side side leaves the loop as it is, and cuts no frame behind it") { b =>
      b.dut.io.link #= true
      for (round <- 0 until 12) {
        b.start(first = 1000 + round, last = 1000 + round, frames = 0, mode = 7)
        b.until("it runs")(b.state == b.code(PortTestState.running))
        b.dut.ps.waitSampling(300 + 7 * round)
        domain(b.dut).assertReset()
        b.dut.ps.waitSampling(5 + 9 * round)
        domain(b.dut).deassertReset()
        b.dut.ps.waitSampling(600)
        b.off()
        b.untilIdle()
        b.dut.ps.waitSampling(500)
        assert(b.wire.isEmpty, "a frame went to the MAC")
        assert(b.count("good") > 1 && b.count("damaged_fcs") <= 1)
        b.toHost.clear()
        b.sendHost(data(0x12, round, 200))
        b.until("a frame of the host")(b.toHost.nonEmpty)
        assert(b.toHost == Seq(data(0x12, round, 200).toSeq))
      }
    }

  run("it begins and ends between frames, under traffic of all sources, and each frame comes whole and in one place") {
    b =>
      val random = new Random(1)
      b.dut.io.link #= true
      b.start(first = 60, last = 700, step = 13, frames = 0, mode = 7)
      b.until("it runs")(b.state == b.code(PortTestState.running))
      val sent, received = mutable.ArrayBuffer[Seq[Byte]]()
      var sending = true
      val host = fork {
        var i = 0
        while (sending) {
          val frame = data(0x12, i & 0xff, 60 + random.nextInt(1500))
          sent += frame.toSeq
          b.sendHost(frame)
          b.dut.host.waitSampling(random.nextInt(100) + 1)
          i += 1
        }
      }
      val partner = fork {
        var i = 0
        while (sending) {
          val frame = data(0x13, i & 0xff, 60 + random.nextInt(1500))
          received += frame.toSeq
          b.receive(frame)
          b.dut.macRx.waitSampling(frame.length / 8 + random.nextInt(200) + 1)
          i += 1
        }
      }
      var on = true
      for (_ <- 0 until 60) {
        b.dut.ps.waitSampling(20 + random.nextInt(2000))
        on = !on
        b.setLoop(on)
        if (random.nextBoolean()) b.until("the change")(b.dut.io.loops.toBoolean == on)
      }
      b.setLoop(true)
      b.until("the loop")(b.dut.io.loops.toBoolean)
      sending = false
      host.join()
      partner.join()
      b.dut.ps.waitSampling(3000)
      b.stop()
      b.untilIdle()
      b.dut.ps.waitSampling(3000)
      val ofHost = (f: Seq[Byte]) => f(6) == 0x12
      val out = b.wire.filterNot(_.ofTest).map(_.data.toSeq)
      val round = b.toHost.filter(ofHost)
      println(s"${sent.size} frames of the host: ${out.size} went out, ${round.size} came round")
      assert(out.size > 20 && round.size > 20 && out.size + round.size == sent.size)
      assert(out.toSet ++ round.toSet == sent.toSet && inOrder(out, sent) && inOrder(round, sent))
      val came = b.toHost.filterNot(ofHost)
      println(s"${received.size} frames of the partner: ${came.size} came")
      assert(came.size > 20 && came.size < received.size && inOrder(came, received))
      assert(b.dut.io.lost.toBigInt == 0)
      // Frames of the test that went out came not back; no other is missing, and none is damaged.
      val gone = b.wire.count(_.ofTest)
      val counts = b.counts
      assert(counts("good") + gone == counts("sent") && counts("skipped") <= gone && gone > 20 && counts("good") > 20)
      for (name <- Seq("damaged_fcs", "damaged_length", "damaged_pattern", "late", "repeated", "bit_errors"))
        assert(counts(name) == 0, name)
  }

  /** Whether `part` is some of `all`, in the same order. */
  private def inOrder(part: collection.Seq[Seq[Byte]], all: collection.Seq[Seq[Byte]]): Boolean = {
    val rest = all.iterator
    part.forall(one => rest.exists(_ == one))
  }
}
