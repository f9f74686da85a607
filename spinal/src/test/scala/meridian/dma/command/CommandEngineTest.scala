// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.DmaParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core.sim._

/** From commands of the card's own logic to the host's memory and back, with a host that answers as it may. */
class CommandEngineTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, commands = true, extendedTags = true)
  lazy val compiled = SimConfig.compile(new CommandEngine(p, 80, timeOut = 15000))
  def run(name: String, pace: Float = 1.0f, maxPayload: Int = 256)(body: CommandHarness => Unit): Unit =
    compiled.doSim(name, 21)(dut =>
      body(new CommandHarness(dut, p, 21, pace, maxPayload, maxRead = if (maxPayload == 128) 128 else 512))
    )
  private val host = 0x4000000000L
  private val lengths = (1 to 70) ++ Seq(127, 128, 129, 511, 512, 513, 4095, 4096, 4097, 9000, 65535)

  test("bytes of any length are read from any address, with any maximum sizes") {
    for ((pace, maxPayload) <- Seq(1.0f -> 256, 0.6f -> 512, 0.3f -> 128)) run(s"reads$maxPayload", pace, maxPayload) {
      h =>
        h.change(5, c2h = false)
        val asked = for ((length, i) <- lengths.zipWithIndex) yield {
          val address = host + 0x20000 * i + h.random.nextInt(5000)
          val data = h.randomBytes(length)
          h.memory.write(address, data)
          h.read(5, address, length, i)
          Answered(i, data, failed = false)
        }
        h.settle(asked.size, 0)
        h.idle()
        assert(h.answers == asked)
        assert(h.host.reads.forall(_._1 == h.function(5)) && h.host.writes.isEmpty)
    }
  }

  test("bytes of any length are written to any address, and no byte beside them") {
    for ((pace, maxPayload) <- Seq(1.0f -> 256, 0.6f -> 512, 0.3f -> 128)) run(s"writes$maxPayload", pace, maxPayload) {
      h =>
        h.change(7, c2h = true)
        val asked = for ((length, i) <- lengths.zipWithIndex) yield {
          val address = host + 0x20000 * i + h.random.nextInt(5000)
          val around = h.randomBytes(length + 200)
          for (m <- Seq(h.memory, h.wanted)) m.write(address - 100, around)
          val data = h.randomBytes(length)
          h.wanted.write(address, data)
          h.write(7, address, data, i)
          (address - 100, length + 200)
        }
        h.settle(0, asked.size)
        h.idle()
        assert(h.written == lengths.indices.map(_ -> false))
        for ((address, length) <- asked) assert(h.memory.read(address, length) == h.wanted.read(address, length))
        assert(h.host.writes.forall(_._1 == h.function(7)) && h.host.reads.isEmpty)
    }
  }

  test("a write is told when PCIe has taken all of it") {
    run("order", 0.3f) { h =>
      h.change(1, c2h = true)
      var mistakes = 0
      for (i <- 0 until 100) {
        val address = host + 0x1000 * i + h.random.nextInt(2000)
        val data = h.randomBytes(1 + h.random.nextInt(1500))
        h.write(1, address, data, i)
        waitFor(h.cd, "the write")(h.written.size == i + 1)
        if (h.memory.read(address, data.size) != data) mistakes += 1
      }
      assert(mistakes == 0)
    }
  }

  test("reads and writes of all queues are under way at once") {
    for ((pace, maxPayload) <- Seq(1.0f -> 512, 0.4f -> 128)) run(s"both$maxPayload", pace, maxPayload) { h =>
      for (queue <- 0 until p.queues; c2h <- Seq(false, true)) h.change(queue, c2h)
      val reads = for (i <- 0 until 400) yield {
        val data = h.randomBytes(1 + h.random.nextInt(if (h.random.nextInt(5) == 0) 3000 else 100))
        val address = host + 0x2000 * i + h.random.nextInt(4000)
        h.memory.write(address, data)
        h.read(h.random.nextInt(p.queues), address, data.size, i & 255)
        Answered(i & 255, data, failed = false)
      }
      val writes = for (i <- 400 until 800) yield {
        val data = h.randomBytes(1 + h.random.nextInt(if (h.random.nextInt(5) == 0) 3000 else 100))
        val address = host + 0x2000 * i + h.random.nextInt(4000)
        h.write(h.random.nextInt(p.queues), address, data, i & 255)
        address -> data
      }
      h.settle(400, 400)
      h.idle()
      assert(h.answers == reads && h.written.forall(!_._2))
      for ((address, data) <- writes) assert(h.memory.read(address, data.size) == data)
    }
  }

  test("a command is at RQ within its bound, and commands of 64 bytes take 3.6 cycles each or less") {
    run("steps") { h =>
      for (c2h <- Seq(false, true)) h.change(3, c2h)
      var cycle = 0
      h.cd.onSamplings(cycle += 1)
      def cycles(work: => Unit, done: => Boolean): Int = {
        val from = cycle
        work
        waitFor(h.cd, "the end")(done)
        cycle - from
      }
      val toRq = cycles(h.read(3, host, 64, 0), h.host.reads.nonEmpty)
      h.settle(1, 0)
      val toWrite = cycles(h.write(3, host, h.randomBytes(64), 0), h.host.writes.nonEmpty)
      h.settle(1, 1)
      info(s"a read is at RQ after $toRq cycles, the last beat of a write after $toWrite")
      assert(toRq <= 12 && toWrite <= 24)
      h.idle()
      val count = 1000
      val ofReads = cycles((0 until count).foreach(i => h.read(3, host + 64 * i, 64, 0)), h.answers.size > count)
      val ofWrites =
        cycles((0 until count).foreach(i => h.write(3, host + 64 * i, h.randomBytes(64), 0)), h.written.size > count)
      info(f"${ofReads.toDouble / count}%.2f cycles a read of 64 bytes, ${ofWrites.toDouble / count}%.2f a write")
      assert(ofReads < 3.6 * count && ofWrites < 3.3 * count)
    }
  }
}
