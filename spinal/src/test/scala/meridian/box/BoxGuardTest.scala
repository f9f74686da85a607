// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxPins, ShellParam}
import meridian.host.{Cycles, FrameSource, StreamSink}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable
import scala.util.Random

/** The guard with a box of the test: it passes frames on, or does what no box should. */
class BoxGuardTest extends AnyFunSuite {
  private val sizes = ShellParam(
    maxFrame = 2000,
    rxBufferBytes = 8192,
    txBufferBytes = 8192,
    psBufferBytes = 4096,
    copyBufferBytes = 4096,
    vebBufferBytes = 4096
  )
  private val p = sizes.copy(box = Some(BoxPins.whole(sizes)))
  private lazy val built = SimConfig.compile(new BoxGuard(p, 0))
  private val limit = 300

  object Mood extends Enumeration { val passes, babbles, hangs, floods, crawls = Value }

  class Bench(dut: BoxGuard, seed: Int) {
    println(s"seed $seed")
    val cd = clocked(dut)
    val cycles = new Cycles(cd)
    val random = new Random(seed)
    var mood = Mood.passes
    var period = 1 // cycles for a beat, of one that crawls
    val toHost, toWire = mutable.ArrayBuffer[Array[Byte]]()
    val counted = mutable.Map[String, Int]().withDefaultValue(0)
    private val queues = Seq.fill(2)(mutable.Queue[(BigInt, BigInt, Boolean)]())

    dut.io.control.reset #= false
    dut.io.control.limit #= limit
    dut.io.boxReady #= true
    val wire = new FrameSource(dut.io.fromWire, cd)
    val host = new FrameSource(dut.io.fromHost, cd)

    /** A frame has its rules whatever the box does. */
    private def sink[T <: Data](
        stream: Stream[Fragment[meridian.frame.FrameWord[T]]],
        frames: mutable.Buffer[Array[Byte]],
        least: Int
    )(told: T => (Boolean, Option[Int])) = {
      val bytes = mutable.ArrayBuffer[Byte]()
      new StreamSink(stream, cd)({ beat =>
        val last = beat.last.toBoolean
        val mty = beat.fragment.mty.toInt
        assert(last || mty == 0, "a beat before the last is not full")
        bytes ++= toBytes(beat.fragment.data.toBigInt, p.hostBytes - mty)
        assert(bytes.size <= p.maxFrame + p.hostBytes, "a frame without an end")
        if (last) {
          val (drop, length) = told(beat.fragment.meta)
          if (!drop) {
            assert(bytes.size >= least && bytes.size <= p.maxFrame, s"a frame of ${bytes.size} bytes")
            for (n <- length) assert(n == bytes.size, s"a frame of ${bytes.size} bytes is told to have $n")
            frames += bytes.toArray
          }
          bytes.clear()
        }
      })
    }
    val hostSink = sink(dut.io.toHost, toHost, p.minFrame)(meta => (false, Some(meta.length.toInt)))
    val wireSink = sink(dut.io.toWire, toWire, BoxGuard.leastTx)(meta => (meta.drop.toBoolean, None))

    private val streams = dut.io.streams
    private val inputs = Seq(streams.rxIn, streams.txIn)
    private val outputs = Seq(streams.rxOut, streams.txOut)
    private def noise(beat: Fragment[BoxBeat]): Unit = {
      beat.data #= BigInt(8 * p.hostBytes, random)
      beat.keep #= (if (random.nextInt(8) == 0) BigInt(p.hostBytes, random) else (BigInt(1) << p.hostBytes) - 1)
      beat.last #= random.nextInt(if (random.nextInt(100) == 0) 2 else 200) == 0
    }
    cd.onSamplings {
      for ((name, i) <- BoxGuard.counts.map(_._1).zipWithIndex)
        if (dut.io.control.counted.toBigInt.testBit(i)) counted(name) += 1
      for ((in, out, queue) <- inputs.lazyZip(outputs).lazyZip(queues)) {
        if (dut.io.boxReset.toBoolean) queue.clear()
        else if (in.valid.toBoolean && in.ready.toBoolean)
          queue.enqueue((in.data.toBigInt, in.keep.toBigInt, in.last.toBoolean))
        val taken = out.valid.toBoolean && out.ready.toBoolean
        mood match {
          case Mood.passes =>
            if (taken && queue.nonEmpty) queue.dequeue()
            in.ready #= queue.size < 4 && random.nextInt(10) > 0
            out.valid #= queue.nonEmpty
            for ((data, keep, last) <- queue.headOption) {
              out.data #= data
              out.keep #= keep
              out.last #= last
            }
          case Mood.hangs =>
            in.ready #= false
            out.valid #= false
          case Mood.crawls =>
            in.ready #= cycles.now % period == 0
            out.valid #= false
          case Mood.babbles => // valid comes and goes, and beats change while they wait
            in.ready #= random.nextBoolean()
            out.valid #= random.nextBoolean()
            noise(out.payload)
          case Mood.floods => // the largest good frames, without a pause
            in.ready #= true
            out.valid #= true
            out.data #= 7
            out.keep #= (BigInt(1) << p.hostBytes) - 1
            if (taken || !out.valid.toBoolean) flood(out) = (flood(out) + 1) % (p.maxFrame / p.hostBytes)
            out.last #= flood(out) == p.maxFrame / p.hostBytes - 1
        }
      }
    }
    private val flood = mutable.Map[AnyRef, Int]().withDefaultValue(0)

    def receive(frame: Array[Byte]): Unit = wire.send(frame) { (meta, _) =>
      meta.port #= 0
      meta.length #= frame.length
      meta.source.inside #= false
      meta.source.isFunction #= false
      meta.source.function #= 0
    }
    def transmit(frame: Array[Byte], drop: Boolean = false): Unit = host.send(frame) { (meta, last) =>
      meta.drop #= drop && last
      meta.paced #= false
      meta.sender.function #= 3
      meta.sender.queue #= 17
    }
    def frame(least: Int = 60): Array[Byte] = randomBytes(least + random.nextInt(300))
    def reset(): Unit = {
      dut.io.control.reset #= true
      cd.waitSampling(1 + random.nextInt(40))
      dut.io.control.reset #= false
      cd.waitSampling(60)
    }
    cd.waitSampling(100)
    def hung = (dut.io.control.rxHung.toBoolean, dut.io.control.txHung.toBoolean)
    def sent = wire.pending == 0 && host.pending == 0
    def same(got: Seq[Array[Byte]], want: Seq[Array[Byte]]): Boolean = got.map(_.toSeq) == want.map(_.toSeq)
  }

  private def run(name: String, seed: Int)(body: (BoxGuard, Bench) => Unit): Unit =
    test(name)(built.doSim(name.take(20).replace(' ', '_'), seed)(dut => body(dut, new Bench(dut, seed))))

  run("a box that passes frames on changes none, and frames that the filter takes back do not reach it", 21) {
    (dut, b) =>
      val rx, tx = mutable.ArrayBuffer[Array[Byte]]()
      for (n <- 0 until 200) {
        b.hostSink.pace(paces(n % 3))
        b.wireSink.pace(paces(n / 3 % 3))
        val (a, c) = (b.frame(), b.frame(least = 14))
        val drop = b.random.nextInt(4) == 0
        b.receive(a)
        b.transmit(c, drop)
        rx += a
        if (!drop) tx += c
        b.cd.waitSampling(b.random.nextInt(30))
      }
      waitFor(b.cd, "all frames")(b.toHost.size == rx.size && b.toWire.size == tx.size)
      b.cd.waitSampling(200)
      assert(b.same(b.toHost.toSeq, rx.toSeq) && b.same(b.toWire.toSeq, tx.toSeq))
      assert(b.counted("rx_passed") == rx.size && b.counted("rx_sent") == rx.size)
      assert(b.counted("tx_passed") == tx.size && b.counted("tx_sent") == tx.size)
      assert(b.counted("rx_dropped") + b.counted("tx_dropped") + b.counted("rx_refused") + b.counted("tx_refused") == 0)
      assert(b.hung == ((false, false)))
  }

  run("the latencies are those that are told", 27) { (dut, b) =>
    val streams = dut.io.streams
    val at = mutable.Map[String, Long]()
    def note[T <: Data](name: String, stream: Stream[Fragment[T]], last: Boolean): Unit = b.cd.onSamplings {
      val here = stream.valid.toBoolean && stream.ready.toBoolean && (!last || stream.last.toBoolean)
      if (here && !at.contains(name)) at(name) = b.cycles.now
    }
    note("rx box", streams.rxOut, last = true)
    note("rx host", dut.io.toHost, last = false)
    note("tx host", dut.io.fromHost, last = true)
    note("tx inlet", streams.txIn, last = false)
    note("tx box", streams.txOut, last = false)
    note("tx wire", dut.io.toWire, last = false)
    b.receive(randomBytes(100))
    b.transmit(randomBytes(100))
    waitFor(b.cd, "both frames", 200)(b.toHost.nonEmpty && b.toWire.nonEmpty)
    assert(at("rx host") - at("rx box") == 6, "receive, behind the box")
    assert(at("tx inlet") - at("tx host") <= 6, "transmit, before the box, with a cycle in which the box may wait")
    assert(at("tx wire") - at("tx box") == 1, "transmit, behind the box")
  }

  run("a hostile box brings only whole frames, and after a reset it is as new", 22) { (dut, b) =>
    for (round <- 0 until 40) {
      b.mood = if (round % 2 == 0) Mood.babbles else Mood.floods
      b.hostSink.pace(paces(round % 3))
      b.wireSink.pace(paces(round / 3 % 3))
      for (_ <- 0 until 10) {
        b.receive(b.frame())
        b.transmit(b.frame(least = 14))
      }
      b.cd.waitSampling(b.random.nextInt(3000))
      b.mood = Mood.passes
      b.reset()
      b.hostSink.pace(1)
      b.wireSink.pace(1)
      waitFor(b.cd, "the frames before")(b.sent)
      b.cd.waitSampling(2500)
      b.toHost.clear()
      b.toWire.clear()
      val (a, c) = (b.frame(), b.frame(least = 14))
      b.receive(a)
      b.transmit(c)
      b.cd.waitSampling(300)
      assert(b.same(b.toHost.toSeq, Seq(a)) && b.same(b.toWire.toSeq, Seq(c)), s"round $round")
    }
    for (name <- Seq("rx_refused", "tx_refused", "rx_sent", "tx_sent")) assert(b.counted(name) > 10, name)
  }

  run("a box that takes nothing hangs in time, no frame waits for it, and a reset ends that", 23) { (dut, b) =>
    b.mood = Mood.hangs
    val since = b.cycles.now
    for (_ <- 0 until 50) {
      b.receive(b.frame())
      b.transmit(b.frame())
    }
    waitFor(b.cd, "the verdict", limit + 100)(b.hung == ((true, true)))
    assert(b.cycles.now - since >= limit)
    waitFor(b.cd, "the frames", 2000)(b.sent)
    b.cd.waitSampling(500)
    assert(b.counted("rx_dropped") == 50 && b.counted("tx_dropped") == 50)
    b.mood = Mood.passes
    b.reset()
    assert(b.hung == ((false, false)))
    val frame = b.frame()
    b.receive(frame)
    b.cd.waitSampling(100)
    assert(b.same(b.toHost.toSeq, Seq(frame)))
  }

  run("a box that takes a beat now and then hangs, and one that takes a tenth of the line rate does not", 28) {
    (dut, b) =>
      b.mood = Mood.crawls
      b.period = BoxWatch.perBeat(p)
      for (_ <- 0 until 200) {
        b.receive(randomBytes(64))
        b.transmit(randomBytes(64))
      }
      b.cd.waitSampling(30 * limit)
      assert(b.hung == ((false, false)) && !b.sent)
      b.period = limit - 10
      waitFor(b.cd, "the verdict", 3 * limit)(b.hung == ((true, true)))
      waitFor(b.cd, "the frames", 3000)(b.sent)
  }

  run("a box that the shell holds up does not hang", 24) { (dut, b) =>
    b.wireSink.pace(0)
    b.hostSink.pace(0)
    for (_ <- 0 until 200) {
      b.receive(b.frame())
      b.transmit(b.frame())
    }
    b.cd.waitSampling(5 * limit)
    assert(b.hung == ((false, false)) && !b.sent)
    b.hostSink.pace(1)
    b.wireSink.pace(1)
    waitFor(b.cd, "all frames")(b.toHost.size == 200 && b.toWire.size == 200)
  }

  run("a box that floods brings the host no more than the wire could", 25) { (dut, b) =>
    b.mood = Mood.floods
    val before = b.cycles.now
    b.cd.waitSampling(100000)
    val bits = b.toHost.map(frame => 8L * (frame.length + 24)).sum.toDouble
    val nanoseconds = (b.cycles.now - before) * 1000.0 / p.hostMhz
    assert(bits / nanoseconds < p.lineRate * 1.05 && bits / nanoseconds > p.lineRate * 0.97)
  }

  run("small frames pass at line rate, back to back", 26) { (dut, b) =>
    for (_ <- 0 until 2000) b.receive(randomBytes(60))
    b.wire.pace(1)
    b.cd.waitSampling(100)
    val (start, had) = (b.cycles.now, b.toHost.size)
    b.cd.waitSampling(8000)
    val rate = (b.toHost.size - had) * 84 * 8.0 / ((b.cycles.now - start) * 1000.0 / p.hostMhz)
    assert(rate > p.lineRate, s"$rate Gb/s of the wire")
  }
}
