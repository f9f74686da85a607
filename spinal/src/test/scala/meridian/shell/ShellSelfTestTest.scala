// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.host.FrameSim._
import meridian.selftest._
import spinal.core.sim._

/** The self-test in the host side: settings through BAR2, frames at the QDMA pins. */
class ShellSelfTestTest extends ShellSelfTestBench {
  test("frames go out by the C2H pins and come back by the H2C pins, each is known, and its latency counted") {
    built.doSim("round", 11) { dut =>
      val b = new Bench(dut, 11)
      b.back =
        frame => Some(frame.copy(bytes = frame.bytes.slice(6, 12) ++ frame.bytes.take(6) ++ frame.bytes.drop(12)))
      b.write(0x28, 0x04030201L)
      b.write(0x2c, 0x0605)
      b.set(sizes = (60, 700, 9600), frames = 57)
      for (queue <- 0 until 4) b.post(queue, 200)
      b.cd.waitSampling(20)
      b.write(0x100, 60000)
      b.write(0x108, 1)
      b.write(0x108, 2)
      assert(b.start()._2 == 0)
      b.set(mode = 3, first = 5, count = 1, sizes = (100, 0, 100), frames = 1) // for the next start
      b.cd.waitSampling(60000)
      assert(b.status == ((0, 0, end("complete"))))
      assert(b.got.size == 57 && b.got.map(_.queue) == Seq.tabulate(57)(_ % 4))
      assert(b.got.map(_.bytes.length) == Seq.fill(5)(60 to 9600 by 700).flatten.take(57))
      assert(b.got.forall(_.bytes.take(6).toSeq == (1 to 6).map(_.toByte)))
      for ((name, want) <- Seq("frames" -> 57, "bytes" -> b.got.map(_.bytes.length).sum, "cut" -> 0))
        assert(b.sent(name) == want, name)
      for ((name, want) <- Seq("frames" -> 57, "good" -> 57, "skipped" -> 0, "late" -> 0, "bit_errors" -> 0))
        assert(b.checked(name) == want, name)
      assert(b.tx == 0, "what is taken is not sent")
      // One window has ended, in which all was measured; of the next nothing is shown yet.
      val words = (0 until 4).map(i => b.counter(0x10c + 8 * i))
      assert(words == Seq(b.latencies.max, b.latencies.min, b.latencies.sum, BigInt(57)))
      assert((0 until 64).map(i => b.read(0x200 + 4 * i)).sum == 57)
      b.cd.waitSampling(60000)
      assert((0 until 4).map(i => b.counter(0x10c + 8 * i)).forall(_ == 0), "the next window, without a frame")
      b.stop()
    }
  }

  test("what the host loses, changes or holds back is counted, and without take it goes on to the wire") {
    built.doSim("faults", 12) { dut =>
      val b = new Bench(dut, 12)
      var held = Option.empty[Frame]
      var n = 0
      b.back = frame => {
        n += 1
        n match {
          case 5 | 6 => None
          case 9 =>
            frame.bytes(50) = (frame.bytes(50) ^ 0x11).toByte
            Some(frame)
          case 12 => held = Some(frame); None
          case 15 => held
          case _  => Some(frame)
        }
      }
      b.set(mode = 11, count = 1, frames = 15)
      b.post(0, 15)
      assert(b.start()._2 == 0)
      b.cd.waitSampling(3000)
      val want = Map("frames" -> 12, "good" -> 11, "damaged" -> 1, "bit_errors" -> 2, "skipped" -> 4, "late" -> 1)
      for ((name, value) <- want) assert(b.checked(name) == value, name)
      b.cd.waitSampling(2000)
      assert(b.tx == 12)
    }
  }

  test("a start while frames of the run before still come back counts none of them as its own") {
    built.doSim("restart", 18) { dut =>
      val b = new Bench(dut, 18)
      b.back = frame => Some(frame)
      b.h2c.setFactor(0.6f) // so some are always on their way
      for (queue <- 0 until 4) b.post(queue, 2000)
      var foreign = BigInt(0)
      for (round <- 0 until 8) {
        b.set(sizes = (9600, 0, 9600))
        assert(b.start()._2 == 0)
        b.cd.waitSampling(3000 + b.random.nextInt(600))
        b.stop()
        b.set(frames = 20)
        assert(b.start()._2 == 0)
        waitFor(b.cd, "the end of what comes back", 40000)(b.h2cBeats.isEmpty)
        b.cd.waitSampling(100)
        for ((name, want) <- Seq("good" -> 20, "damaged" -> 0, "skipped" -> 0, "late" -> 0))
          assert(b.checked(name) == want, s"round $round: $name")
        assert(b.checked("frames") == 20 + b.checked("foreign"))
        foreign += b.checked("foreign")
      }
      assert(foreign > 8, "frames of the run before came back after the start")
    }
  }

  test("frames go only as buffers are given, beside received frames for the same queue; a stop gives them all back") {
    built.doSim("credit", 13) { dut =>
      val b = new Bench(dut, 13)
      b.back = frame => if (b.random.nextBoolean()) Some(frame) else None
      var total = 0
      for (round <- 0 until 60) {
        b.set(count = 1 + b.random.nextInt(4), sizes = (60 + b.random.nextInt(3000), 1 + b.random.nextInt(500), 6000))
        b.c2hPace = Seq(1.0, 0.5, 0.1)(b.random.nextInt(3))
        assert(b.start()._2 == 0)
        for (_ <- 0 until b.random.nextInt(30)) {
          b.post(b.random.nextInt(4), 1 + b.random.nextInt(6))
          if (b.random.nextInt(3) == 0) {
            val bytes = randomBytes(54 + b.random.nextInt(1400))
            bytes(6) = 8 // another EtherType than that of the test
            b.receive(Array.fill[Byte](6)(0xff.toByte) ++ bytes)
          }
          b.cd.waitSampling(b.random.nextInt(60))
        }
        b.cd.waitSampling(b.random.nextInt(1000))
        b.write(0, 2)
        b.c2hPace = 1
        b.cd.waitSampling(500)
        assert(b.status._1 == 0)
        val stopped = b.got.count(b.isTest)
        assert(b.sent("frames") == stopped, "what had begun has come")
        b.cd.waitSampling(500)
        assert(b.got.count(b.isTest) == stopped, "a frame of the test after the stop")
        total += stopped
        b.got.clear()
      }
      assert(total > 200)
      // All that were posted and not used are there.
      waitFor(b.cd, "the messages", 2000)(b.allPosted && b.wire.pending == 0)
      b.cd.waitSampling(500)
      b.set(count = 4)
      b.start()
      waitFor(b.cd, "the use of every buffer", 40000)((0 until 4).forall(b.posted(_) == 0))
    }
  }

  test("a start that cannot be is refused, and told why") {
    built.doSim("refusals", 14) { dut =>
      val b = new Bench(dut, 14)
      def refused(why: String): Unit = {
        val (state, code, _) = b.start()
        assert(code == refusal(why) && state == 0, s"$why: refusal $code, state $state")
      }
      b.set(mode = 12); refused("nothing")
      b.set(function = 3); refused("noFunction")
      b.set(function = 200); refused("noFunction")
      b.set(sizes = (0, 0, 0)); refused("sizeZero")
      b.set(sizes = (9601, 0, 9601)); refused("sizeTooBig")
      b.set(sizes = (64, 1, 9601)); refused("sizeTooBig")
      b.set(sizes = (64, 0, 65)); refused("sizeSequence")
      b.set(sizes = (64, 1, 63)); refused("sizeSequence")
      b.set(count = 0); refused("queues")
      b.set(first = 30, count = 3); refused("queues")
      b.set(first = 4, count = 5); refused("queues")
      b.set(function = 1, first = 7, count = 2); refused("queues")
      b.set(); b.write(0x100, 0); refused("window")
      b.write(0x104, 1)
      b.bar2.write(0x110030, 0)
      refused("credit")
      b.bar2.write(0x110030, 1)
      b.set(function = 4, first = 16, count = 4)
      assert(b.start() == ((2, 0, 0)))
      b.write(0, 1)
      assert(b.status == ((2, refusal("running"), 0)), "a test under way goes on")
      b.stop()
      assert(b.status._3 == end("command"))
      b.set(); b.start()
      b.bar2.write(0x110030, 0)
      b.cd.waitSampling(100)
      assert(b.status == ((0, 0, end("creditOff"))))
      b.bar2.write(0x110030, 1)
      b.start()
      b.bar2.write(0x201000, BigInt(3) << 16 | 13)
      b.bar2.read(0x201000)
      b.cd.waitSampling(200)
      assert(b.status == ((0, 0, end("queuesChanged"))), "another function got a queue of the test")
      assert((b.read(0x40) >> 4 & 1) == 0, "the checker is off")
      b.set(first = 0, count = 3)
      assert(b.start()._2 == 0)
    }
  }

  test("a PF starts a test on queues of itself and of its own VFs only") {
    built.doSim("owners", 18) { dut =>
      val b = new Bench(dut, 18)
      b.bar2.write(0x205000, BigInt(24) << 16 | 4)
      b.bar2.read(0x205000)
      // Function 0 has queues 0 to 7, function 1 the next 8; 4 is the VF of PF 0, 5 that of PF 1.
      val firsts = Map(0 -> 0, 1 -> 8, 4 -> 16, 5 -> 24)
      val owner = Map(0 -> 0, 1 -> 1, 4 -> 0, 5 -> 1)
      for (by <- 0 until 4; (function, first) <- firsts) {
        b.set(function = function, first = first, mode = 14)
        if (owner(function) == by) {
          val (state, code, _) = b.start(by)
          assert(state == 2 && code == 0, s"PF $by, function $function: $code")
          b.stop()
        } else {
          val (state, code, _) = b.start(by)
          assert(state == 0 && code == refusal("queues"), s"PF $by, function $function")
        }
      }
    }
  }

  test("a start of another PF while one is being judged does not change whose the start is") {
    built.doSim("two starts", 19) { dut =>
      val b = new Bench(dut, 19)
      for ((function, queue) <- Seq((0, 0), (1, 8)); (first, second) <- Seq((0, 1), (1, 0))) {
        b.set(mode = 14, function = function, first = queue)
        b.bar2.write(page, 1, function = first)
        b.bar2.write(page, 1, function = second)
        val (state, code, _) = { b.cd.waitSampling(100); b.status }
        val begins = function == first
        assert(state == (if (begins) 2 else 0), s"PF $first on function $function, then PF $second: refusal $code")
        if (begins) b.stop()
      }
    }
  }

  test("a function that carries traffic is refused, one that is quiet starts") {
    built.doSim("traffic", 15) { dut =>
      val b = new Bench(dut, 15)
      for (queue <- Seq(0, 8, 16)) b.post(queue, 100)
      b.cd.waitSampling(50)
      b.set(mode = 7)
      b.write(0, 1)
      b.cd.waitSampling(1000)
      assert(b.status._1 == 1)
      b.receive(Array.fill[Byte](6)(0xff.toByte) ++ randomBytes(54))
      b.cd.waitSampling(500)
      assert(b.status == ((0, refusal("traffic"), 0)))
      b.write(0, 1)
      b.cd.waitSampling(SelfTestControl.watchCycles - 2000)
      assert(b.status == ((1, 0, 0)))
      b.cd.waitSampling(3000)
      assert(b.status == ((2, 0, 0)))
    }
  }

  test("a reset of the function ends the test at any cycle, and nothing of it comes behind the answer") {
    built.doSim("reset", 16) { dut =>
      val b = new Bench(dut, 16)
      b.back = frame => Some(frame)
      var cut = BigInt(0)
      for (round <- 0 until 30) {
        b.set(sizes = (60 + b.random.nextInt(200), 1 + b.random.nextInt(3000), 9600))
        for (queue <- 0 until 4) b.post(queue, 200)
        b.c2hPace = Seq(1.0, 0.5, 0.1)(b.random.nextInt(3))
        assert(b.start()._2 == 0, s"round $round: ${b.status}")
        b.cd.waitSampling(b.random.nextInt(if (round % 2 == 0) 40 else 1500))
        waitFor(b.cd, "the messages", 2000)(b.allPosted)
        b.reset()
        waitFor(b.cd, "the answer", 20000)(b.doneAt.isDefined)
        b.cd.waitSampling(300)
        assert(b.gotAt.forall(_ <= b.doneAt.get), s"round $round: a frame behind the answer")
        val (state, _, why) = b.status
        assert(state == 0 && why == end("functionReset") && (b.read(0x40) >> 4 & 1) == 0)
        assert(b.sent("frames") == b.got.size)
        cut += b.sent("cut")
        b.got.clear()
        b.gotAt.clear()
        b.configure()
      }
      assert(cut > 0, "what was cut is counted")
    }
  }

  test("a VF neither sees nor changes the self-test block") {
    built.doSim("vf", 17) { dut =>
      val b = new Bench(dut, 17)
      b.set(first = 2, count = 3)
      assert(b.read(0x0c) == (3 << 16 | 2))
      for (offset <- Seq(0x00, 0x04, 0x0c, 0x40, 0x100, 0x108)) {
        val own = b.bar2.read(offset, function = 4)
        assert(b.bar2.read(page + offset, function = 4) == own, "the VF's own page, at any address")
        b.bar2.write(page + offset, 1, function = 4)
      }
      assert(b.read(0x0c) == (3 << 16 | 2) && b.status == ((0, 0, 0)) && b.read(0x100) == LatencyWindow.defaultCycles)
    }
  }
}
