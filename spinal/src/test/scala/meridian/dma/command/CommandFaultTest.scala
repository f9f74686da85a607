// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.DmaParam
import meridian.dma.pcie.Answer
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** Commands that cannot be carried out, and what ends them: others go on as if there had been none. */
class CommandFaultTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, commands = true, extendedTags = true)
  lazy val compiled = SimConfig.compile(new CommandEngine(p, 80, timeOut = 15000))
  def run(name: String, pace: Float = 1.0f)(body: CommandHarness => Unit): Unit =
    for ((pace, i) <- Seq(1.0f, 0.4f).zipWithIndex)
      compiled.doSim(s"$name$i", 22 + i)(dut => body(new CommandHarness(dut, p, 22 + i, pace)))
  private val host = 0x40000000L

  /** Commands of queue 5 that succeed, around one that is not to. */
  private def refuses(h: CommandHarness, bad: Int => Unit, isBad: (Int, Boolean) => Unit): Unit = {
    for (c2h <- Seq(false, true)) h.change(5, c2h)
    val data = for (i <- 0 until 6) yield {
      val bytes = h.randomBytes(100 + 700 * i)
      h.memory.write(host + 0x4000 * i, bytes)
      bytes
    }
    for (i <- 0 until 6) {
      if (i == 3) bad(99)
      h.read(5, host + 0x4000 * i, data(i).size, i)
      h.write(5, host + 0x100000 + 0x4000 * i, data(i), i)
    }
    h.settle(7, 7)
    h.host.release()
    h.idle()
    val (failed, others) = h.answers.partition(_.tag == 99)
    assert(others.map(_.tag) == (0 until 6) && others.map(_.bytes) == data && !others.exists(_.failed))
    assert(h.answers(3).tag == 99 && h.written(3)._1 == 99)
    for (i <- 0 until 6) assert(h.memory.read(host + 0x100000 + 0x4000 * i, data(i).size) == data(i))
    assert(h.written.filter(_._1 != 99).map(_._2) == Seq.fill(6)(false))
    isBad(failed.head.bytes.size, failed.head.failed)
  }

  private def nothing(h: CommandHarness)(bytes: Int, failed: Boolean): Unit = {
    assert(failed && bytes == 0 && h.written(3)._2)
    assert(h.memory.read(host + 0x200000, 4096) == Seq.fill(4096)(0.toByte), "what was refused is written")
  }

  test("a queue that is not for commands, or that there is not, is refused, and so is a command of no bytes") {
    for ((queue, size) <- Seq(4 -> 64, 4 -> 3000, 16 -> 64, 21 -> 64, 2047 -> 64, 5 -> 0)) run(s"$queue-$size") { h =>
      h.change(4, c2h = false)
      h.change(4, c2h = true)
      h.change(4, c2h = false, enable = false)
      h.change(4, c2h = true, enable = false)
      def bad(tag: Int): Unit = {
        h.read(queue, host + 0x200000, size, tag)
        h.write(queue, host + 0x200000, h.randomBytes(size), tag)
      }
      refuses(h, bad, nothing(h))
    }
  }

  test("a function that may not access memory is refused") {
    run("master") { h =>
      for (c2h <- Seq(false, true)) h.change(4, c2h)
      h.setMaster(h.function(4), on = false)
      h.cd.waitSampling(20)
      def bad(tag: Int): Unit = {
        h.read(4, host + 0x200000, 700, tag)
        h.write(4, host + 0x200000, h.randomBytes(700), tag)
      }
      refuses(h, bad, nothing(h))
    }
  }

  test("a read that fails ends its command alone, also in the last part of a long one") {
    for (
      answer <- Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut, Answer.Never); size <- Seq(64, 5000, 60000)
    )
      run(s"$answer-$size") { h =>
        val at = host + 0x200000
        h.host.answerOf = address => if (address == at + 64 * ((size - 1) / 512 * 8)) answer else Answer.Data
        def bad(tag: Int): Unit = {
          h.read(5, at, size, tag)
          h.write(5, host + 0x300000, h.randomBytes(3), tag)
        }
        refuses(h, bad, (_, failed) => assert(failed))
      }
  }

  test("data that end too early or too late fail their command, and nothing beyond its bytes is written") {
    for ((gives, says) <- Seq(10 -> 64, 64 -> 10, 32 -> 33, 33 -> 32, 3000 -> 65, 65 -> 3000, 1 -> 2048, 2048 -> 1))
      run(s"$gives-$says") { h =>
        val around = h.randomBytes(4096)
        h.memory.write(host + 0x1ff800, around)
        val data = h.randomBytes(gives)
        def bad(tag: Int): Unit = {
          h.read(5, host, 1, tag)
          h.write(5, host + 0x200000, data, tag, says)
        }
        val fits = (gives + 31) / 32 == (says + 31) / 32
        refuses(h, bad, (_, _) => assert(h.written(3)._2 != fits))
        val is = h.memory.read(host + 0x1ff800, 4096)
        assert(is.take(2048) == around.take(2048) && is.drop(2048 + says) == around.drop(2048 + says))
      }
  }

  test("of a queue that is taken back nothing is read or written any more, and its commands fail") {
    for (pause <- 0 until 60 by 3; c2h <- Seq(false, true)) run(s"change$pause-$c2h") { h =>
      for (queue <- Seq(4, 5)) h.change(queue, c2h)
      val data = h.randomBytes(20000)
      h.memory.write(host, data)
      for ((queue, i) <- Seq(5, 4, 5).zipWithIndex)
        if (c2h) h.write(queue, host + 0x100000 * i, data, i) else h.read(queue, host + 0x100000 * i, 20000, i)
      h.cd.waitSampling(40 * pause)
      h.change(4, c2h, enable = false)
      h.cd.waitSampling(40)
      waitFor(h.cd, "what has begun")(!h.isLate)
      def asked = (if (c2h) h.host.writes else h.host.reads).count(_._1 == h.function(4))
      val before = asked
      h.settle(if (c2h) 0 else 3, if (c2h) 3 else 0)
      h.idle()
      assert(asked == before, "something is asked for behind the change")
      val failed = if (c2h) h.written.map(_._2) else h.answers.map(_.failed)
      assert(!failed(0) && !failed(2) && (failed(1) || asked >= 40))
      if (c2h) assert(h.memory.read(host + 0x200000, 20000) == data)
    }
  }

  test("a queue may be taken back in any cycle of a command's way, or go to another function") {
    for (pause <- 0 until 30; c2h <- Seq(false, true)) run(s"cycle$pause-$c2h") { h =>
      h.change(4, c2h)
      val data = h.randomBytes(9000)
      if (c2h) h.write(4, host, data, 0) else h.read(4, host, 9000, 0)
      h.cd.waitSampling(pause)
      h.change(4, c2h, enable = pause % 2 == 0, owner = Some(h.function(5)))
      h.cd.waitSampling(40)
      waitFor(h.cd, "what has begun")(!h.isLate)
      def asked = (if (c2h) h.host.writes else h.host.reads).count(_._1 == h.function(4))
      val before = asked
      h.settle(if (c2h) 0 else 1, if (c2h) 1 else 0)
      h.idle()
      assert(asked == before, "something is asked for behind the change")
      val failed = if (c2h) h.written.head._2 else h.answers.head.failed
      // The new owner has the command if it was not looked at before.
      val ofOther = (h.host.writes ++ h.host.reads).exists(_._1 == h.function(5))
      assert(failed != ofOther && (pause % 2 == 0 || !ofOther))
    }
  }

  test("a drain ends when nothing of the function is under way, and nothing follows") {
    for (pause <- 0 until 40 by 5) run(s"drain$pause") { h =>
      for (queue <- Seq(4, 5); c2h <- Seq(false, true)) h.change(queue, c2h)
      val data = h.randomBytes(9000)
      for ((queue, i) <- Seq(5, 4, 5, 4).zipWithIndex) {
        h.read(queue, host + 0x100000 * i, 9000, i)
        h.write(queue, host + 0x100000 * i, data, i)
      }
      h.cd.waitSampling(30 * pause)
      for (c2h <- Seq(false, true)) h.change(4, c2h, enable = false)
      h.drain(h.function(4))
      assert(!h.host.open.exists(_.function == h.function(4)), "a read is under way")
      def asked = (h.host.writes ++ h.host.reads).count(_._1 == h.function(4))
      val before = asked
      h.settle(4, 4)
      h.idle()
      assert(asked == before, "something is asked for behind the drain")
      assert(Seq(0, 2).forall(i => !h.answers(i).failed && !h.written(i)._2))
    }
  }

  test("a drain waits for a write that RQ has not taken") {
    for (pause <- 0 until 12) run(s"held$pause") { h =>
      h.change(4, c2h = true)
      for (i <- 0 until 4) h.write(4, host + 0x4000 * i, h.randomBytes(2000), i)
      waitFor(h.cd, "a write")(h.host.writes.nonEmpty)
      h.cd.waitSampling(pause)
      h.host.setPace(0)
      h.cd.waitSampling(60)
      val isHeld = h.isHeld
      h.change(4, c2h = true, enable = false)
      assert(!h.isDrained(h.function(4), 200) || !isHeld, "the drain ends before the write")
      h.host.setPace(1)
      h.drain(h.function(4))
      val before = h.host.writes.size
      h.settle(0, 4)
      h.idle()
      assert(h.host.writes.size == before, "something is written behind the drain")
    }
  }

  test("a write that fails is told when what had begun of it has left") {
    for (pause <- 0 until 12) run(s"begun$pause") { h =>
      for (queue <- Seq(4, 5)) h.change(queue, c2h = true)
      for ((queue, i) <- Seq(5, 4, 5).zipWithIndex) h.write(queue, host + 0x4000 * i, h.randomBytes(4000), i)
      waitFor(h.cd, "the write")(h.host.writes.exists(_._1 == h.function(4)))
      h.cd.waitSampling(pause)
      h.host.setPace(0)
      h.cd.waitSampling(60)
      h.change(4, c2h = true, enable = false)
      h.cd.waitSampling(200)
      h.host.setPace(0.2f)
      waitFor(h.cd, "its end")(h.written.exists(_._1 == 1))
      def asked = h.host.writes.count(_._1 == h.function(4))
      val before = asked
      h.settle(0, 3)
      h.idle()
      assert(asked == before && h.written.map(_._2) == Seq(false, true, false))
    }
  }

  test("a reset of the logic ends its commands, and afterwards it hears of new ones alone") {
    for (pause <- 0 until 40 by 2) run(s"reset$pause") { h =>
      for (c2h <- Seq(false, true)) h.change(5, c2h)
      val data = h.randomBytes(3000)
      h.memory.write(host, data)
      for (i <- 0 until 8) {
        h.read(5, host, 1 + h.random.nextInt(3000), 0)
        val given = data.take(1 + h.random.nextInt(3000))
        // Some have more than they say, and end in the reset.
        h.write(5, host + 0x10000, given, 0, says = if (i % 3 == 2) 1 + given.size / 9 else given.size)
      }
      h.cd.waitSampling(20 * pause)
      h.setTaking(if (pause % 4 == 0) 0 else 1)
      h.cd.waitSampling(10)
      h.forget()
      h.setReset(true)
      h.cd.waitSampling(20)
      h.setTaking(1)
      h.answers.clear()
      h.written.clear()
      h.setReset(false)
      for (i <- 1 until 20) {
        h.read(5, host + i, 100 * i, i)
        h.write(5, host + 0x20000 + 0x1000 * i, data.take(100 * i), i)
      }
      h.settle(19, 19)
      h.idle()
      assert(h.answers == (1 until 20).map(i => Answered(i, h.memory.read(host + i, 100 * i), failed = false)))
      assert(h.written == (1 until 20).map(_ -> false))
      for (i <- 1 until 20) assert(h.memory.read(host + 0x20000 + 0x1000 * i, 100 * i) == data.take(100 * i))
    }
  }

  test("a reset of the logic ends its commands, though RQ takes nothing meanwhile") {
    for (pause <- 0 until 40 by 3) run(s"full$pause") { h =>
      h.change(5, c2h = true)
      val data = h.randomBytes(3000)
      for (i <- 0 until 8) h.write(5, host + 0x10000, data.take(1000 + 100 * i), 0, says = 3000)
      h.cd.waitSampling(20 * pause)
      h.host.setPace(0)
      h.cd.waitSampling(200) // all that is kept is full
      h.forget()
      h.setReset(true)
      h.cd.waitSampling(20)
      h.setReset(false)
      h.written.clear()
      for (i <- 1 until 20) h.write(5, host + 0x20000 + 0x1000 * i, data.take(100 * i), i)
      h.cd.waitSampling(50)
      h.host.setPace(1)
      h.settle(0, 19)
      h.idle()
      assert(h.written == (1 until 20).map(_ -> false))
      for (i <- 1 until 20) assert(h.memory.read(host + 0x20000 + 0x1000 * i, 100 * i) == data.take(100 * i))
    }
  }

  test("logic that takes no answers, or gives no data, holds up its own direction alone") {
    run("stuck") { h =>
      for (queue <- Seq(4, 5); c2h <- Seq(false, true)) h.change(queue, c2h)
      h.setTaking(0)
      for (i <- 0 until 100) h.read(5, host, 3000, i)
      h.cd.waitSampling(3000)
      for (i <- 0 until 10) h.write(4, host + 0x10000, h.randomBytes(500), i)
      h.settle(0, 10)
      for (c2h <- Seq(false, true)) h.change(5, c2h, enable = false)
      h.drain(h.function(5))
      h.setTaking(1)
      h.settle(100, 10)
      h.idle()
      assert(!h.answers.head.failed && h.answers.last.failed && !h.written.exists(_._2))
    }
  }
}
