// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.host.FrameSim._
import meridian.selftest._
import spinal.core.sim._

/** The self-test at its limits: starts at the wrong time, commands that meet, a stream that stands still, a full wire. */
class ShellSelfTestLimitsTest extends ShellSelfTestBench {

  /** Frames of the host by queues of the test, which the generator has not made. */
  private class Others(b: Bench) {
    var sent = 0
    var on = false
    b.cd.onSamplings {
      if (on && b.h2cBeats.size < 8) {
        b.send(Frame(b.random.nextInt(4), Array.fill[Byte](12)(0) ++ randomBytes(48 + b.random.nextInt(60))))
        sent += 1
      }
    }
    def end(): Unit = {
      on = false
      waitFor(b.cd, "the last frame of the host", 20000)(b.h2cBeats.isEmpty)
      b.cd.waitSampling(500)
    }
  }

  test("a frame of the host is taken if it is checked, and goes to the wire if not, also where take begins and ends") {
    built.doSim("take", 20) { dut =>
      val b = new Bench(dut, 20)
      val others = new Others(b)
      b.set(mode = 14)
      for (round <- 0 until 20) {
        b.tx = 0
        others.sent = 0
        others.on = true
        b.cd.waitSampling(100 + b.random.nextInt(30))
        assert(b.start()._2 == 0)
        assert((b.read(0x40) >> 4 & 3) == 3, "checks and takes")
        b.cd.waitSampling(200 + b.random.nextInt(30))
        b.stop()
        b.write(0, 4)
        b.cd.waitSampling(100)
        assert((b.read(0x40) >> 4 & 3) == 0, "neither checks nor takes")
        others.end()
        // One that had begun when the checker was switched off is taken, and not counted.
        val lost = others.sent - b.tx - b.checked("frames").toInt
        assert(b.tx > 10 && b.checked("frames") > 10 && (lost == 0 || lost == 1), s"round $round: $lost")
      }
    }
  }

  test("frames of the last test do not get to the wire while the next is refused, or is starting") {
    built.doSim("starts", 21) { dut =>
      val b = new Bench(dut, 21)
      val others = new Others(b)
      b.set(mode = 14)
      assert(b.start()._2 == 0)
      others.on = true
      b.cd.waitSampling(200)
      b.stop()
      b.set(sizes = (0, 0, 0))
      assert(b.start()._2 == refusal("sizeZero"))
      b.set(mode = 14, first = 4, count = 5)
      assert(b.start()._2 == refusal("queues"))
      assert((b.read(0x40) >> 4 & 3) == 2, "takes, and does not check")
      b.cd.waitSampling(500)
      b.set(mode = 14)
      assert(b.start()._2 == 0)
      b.cd.waitSampling(500)
      assert(b.tx == 0)
      // A test without take ends it.
      b.stop()
      b.set(mode = 10)
      assert(b.start()._2 == 0)
      b.cd.waitSampling(500)
      assert(b.tx > 0)
      others.end()
      // A queue that becomes another function's is not taken from, whose test it was.
      b.stop()
      b.set(mode = 14)
      assert(b.start()._2 == 0)
      b.stop()
      b.bar2.write(0x204000, BigInt(3) << 16 | 4)
      b.bar2.read(0x204000)
      b.cd.waitSampling(200)
      assert((b.read(0x40) >> 4 & 3) == 0)
    }
  }

  test("a start that is refused, or that ends before its test begins, leaves counters and end of the last test") {
    built.doSim("kept", 22) { dut =>
      val b = new Bench(dut, 22)
      b.back = frame => Some(frame)
      for (queue <- 0 until 4) b.post(queue, 200)
      b.cd.waitSampling(20)
      b.set(frames = 10)
      assert(b.start()._2 == 0)
      b.cd.waitSampling(1000)
      val run = b.read(0x40) >> 24
      def kept(why: String): Unit = {
        assert(b.status == ((0, refusal(why), end("complete"))), why)
        assert(b.sent("frames") == 10 && b.checked("good") == 10 && b.read(0x40) >> 24 == run, why)
      }
      kept("none")
      b.set(sizes = (0, 0, 0))
      b.start()
      kept("sizeZero")
      b.set(first = 4, count = 5)
      b.start()
      kept("queues")
      def starting(): Unit = {
        b.set(mode = 7)
        b.write(0, 1)
        b.cd.waitSampling(300)
        assert(b.status._1 == 1, s"${b.status}")
      }
      starting()
      b.write(0, 2)
      b.cd.waitSampling(100)
      kept("stopped")
      starting()
      b.bar2.write(0x110030, 0)
      b.cd.waitSampling(100)
      kept("credit")
      b.bar2.write(0x110030, 1)
      starting()
      b.bar2.write(0x201000, BigInt(3) << 16 | 13)
      b.cd.waitSampling(200)
      kept("queues")
      b.bar2.write(0x201000, BigInt(8) << 16 | 8)
      b.bar2.write(0x200000, 8)
      b.bar2.read(0x200000)
      b.cd.waitSampling(200)
      starting()
      b.reset()
      waitFor(b.cd, "the answer", 20000)(b.doneAt.isDefined)
      b.cd.waitSampling(100)
      kept("noFunction")
    }
  }

  test("a stop, or a reset of the function, waits for a C2H stream that stands still, and ends when it goes on") {
    built.doSim("still", 23) { dut =>
      val b = new Bench(dut, 23)
      for (round <- 0 until 12) {
        val resets = round % 2 == 0
        b.set(sizes = (60, 700, 9600))
        for (queue <- 0 until 4) b.post(queue, 200)
        assert(b.start()._2 == 0)
        b.cd.waitSampling(b.random.nextInt(600))
        waitFor(b.cd, "the messages", 2000)(b.allPosted)
        b.c2hPace = 0
        b.cd.waitSampling(500)
        if (resets) b.reset() else b.write(0, 2)
        b.cd.waitSampling(15000)
        assert(b.status._1 == 3, s"round $round: a frame is under way")
        assert(!resets || b.doneAt.isEmpty, "a reset is answered while a frame is under way")
        val begun = b.sent("frames")
        b.c2hPace = 1
        b.cd.waitSampling(1500)
        val why = if (resets) "functionReset" else "command"
        assert(b.status == ((0, 0, end(why))), s"round $round")
        assert(b.sent("frames") == begun && b.got.size == begun, "what had begun has come, and nothing else")
        if (resets) {
          assert(b.doneAt.isDefined && b.gotAt.forall(_ <= b.doneAt.get), s"round $round: a frame behind the answer")
          b.configure()
        }
        b.got.clear()
        b.gotAt.clear()
      }
    }
  }

  test("a start, a stop and a reset of the function that meet in a cycle leave nothing behind") {
    built.doSim("meet", 24) { dut =>
      val b = new Bench(dut, 24)
      for (round <- 0 until 60) {
        b.set(sizes = (64, 100, 1500))
        for (queue <- 0 until 4) b.post(queue, 100)
        b.cd.waitSampling(20)
        val running = b.random.nextBoolean()
        def run = b.read(0x40) >> 24
        val before = run
        if (running) {
          assert(b.start()._2 == 0, s"round $round")
          b.cd.waitSampling(b.random.nextInt(100))
        }
        waitFor(b.cd, "the messages", 2000)(b.allPosted)
        // A register access takes some cycles: from before the command to behind the end of the start.
        val delay = round % 30
        val command = Seq(1, 2, 3, 7)(b.random.nextInt(4))
        val other = fork {
          if (delay > 0) b.cd.waitSampling(delay)
          b.reset()
        }
        b.doneAt = None
        b.write(0, command)
        other.join()
        waitFor(b.cd, "the answer", 20000)(b.doneAt.isDefined)
        b.cd.waitSampling(300)
        val (state, code, why) = b.status
        val what = s"round $round, command $command, delay $delay: state $state, refusal $code, end $why"
        assert(state == 0 && (b.read(0x40) >> 4 & 3) == 0, what)
        assert(
          b.gotAt.forall(_ <= b.doneAt.get) && (b.sent("frames") == b.got.size || run == before && b.got.isEmpty),
          what
        )
        if (running) assert(why == end("functionReset") || command == 2 && why == end("command"), what)
        b.got.clear()
        b.gotAt.clear()
        b.configure()
      }
    }
  }

  test("received frames at the rate of a full wire all go, beside test frames of the largest size") {
    built.doSim("load", 25) { dut =>
      val b = new Bench(dut, 25)
      b.bar2.write(0x201004, 0) // unicast is for function 0
      for (queue <- 0 until 8) b.post(queue, 20000)
      b.set(first = 4, sizes = (9600, 0, 9600))
      waitFor(b.cd, "the messages", 100)(b.allPosted)
      assert(b.start()._2 == 0)
      // 60 bytes take 84 on the wire, and two beats here: of two ports at 25 Gb/s in 6.72 cycles each.
      var (due, sent, most) = (0.0, 0, 0)
      var on = true
      b.cd.onSamplings {
        if (on) due += 2 / 6.72
        if (due >= 1) {
          due -= 1
          sent += 1
          b.receive(Array[Byte](2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0) ++ randomBytes(46))
        }
        most = most max b.wire.pending
      }
      b.cd.waitSampling(20000)
      on = false
      b.write(0, 2)
      b.cd.waitSampling(2000)
      val test = b.got.count(b.isTest)
      val received = b.got.size - test
      println(s"$received received frames, $test of the test, $most beats waited")
      assert(received == sent && sent > 5900)
      assert(test >= 20, "the test gets what received frames leave")
      assert(most < 400, "beats that gather while a frame of the test goes")
    }
  }
}
