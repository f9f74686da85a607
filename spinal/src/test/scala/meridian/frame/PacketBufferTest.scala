// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import meridian.filter._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

class PacketBufferTest extends AnyFunSuite {
  val bytes = 8
  val depthBytes = 2048
  val frames = 32

  case class Frame(data: Seq[Byte], meta: Int)

  lazy val compiled = SimConfig.compile(
    new PacketBuffer(
      bytes,
      depthBytes,
      HardType(UInt(16 bits)),
      frames,
      ClockDomain.external("push"),
      ClockDomain.external("pop"),
      marks = Seq((meta: UInt) => meta.lsb)
    )
  )

  /** Drives and watches one buffer: what is committed is queued and must come out, in order and whole. */
  class Bench(dut: PacketBuffer[UInt], pushPeriod: Int, popPeriod: Int, seed: Int) {
    val random = new Random(seed)
    val expected = mutable.Queue[Frame]()
    var committed, popped, popCycle, popBubbles = 0
    var pushValidPercent, popReadyPercent = 100
    var firstPopTime = -1L
    var lastPushTime = -1L
    val beats = mutable.ArrayBuffer[Byte]()

    dut.io.push.valid #= false
    dut.io.drop #= false
    dut.io.abort #= false
    dut.io.pop.ready #= false
    dut.pushCd.forkStimulus(pushPeriod)
    sleep(pushPeriod / 3)
    dut.popCd.forkStimulus(popPeriod)
    waitUp()

    def waitUp(): Unit = {
      var wait = 0
      while (!dut.io.up.toBoolean) {
        dut.pushCd.waitSampling()
        wait += 1
        assert(wait < 500, "the buffer never comes up")
      }
    }

    dut.popCd.onSamplings {
      if (dut.io.pop.valid.toBoolean && firstPopTime < 0) firstPopTime = simTime()
      if (!dut.io.pop.valid.toBoolean && beats.nonEmpty) popBubbles += 1
      if (dut.io.pop.valid.toBoolean && dut.io.pop.ready.toBoolean) {
        val mty = dut.io.pop.mty.toInt
        val word = dut.io.pop.data.toBigInt
        for (i <- 0 until bytes - mty) beats += (word >> (8 * i)).toByte
        assert(expected.nonEmpty, "a frame that nobody committed")
        val frame = expected.head
        assert(dut.io.pop.length.toInt == frame.data.length, "length")
        assert(dut.io.pop.meta.toInt == frame.meta, "meta")
        if (dut.io.pop.last.toBoolean) {
          val whole = beats == frame.data
          assert(whole, "bytes of a frame")
          beats.clear()
          expected.dequeue()
          popped += 1
        } else assert(mty == 0)
      }
      dut.io.pop.ready #= random.nextInt(100) < popReadyPercent
    }

    def randomFrame(most: Int): Frame = {
      val length = if (random.nextBoolean()) 1 + random.nextInt(80) else 1 + random.nextInt(most)
      Frame(Seq.fill(length)(random.nextInt().toByte), random.nextInt(65536))
    }

    /** Pushes a frame; fate 0 commits it, 1 drops it with its last beat, 2 aborts it at or before its last beat. */
    def push(frame: Frame, fate: Int): Unit = {
      val words = frame.data.grouped(bytes).toSeq
      val abortAt = if (fate == 2) random.nextInt(words.length) else -1
      for ((word, i) <- words.zipWithIndex) {
        while (random.nextInt(100) >= pushValidPercent) dut.pushCd.waitSampling()
        val last = i == words.length - 1
        dut.io.push.valid #= true
        dut.io.push.data #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
        dut.io.push.last #= last
        dut.io.push.mty #= bytes - word.length
        dut.io.push.meta #= (if (last) frame.meta else random.nextInt(32768) * 2 + frame.meta % 2)
        dut.io.drop #= (if (last) fate == 1 else random.nextBoolean())
        if (i == abortAt) {
          dut.io.abort #= true
          dut.pushCd.waitSampling()
          dut.io.push.valid #= false
          dut.io.abort #= false
          return
        }
        if (last && fate == 0) expected.enqueue(frame)
        var wait = 0
        do {
          dut.pushCd.waitSampling()
          wait += 1
          assert(wait < 20000, "push.ready stays low")
        } while (!dut.io.push.ready.toBoolean)
        lastPushTime = simTime()
        dut.io.push.valid #= false
      }
      if (fate == 0) committed += 1
    }

    def drain(): Unit = {
      popReadyPercent = 100
      var wait = 0
      while (expected.nonEmpty || !dut.io.idle.toBoolean) {
        dut.popCd.waitSampling()
        wait += 1
        assert(wait < 5000, s"${expected.length} frames never come out")
      }
      dut.popCd.waitSampling(50)
      assert(!dut.io.pop.valid.toBoolean && dut.io.occupancy.toInt == 0, "something is left in the buffer")
      assert(dut.io.marked.head.toInt == 0, "something marked is left in the buffer")
    }
  }

  val clocks = Seq(2560 -> 4000, 4000 -> 2560, 6400 -> 4000, 4000 -> 6400, 4000 -> 4000)

  for (((pushPeriod, popPeriod), i) <- clocks.zipWithIndex)
    test(s"frames leave whole and in order with random drops and aborts, $pushPeriod ps to $popPeriod ps, seed $i") {
      compiled.doSim(s"random$i", seed = i) { dut =>
        val bench = new Bench(dut, pushPeriod, popPeriod, i)
        for (phase <- 0 until 8) {
          bench.pushValidPercent = Seq(100, 50, 90, 20)(bench.random.nextInt(4))
          bench.popReadyPercent = Seq(100, 50, 90, 5)(bench.random.nextInt(4))
          for (_ <- 0 until 60) bench.push(bench.randomFrame(600), Seq(0, 0, 0, 1, 2)(bench.random.nextInt(5)))
        }
        bench.drain()
        assert(bench.popped == bench.committed && bench.popped > 100)
      }
    }

  test("whole frames that are stored leave without a bubble, and room is given back in full") {
    compiled.doSim("throughput", seed = 7) { dut =>
      val bench = new Bench(dut, 2560, 4000, 7)
      for (size <- Seq(1, 8, 9, 60, 64, 65)) {
        bench.popReadyPercent = 0
        dut.popCd.waitSampling(2)
        val stored = Seq.fill(24)(Frame(Seq.fill(size)(bench.random.nextInt().toByte), size))
        stored.foreach(bench.push(_, 0))
        dut.popCd.waitSampling(8)
        bench.popReadyPercent = 100
        dut.popCd.waitSampling(2)
        val beats = 24 * ((size + bytes - 1) / bytes)
        dut.popCd.waitSampling(beats)
        assert(bench.expected.isEmpty, s"frames of $size bytes: more than one cycle a beat")
      }
      assert(bench.popBubbles == 0)
      bench.drain()
    }
  }

  test("a buffer that nobody reads takes all but two words, or all but two of its frames, and loses nothing") {
    compiled.doSim("full", seed = 8) { dut =>
      val bench = new Bench(dut, 4000, 4000, 8)
      bench.popReadyPercent = 0
      dut.popCd.waitSampling(2)
      val most = Frame(Seq.fill(depthBytes - 2 * bytes)(bench.random.nextInt().toByte), 1)
      bench.push(most, 0)
      dut.pushCd.waitSampling(4)
      assert(!dut.io.push.ready.toBoolean)
      bench.drain()
      bench.popReadyPercent = 0
      dut.popCd.waitSampling(2)
      var stored = 0
      while (dut.io.push.ready.toBoolean) {
        bench.push(Frame(Seq(stored.toByte), stored), 0)
        stored += 1
        dut.pushCd.waitSampling(4)
      }
      assert(stored >= frames - 2 && stored < frames + 8, s"$stored frames stored")
      bench.drain()
    }
  }

  test("the words of marked frames are counted while they are stored, however many are rolled back") {
    compiled.doSim("marked", seed = 12) { dut =>
      val bench = new Bench(dut, 4000, 2560, 12)
      for (_ <- 0 until 40) {
        bench.popReadyPercent = 0
        dut.popCd.waitSampling(2)
        for (_ <- 0 until 4) bench.push(bench.randomFrame(200), bench.random.nextInt(3))
        dut.pushCd.waitSampling(20)
        val words =
          bench.expected.toSeq.flatMap(frame => Seq.fill((frame.data.length + bytes - 1) / bytes)(frame.meta % 2))
        // The first word stands behind the memory.
        assert(dut.io.marked.head.toInt == words.drop(1).sum)
        assert(dut.io.occupancy.toInt == (words.length - 1 max 0))
        bench.drain()
      }
    }
  }

  test("the first beat is offered within five cycles after the last beat is taken") {
    compiled.doSim("latency", seed = 9) { dut =>
      val bench = new Bench(dut, 2560, 4000, 9)
      var worst = 0L
      dut.popCd.waitSampling(100)
      for (_ <- 0 until 40) {
        bench.firstPopTime = -1
        bench.push(Frame(Seq.fill(20)(1.toByte), 0), 0)
        dut.popCd.waitSampling(12 + bench.random.nextInt(5))
        worst = worst.max(bench.firstPopTime - bench.lastPushTime)
      }
      println(s"latency at most $worst ps at 4000 ps a pop cycle")
      assert(worst <= 5 * 4000)
    }
  }

  test("a reset of the pop side, however short, empties the buffer; the frame in flight is swallowed") {
    compiled.doSim("popReset", seed = 10) { dut =>
      val bench = new Bench(dut, 2560, 4000, 10)
      for (round <- 0 until 20) {
        bench.popReadyPercent = if (round % 2 == 0) 0 else 50
        for (_ <- 0 until 4) bench.push(bench.randomFrame(200), 0)
        val frame = bench.randomFrame(600)
        val tail = fork {
          bench.pushValidPercent = 20
          bench.push(Frame(Seq.fill(600)(0x55.toByte), 0xdead), 0)
          bench.pushValidPercent = 100
        }
        dut.pushCd.waitSampling(20 + bench.random.nextInt(60))
        dut.popCd.assertReset()
        sleep(4000 * (1 + bench.random.nextInt(if (round < 10) 2 else 200)) + 1000)
        dut.popCd.deassertReset()
        bench.beats.clear()
        tail.join()
        bench.expected.clear()
        var wait = 0
        while (!dut.io.up.toBoolean || wait < 300) {
          dut.pushCd.waitSampling()
          assert(!dut.io.pop.valid.toBoolean, "a frame from before the reset")
          wait += 1
          assert(wait < 2000)
        }
        for (_ <- 0 until 4) bench.push(bench.randomFrame(200), 0)
        bench.push(frame, 0)
        bench.drain()
      }
    }
  }

  test("a reset of the push side, however short, loses the frame in flight and none that is stored") {
    compiled.doSim("pushReset", seed = 11) { dut =>
      val bench = new Bench(dut, 4000, 2560, 11)
      for (round <- 0 until 20) {
        bench.popReadyPercent = 10
        for (_ <- 0 until 4) bench.push(bench.randomFrame(200), 0)
        dut.io.push.valid #= true
        dut.io.push.last #= false
        dut.io.push.mty #= 0
        dut.pushCd.waitSampling(1 + bench.random.nextInt(5))
        dut.io.push.valid #= false
        dut.pushCd.assertReset()
        sleep(4000 * (1 + bench.random.nextInt(if (round < 10) 2 else 200)) + 1000)
        dut.pushCd.deassertReset()
        dut.pushCd.waitSampling()
        bench.popReadyPercent = 60
        for (_ <- 0 until 4) bench.push(bench.randomFrame(200), 0)
        bench.drain()
      }
    }
  }
}
