// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

class PortRxTest extends AnyFunSuite {
  val p = ShellParam(maxFrame = 1601, rxBufferBytes = 4096, psBufferBytes = 4096, psAddresses = 4)
  val (psAddress, psGroup, stranger, group, all) =
    (0x665544332202L, 0x0000001b1901L, 0x665544332204L, 0x010000005e01L, 0xffffffffffffL)
  val listening = Listen(addresses = Seq(Some(psAddress), None, Some(psGroup), None))

  // As in the shell's top; the buffer's own test has asynchronous resets.
  def clock(name: String): ClockDomain = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))

  lazy val compiled = SimConfig.compile(
    new PortRx(p, 0, clock("macRx"), clock("host"), clock("ps"))
  )

  def bench(name: String, seed: Int, mac: Int = 2560, host: Int = 4000, ps: Int = 4000)(
      body: PortRxBench => Unit
  ): Unit =
    test(s"$name, seed $seed") {
      compiled.doSim(name.takeWhile(c => c.isLetter || c == ' ').replace(' ', '_') + seed, seed = seed) { dut =>
        body(new PortRxBench(dut, p, mac, host, ps, seed))
      }
    }

  def listens(b: PortRxBench): Listen = {
    def flag = b.random.nextBoolean()
    val addresses = Seq(psAddress, psGroup, 0x998877665544L, stranger).map(Some(_).filter(_ => b.random.nextInt(3) > 0))
    Listen(b.random.nextInt(4) > 0, flag, flag, b.random.nextInt(4) == 0, b.random.shuffle(addresses))
  }

  def length(b: PortRxBench): Int = b.random.nextInt(8) match {
    case 0     => 1 + b.random.nextInt(59)
    case 1     => 59 + b.random.nextInt(3)
    case 2     => p.maxFrame - 1 + b.random.nextInt(3)
    case 3     => 1600 + b.random.nextInt(800)
    case 4 | 5 => 60 + b.random.nextInt(12)
    case _     => 60 + b.random.nextInt(1000)
  }

  for ((mac, host, ps, seed) <- Seq((2560, 4000, 4000, 1), (6400, 4000, 4004, 2), (2560, 3300, 4700, 3)))
    bench(s"random frames go where random filters say at $mac ps", seed, mac, host, ps) { b =>
      for (_ <- 0 until 8) {
        b.configure(listens(b))
        def some = (b.random.nextInt(1024), b.random.nextInt(12))
        b.restrict(if (b.random.nextBoolean()) Some(Limit(some, some)) else None)
        b.dut.macRxCd.waitSampling(10)
        b.hostReadyPercent = Seq(100, 60, 10)(b.random.nextInt(3))
        b.psReadyPercent = Seq(100, 60, 10)(b.random.nextInt(3))
        val gap = Seq(0, 0, 20)(b.random.nextInt(3))
        for (_ <- 0 until 30) {
          val near = psAddress ^ (1L << b.random.nextInt(48))
          val to = Seq(psAddress, psGroup, stranger, group, all, near)(b.random.nextInt(6))
          b.send(b.frame(length(b), to, b.random.nextInt(6) == 0), Seq(0, 0, 3)(b.random.nextInt(3)), gap)
        }
        b.check()
      }
    }

  for ((size, spacing) <- Seq(60 -> 11, 64 -> 11, 65 -> 12, 60 -> 8, 64 -> 8, 65 -> 9))
    bench(s"frames of $size bytes every $spacing cycles of 390 MHz are never lost", 20 + size + spacing) { b =>
      b.configure(listening)
      b.sent.clear()
      for (i <- 0 until 250) b.send(b.frame(size, Seq(stranger, all, psAddress)(i % 3)), spacing - (size + 7) / 8)
      b.settle()
      assert(b.overflows == (0, 0))
      b.check()
    }

  bench("the next record has the number of runts that came faster than they can be counted", 15) { b =>
    b.configure(listening)
    b.recordEvery = 6
    for (round <- 0 until 6) {
      b.forget()
      b.uncounted = 0
      val runts = 40 + b.random.nextInt(400)
      for (_ <- 0 until runts) b.send(b.frame(1 + b.random.nextInt(8), stranger), Seq(0, 2)(round % 2))
      b.dut.macRxCd.waitSampling(200)
      val found = b.told.length + b.uncounted
      // The last ones come with the next frame.
      b.send(b.frame(100, psAddress))
      b.settle()
      assert(b.told.length + b.uncounted == runts + 1, s"$runts runts")
      assert(found <= runts && (runts < 100 || b.uncounted > 0), "none was too fast")
      assert(b.psFrames.length == 1 && b.told.last.forPs)
    }
  }

  bench("a timestamp of a time that is not known is not valid", 16) { b =>
    b.configure(listening)
    for (round <- 0 until 12) {
      b.dut.io.timeKnown #= round % 3 == 0
      b.dut.macRxCd.waitSampling(2)
      b.forget()
      for (_ <- 0 until 10)
        b.send(b.frame(60 + b.random.nextInt(100), psAddress).copy(stampBeat = b.random.nextInt(7)), 4)
      b.settle()
      assert(b.psFrames.length == 10 && b.psFrames.forall(_.stampValid == (round % 3 == 0)))
    }
  }

  bench("a timestamp of a frame that began before the time was known is not valid, whenever it is told", 17) { b =>
    b.configure(listening)
    for (round <- 0 until 40) {
      val frame = b.frame(600 + b.random.nextInt(600), psAddress)
      val beats = (frame.data.length + 7) / 8
      b.dut.io.timeKnown #= false
      b.forget()
      b.dut.macRxCd.waitSampling(2)
      val traffic = fork {
        b.send(frame.copy(stampBeat = Seq(0, beats / 2, beats - 1)(round % 3)), b.random.nextInt(2))
        b.send(b.frame(60 + b.random.nextInt(100), psAddress).copy(stampBeat = b.random.nextInt(7)), 4)
      }
      b.dut.macRxCd.waitSampling(2 + b.random.nextInt(beats - 4))
      b.dut.io.timeKnown #= true
      traffic.join()
      b.settle()
      assert(b.psFrames.map(_.stampValid) == Seq(false, true), s"round $round")
    }
  }

  for ((mac, budget) <- Seq(2560 -> 30000, 6400 -> 45000))
    bench(s"the latency at $mac ps is within its bound", 4, mac) { b =>
      b.configure(listening)
      var worstHost, worstPs = 0L
      for (_ <- 0 until 30) {
        b.hostTime = -1
        b.psTime = -1
        b.send(b.frame(60 + b.random.nextInt(100), all), 20 + b.random.nextInt(4))
        worstHost = worstHost.max(b.hostTime - b.lastBeatTime)
        worstPs = worstPs.max(b.psTime - b.lastBeatTime)
      }
      println(s"tlast taken to first beat taken, $mac ps MAC clock: host $worstHost ps, PS $worstPs ps")
      assert(worstHost <= budget && worstPs <= budget)
      b.check()
    }

  bench("a sink that stops loses its own frames only", 5) { b =>
    b.configure(listening)
    b.hostReadyPercent = 0
    for (i <- 0 until 60) b.send(b.frame(300, Seq(stranger, all, psAddress)(i % 3)), 20)
    b.dut.macRxCd.waitSampling(60)
    val (host, ps) = b.overflows
    assert(host > 20 && ps == 0)
    b.check()
    b.hostReadyPercent = 100
    b.psReadyPercent = 0
    for (i <- 0 until 60) b.send(b.frame(300, Seq(stranger, all, psAddress)(i % 3)), 20)
    b.dut.macRxCd.waitSampling(60)
    val (hostAfter, psAfter) = b.overflows
    assert(hostAfter == 0 && psAfter > 20)
    b.check()
  }

  bench("a storm leaves half of the PS buffer to addressed frames", 6) { b =>
    b.configure(listening)
    b.psReadyPercent = 0
    for (_ <- 0 until 60) b.send(b.frame(120, all), 4)
    b.dut.macRxCd.waitSampling(60)
    val refused = b.told.count(_.psOverflow)
    assert(refused >= 60 - 2048 / 120 - 1 && refused <= 60 - 2048 / 120 + 2, s"$refused refused")
    for (_ <- 0 until 10) b.send(b.frame(120, psAddress), 4)
    b.dut.macRxCd.waitSampling(60)
    assert(b.told.count(_.psOverflow) == refused)
    b.check()
  }

  def plain(b: PortRxBench, length: Int, to: Long): WireFrame = {
    val frame = b.frame(length, to)
    frame.data(12) = 0x08
    frame.data(13) = 0x06
    frame
  }
  def ofPtp(b: PortRxBench, length: Int, to: Long): WireFrame = {
    val frame = b.frame(length, to)
    frame.data(12) = 0x88.toByte
    frame.data(13) = 0xf7.toByte
    frame
  }

  bench("of each kind the frames in its bucket pass, and cost nothing else", 30) { b =>
    b.configure(listening)
    for ((others, ptp) <- Seq((7, 3), (1, 255), (0, 5), (30, 0))) {
      b.fill(others, ptp)
      for (i <- 0 until 90) {
        val to = Seq(psAddress, all, psGroup)(i % 3)
        b.send(if (b.random.nextInt(3) == 0) ofPtp(b, 60, to) else plain(b, 60, to), 3)
        if (b.random.nextInt(3) == 0) b.send(b.frame(60 + b.random.nextInt(100), stranger, b.random.nextBoolean()), 3)
        if (b.random.nextInt(3) == 0) b.send(b.frame(30, psAddress), 3) // what is dropped in any case takes no token
        if (b.random.nextInt(3) == 0) b.send(b.frame(70, psAddress, bad = true), 3)
      }
      b.settle()
      val mine = b.sent.map(_._1).zip(b.told).filter(_._2.forPs)
      for ((isPtp, burst) <- Seq(false -> others, true -> ptp)) {
        val kind = mine.collect { case (f, t) if b.isPtp(f) == isPtp => t }
        assert(kind.map(_.psPoliced) == kind.indices.map(_ >= burst), s"PTP $isPtp, burst $burst")
      }
      assert(b.told.filter(_.forHost).forall(!_.hostOverflow))
      b.check()
    }
    b.restrict(None)
    b.dut.macRxCd.waitSampling(10)
    for (_ <- 0 until 20) b.send(plain(b, 60, psAddress), 3)
    b.settle()
    assert(!b.told.exists(_.psPoliced))
    b.check()
    // The buckets fill up meanwhile.
    b.dut.io.psLimit.others.burst #= 9
    b.dut.macRxCd.waitSampling(20)
    b.restrict(Some(Limit((0, 9), (0, 0))))
    b.dut.macRxCd.waitSampling(10)
    for (_ <- 0 until 20) b.send(plain(b, 60, psAddress), 3)
    b.settle()
    assert(b.told.count(!_.psPoliced) == 9)
    b.check()
  }

  bench("a bucket fills at its rate, by the cycles that an edge stands for", 31) { b =>
    b.configure(listening)
    b.fill(4, 4)
    for (_ <- 0 until 8) b.send(plain(b, 60, psAddress), 3)
    b.settle()
    assert(b.told.count(_.psPoliced) == 4)
    b.forget()
    val (rate, spacing, frames) = (750, 12, 600)
    b.restrict(Some(Limit((rate, 4), (0, 4))))
    for (_ <- 0 until frames) b.send(plain(b, 60, psAddress), spacing - 8)
    b.settle()
    val due = rate.toLong * spacing * frames >> 18
    val passed = b.told.count(!_.psPoliced)
    println(s"$passed of $frames passed, $due due")
    assert((passed - due).abs <= 1)
    b.check()
    def skip(cycles: Long): Unit = {
      b.dut.io.skip #= cycles
      b.dut.macRxCd.waitSampling()
      b.dut.io.skip #= 1
    }
    for ((cycles, tokens) <- Seq((1L << 18) / rate * 5 / 2 -> 2, (1L << 32) - 1 -> 4)) {
      b.restrict(Some(Limit((0, 4), (0, 4))))
      for (_ <- 0 until 5) b.send(plain(b, 60, psAddress), 3)
      b.restrict(Some(Limit((rate, 4), (0, 4))))
      b.dut.macRxCd.waitSampling(4)
      skip(cycles)
      b.restrict(Some(Limit((0, 4), (0, 4))))
      b.forget()
      b.settle()
      b.forget()
      for (_ <- 0 until 8) b.send(plain(b, 60, psAddress), 3)
      b.settle()
      val passed = b.told.count(!_.psPoliced)
      assert((passed - tokens).abs <= (if (tokens == 4) 0 else 1), s"$passed passed after $cycles cycles")
      b.forget()
    }
  }

  bench("with limits half of the PS buffer is for PTP", 32) { b =>
    b.configure(listening)
    b.fill(255, 255)
    b.psReadyPercent = 0
    for (_ <- 0 until 60) b.send(plain(b, 120, psAddress), 4)
    b.dut.macRxCd.waitSampling(60)
    val refused = b.told.count(_.psOverflow)
    assert(refused >= 60 - 2048 / 120 - 1 && refused <= 60 - 2048 / 120 + 2, s"$refused refused")
    for (_ <- 0 until 10) b.send(ofPtp(b, 120, group), 4)
    b.dut.macRxCd.waitSampling(60)
    assert(b.told.count(_.psOverflow) == refused && !b.told.exists(_.psPoliced))
    b.check()
  }

  bench("frames of any length end, and are told as oversize", 7) { b =>
    b.configure(listening)
    for (size <- Seq(1602, 4096, 20000, 65528, 65534, 65535, 65536, 70000)) {
      b.send(b.frame(size, psAddress))
      b.send(b.frame(61, all))
    }
    b.check()
  }

  bench("tkeep with gaps counts to its first gap", 8) { b =>
    b.configure(listening)
    val whole = b.frame(72, all)
    b.send(whole, lastKeep = 0xed) // bytes 0 only, then a gap
    b.settle()
    assert(b.hostFrames.head.data == whole.data.take(65).toSeq && b.told.head.length == 65)
    b.forget()
    b.send(whole, lastKeep = 0)
    b.settle()
    assert(b.hostFrames.isEmpty && b.psFrames.isEmpty && b.told.head.bad.head && b.told.head.length == 64)
  }

  bench("a host in reset harms nothing on the PS path, and comes back whole", 9) { b =>
    b.configure(listening)
    for (round <- 0 until 12) {
      b.psReadyPercent = 80
      b.hostReadyPercent = Seq(0, 100)(round % 2)
      val before = b.random.nextInt(12)
      val traffic = fork {
        for (i <- 0 until 40) b.send(b.frame(60 + b.random.nextInt(200), Seq(stranger, all, psAddress)(i % 3)), 3)
      }
      b.dut.macRxCd.waitSampling(before * 20 + b.random.nextInt(20))
      b.dut.hostCd.assertReset()
      sleep(4000 * Seq(1, 2, 30, 200)(round % 4) + 4000 / 2)
      b.dut.hostCd.deassertReset()
      traffic.join()
      b.settle()
      // The frames in the buffer are lost with the host; what the PS gets is whole all the same.
      val told = b.told.clone()
      b.hostFrames.clear()
      val psExpected = b.sent.zip(told).collect { case ((f, _), t) if t.forPs && !t.psOverflow => f.data.toSeq }
      val psWhole = b.psFrames.map(_.data) == psExpected
      assert(told.length == 40 && !told.exists(_.psOverflow) && psWhole)
      b.hostBubbles = 0
      b.forget()
      b.dut.macRxCd.waitSampling(200)
      for (i <- 0 until 12) b.send(b.frame(60 + b.random.nextInt(100), Seq(stranger, all, psAddress)(i % 3)), 3)
      b.settle()
      assert(b.overflows == (0, 0))
      b.check()
    }
  }

  bench("a PS in reset harms nothing on the host path, and comes back whole", 10) { b =>
    b.configure(listening)
    for (round <- 0 until 8) {
      val frames = Seq.fill(30)(b.frame(60 + b.random.nextInt(200), Seq(stranger, all)(b.random.nextInt(2))))
      val traffic = fork(frames.foreach(b.send(_, 3)))
      b.dut.macRxCd.waitSampling(100 + b.random.nextInt(100))
      b.dut.psCd.assertReset()
      sleep(4000 * Seq(1, 2, 30, 200)(round % 4) + 4000 / 2)
      b.dut.psCd.deassertReset()
      traffic.join()
      b.settle()
      val hostWhole = b.hostFrames.map(_.data) == frames.map(_.data.toSeq)
      assert(hostWhole)
      b.psBubbles = 0
      b.forget()
      b.dut.macRxCd.waitSampling(200)
      for (i <- 0 until 12) b.send(b.frame(60 + b.random.nextInt(100), Seq(stranger, all, psAddress)(i % 3)), 3)
      b.check()
    }
  }

  bench("a MAC in reset loses the frame in flight, and no stored one", 11) { b =>
    b.configure(listening)
    for (round <- 0 until 8) {
      b.hostReadyPercent = 5
      b.psReadyPercent = 5
      for (i <- 0 until 4) b.send(b.frame(60 + b.random.nextInt(100), all), 3)
      b.dut.macRxCd.waitSampling(4)
      b.dut.io.pins.tlast #= false
      b.dut.io.pins.tvalid #= true
      b.dut.macRxCd.waitSampling(1 + b.random.nextInt(20))
      b.dut.io.pins.tvalid #= false
      b.dut.macRxCd.assertReset()
      sleep(2560 * Seq(1, 2, 30, 200)(round % 4) + 2560 / 2)
      b.dut.macRxCd.deassertReset()
      b.settle()
      b.dut.macRxCd.waitSampling(200)
      for (i <- 0 until 12) b.send(b.frame(60 + b.random.nextInt(100), Seq(stranger, all, psAddress)(i % 3)), 3)
      b.check()
    }
  }
}
