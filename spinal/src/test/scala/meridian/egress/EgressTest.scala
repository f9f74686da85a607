// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.mac.PortTx
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

class EgressTest extends AnyFunSuite {
  val p = ShellParam(maxFrame = 1600, txBufferBytes = 4096, psBufferBytes = 4096, egress = true)
  def clock(name: String): ClockDomain = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))
  lazy val compiled = SimConfig.compile(new PortTx(p, 0, clock("host"), clock("ps"), clock("macTx")))
  val reserve = EgressClass.pacedBytes(p) / p.hostBytes

  def bench(name: String, seed: Int, mac: Int = 2560)(body: (PortTx, EgressBench) => Unit): Unit =
    test(s"$name, seed $seed") {
      println(s"egress seed $seed, MAC clock $mac ps")
      compiled.doSim(name.takeWhile(c => c.isLetter || c == ' ').replace(' ', '_') + seed, seed = seed) { dut =>
        val random = new scala.util.Random(seed)
        body(dut, new EgressBench(dut, p, random, mac))
      }
    }

  for ((mac, seed) <- Seq(2560 -> 1, 6400 -> 2))
    bench(s"random frames of all kinds leave in order, or are lost and told, at $mac ps", seed, mac) { (dut, b) =>
      var lost, paced = 0
      for (round <- 0 until 12) {
        b.readyPercent = Seq(100, 50, 5)(round % 3)
        for (_ <- 0 until 120) {
          val frame = b.make(b.size(1600), b.random.nextBoolean(), b.random.nextInt(3) == 0, b.random.nextInt(6) == 0)
          // The pacer lets no more be on the way.
          if (!frame.paced || b.pacedInside + frame.words(p.hostBytes) <= reserve) b.send(frame)
          if (b.random.nextInt(4) == 0) dut.hostCd.waitSampling(b.random.nextInt(60))
        }
        assert(b.lost.forall(!_.paced), "a paced frame is lost")
        assert(b.waits == 0, "a paced frame within the reserve waits")
        lost += b.lost.size
        paced += b.taken.count(_.paced)
        b.readyPercent = 100
        b.check()
      }
      println(s"$lost frames lost, $paced paced ones sent")
      assert(lost > 100 && paced > 50)
    }

  bench("a queue holds what it says, and loses what comes beside", 3) { (dut, b) =>
    for (high <- Seq(false, true); size <- Seq(20, 64, 300, 1600)) {
      b.readyPercent = 0
      dut.macTxCd.waitSampling(4)
      for (_ <- 0 until 3 * EgressClass.unpacedBytes(p) / size) b.send(b.make(size, high))
      val words = b.taken.map(_.words(p.hostBytes)).sum
      val most = EgressClass.unpacedBytes(p) / p.hostBytes
      // What is on its way out is not in the memory; the frame at the tail did not fit.
      assert(
        words <= most + 4 && words > most - EgressClass.slackWords - b.taken.head.words(p.hostBytes),
        s"$words words"
      )
      // There is room for paced frames yet, and they go behind.
      for (_ <- 0 until reserve / 10) b.send(b.make(10 * p.hostBytes, high, paced = true))
      assert(b.waits == 0 && b.toldLost(if (high) 1 else 0) > 0 && b.lost.forall(_.length == size))
      b.readyPercent = 100
      b.check()
    }
  }

  bench("a frame of the upper queue waits for one of the lower at most", 4) { (dut, b) =>
    var worst = 0L
    for (_ <- 0 until 40) {
      val low = fork(for (_ <- 0 until 6) b.send(b.make(600)))
      low.join()
      dut.macTxCd.waitSampling(b.random.nextInt(100))
      val high = b.send(b.make(60 + b.random.nextInt(200), high = true))
      b.settle()
      val there = b.lastAt(high.id) + 8 * 2560 // crossed, with 4000 ps of grace for the phase
      val at = b.pinned.indexWhere(_._1 == high.id)
      val ahead = b.pinned.take(at).count(_._2 > there)
      assert(ahead == 0, s"$ahead frames of the lower queue began before it")
      worst = worst max b.pinned(at)._2 - b.lastAt(high.id)
      b.check()
    }
    println(
      s"from its last beat taken to its first at the pins: $worst ps, a frame of the lower queue takes ${75 * 2560}"
    )
    assert(worst <= (75 + 8 + 2) * 2560 && worst > 40 * 2560)
  }

  bench("a frame of the PS waits for one of the host at most", 9) { (dut, b) =>
    for (round <- 0 until 30) {
      val host = fork(for (_ <- 0 until 30) b.send(b.make(200, b.random.nextBoolean())))
      dut.psCd.waitSampling(60 + b.random.nextInt(120))
      val id = 0x70000000 + round
      val there = b.sendPs(id, 80) + 8 * 2560 // crossed, with 4000 ps of grace for the phase
      host.join()
      b.settle()
      val at = b.pinned.indexWhere(_._1 == id)
      assert(at > 0 && b.pinned.length > 20, "the line was not busy")
      val ahead = b.pinned.take(at).count(_._2 > there)
      assert(ahead == 0, s"$ahead frames of the host began before that of the PS")
      assert(b.pinned(at)._2 <= there + 26 * 2560)
      b.check()
    }
  }

  bench("a load of ten times what the line takes keeps the line full, and each loss is told", 5, 6400) { (dut, b) =>
    for (size <- Seq(60, 300, 1600)) {
      b.readyPercent = 64 // 6.25 times that of 10 Gb/s
      b.send(b.make(size))
      dut.hostCd.waitSampling(200)
      b.busy = 0
      b.cycles = 0
      for (_ <- 0 until 200000 / size) b.send(b.make(size, b.random.nextBoolean()))
      assert(b.busy >= b.cycles - 60, s"the line stood still for ${b.cycles - b.busy} cycles")
      assert(b.lost.size > b.taken.size * 6)
      b.readyPercent = 100
      b.check()
    }
  }

  for ((mac, budget) <- Seq(2560 -> 30000, 6400 -> 55000))
    bench(s"latency at $mac ps is that of a port without queues", 6, mac) { (dut, b) =>
      var worst = 0L
      for (round <- 0 until 30) {
        val frame = b.send(b.make(100, high = round % 2 == 0))
        dut.macTxCd.waitSampling(60 + b.random.nextInt(4))
        worst = worst max b.pinned.last._2 - b.lastAt(frame.id)
      }
      println(s"last beat taken to first beat at the pins taken, $mac ps MAC clock: $worst ps")
      assert(worst <= budget)
      b.check()
    }

  bench("a MAC in reset loses frames and holds up none", 7) { (dut, b) =>
    for (round <- 0 until 12) {
      b.readyPercent = 20
      val host =
        fork(for (_ <- 0 until 60) b.send(b.make(b.size(1600), b.random.nextBoolean(), b.random.nextInt(3) == 0)))
      dut.hostCd.waitSampling(b.random.nextInt(300))
      b.unsure()
      dut.macTxCd.assertReset()
      sleep(2560 * Seq(1, 2, 30, 1000)(round % 4) + 1280)
      b.resetPins()
      dut.macTxCd.deassertReset()
      b.readyPercent = 100
      host.join()
      b.settle()
      dut.hostCd.waitSampling(100)
      b.settle()
      b.forget()
      for (_ <- 0 until 6) b.send(b.make(b.size(600), b.random.nextBoolean()))
      assert(b.lost.isEmpty)
      b.check()
    }
  }

  bench("a host in reset stops no frame that is stored", 8) { (dut, b) =>
    for (round <- 0 until 12) {
      b.readyPercent = 70
      for (_ <- 0 until 3) b.send(b.make(60 + b.random.nextInt(300), b.random.nextBoolean()))
      dut.io.host.valid #= true
      dut.io.host.last #= false
      dut.io.host.mty #= 0
      dut.hostCd.waitSampling(1 + b.random.nextInt(4))
      dut.io.host.valid #= false
      dut.hostCd.assertReset()
      sleep(4000 * Seq(1, 2, 30, 200)(round % 4) + 2000)
      dut.hostCd.deassertReset()
      dut.hostCd.waitSampling(ResetTime)
      for (_ <- 0 until 3) b.send(b.make(60 + b.random.nextInt(300), b.random.nextBoolean()))
      b.check()
    }
  }

  bench("a stopped priority stops its queue between frames, and no other", 10) { (dut, b) =>
    for (round <- 0 until 40) {
      val map = b.random.nextInt(256)
      val stopped = 1 << b.random.nextInt(8)
      val upper = (map & stopped) != 0
      dut.io.high #= map
      dut.hostCd.waitSampling(20)
      b.readyPercent = 0
      for (i <- 0 until 30) b.send(b.make(60 + b.random.nextInt(140), high = i % 2 == 0))
      b.readyPercent = 100
      dut.macTxCd.waitSampling(10 + b.random.nextInt(60))
      dut.io.held #= stopped
      val from = simTime()
      dut.macTxCd.waitSampling(900)
      def begun = b.pinned.filter(_._2 > from + 3 * 2560).map(frame => b.frames(frame._1).high)
      assert(!begun.contains(upper), s"map $map, stopped $stopped: a frame of the queue begins")
      assert(begun.size > 2 && !dut.io.idle.toBoolean, "the other queue stands still, or nothing waits")
      // A frame that comes while its queue is stopped waits.
      val late = b.send(b.make(60, upper))
      dut.macTxCd.waitSampling(200)
      assert(!b.pinned.exists(_._1 == late.id))
      dut.io.held #= 0
      b.check()
      assert(b.frames.contains(late.id))
    }
  }

  bench("frames of the PS go on while all priorities are stopped", 11) { (dut, b) =>
    dut.io.held #= 0xff
    for (_ <- 0 until 10) b.send(b.make(100, b.random.nextBoolean()))
    for (round <- 0 until 5) b.sendPs(0x70000000 + round, 80)
    dut.macTxCd.waitSampling(400)
    assert(b.pinned.map(_._1) == Seq.tabulate(5)(0x70000000 + _))
    dut.io.held #= 0
    b.check()
  }

  /** Cycles in which the buffer comes up. */
  private def ResetTime = 200
}
