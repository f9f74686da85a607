// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** Sends frames to be cut and others, and compares what comes out with what [[Segments]] makes of them. */
class SegmenterTest extends AnyFunSuite {

  /** What has to come: bytes, or none of an error frame, whose bytes mean nothing. */
  case class Want(
      bytes: Option[Seq[Int]],
      queue: Int,
      request: Long,
      cut: Boolean,
      more: Boolean,
      zero: Boolean,
      beats: Option[Int] = None
  )

  class Harness(dut: Segmenter, p: ShellParam, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val width = p.hostBytes
    val cycles = new Cycles(cd)
    val source = new FrameSource(dut.io.h2c, cd)
    val want = mutable.ArrayBuffer[Want]()
    val firstOut, lastOut, firstIn = mutable.ArrayBuffer[Long]()
    var frames, flushed, errors = 0
    var isStrict = false // each queue may ask
    private val bytes = mutable.ArrayBuffer[Int]()
    private var begins = true

    dut.io.flush #= false
    cd.onSamplings {
      if (dut.io.flushed.toBoolean) flushed += 1
      if (dut.io.h2c.valid.toBoolean && dut.io.h2c.ready.toBoolean) {
        if (begins) firstIn += cycles.now
        begins = dut.io.h2c.last.toBoolean
      }
    }
    val sink = new StreamSink(dut.io.frames, cd)({ word =>
      val due = want(frames)
      val meta = word.fragment.meta
      val last = word.last.toBoolean
      val mty = word.fragment.mty.toInt
      if (bytes.isEmpty) firstOut += cycles.now
      assert(last || mty == 0)
      assert(meta.queue.toInt == due.queue, s"queue of frame $frames")
      val request = meta.request.toLong
      assert((request & 0x1ffff) == (due.request & 0x1ffff), "tag")
      bytes ++= toBytes(word.fragment.data.toBigInt, width).take(width - mty).map(_ & 0xff)
      if (due.cut) {
        for (right <- due.bytes) assert((request >> 17 & 1) == (if (v4(right)) 1 else 0), "checksum of IPv4")
        assert((request >> 18 & 1) == 1, "checksum of L4")
      } else assert(request == due.request)
      if (last) {
        assert(meta.more.toBoolean == due.more, s"more of frame $frames")
        assert(meta.error.toBoolean == due.bytes.isEmpty, s"error of frame $frames")
        if (due.bytes.isEmpty) errors += 1
        assert(meta.zero.toBoolean == due.zero)
        // One that ends within its headers may also end as a segment.
        if (!due.beats.exists(_ <= 5))
          assert(meta.refused.toBoolean == due.beats.isDefined, s"refused of frame $frames")
        if (meta.refused.toBoolean)
          assert(due.beats.exists(word.fragment.data.toBigInt == _), s"beats of frame $frames")
        for (right <- due.bytes) assert(bytes.toSeq == right, s"frame $frames")
        bytes.clear()
        lastOut += cycles.now
        frames += 1
      }
    })
    private def v4(frame: Seq[Int]): Boolean = frame(if (frame(12) == 0x81) 16 else 12) == 8

    /** Sends a frame whose stream may end before it does, or go on behind it, or end with an error. */
    def send(frame: Array[Int], segment: Int, length: Int, error: Boolean = false, zero: Boolean = false): Unit = {
      val queue = random.nextInt(16)
      val request = random.nextInt(1 << 19).toLong | segment.toLong << 19
      val stream = Array.tabulate(length)(i => if (i < frame.length) frame(i) else random.nextInt(256))
      val asks = segment != 0 && (isStrict || random.nextInt(8) != 0)
      if (asks) {
        val wrong = if (error) (length - 1) / width * width else length
        val (due, beats) = if (zero) (Seq(None), Some(1)) else Segments(stream, segment, wrong, width)
        for ((bytes, i) <- due.zipWithIndex) {
          val isLast = i + 1 == due.size
          want += Want(bytes, queue, request, cut = true, more = !isLast, zero = zero, beats.filter(_ => isLast))
        }
      } else want += Want(Option.when(!error)(stream.toSeq), queue, request, cut = false, more = false, zero = zero)
      source.send(stream.map(_.toByte)) { (meta, last) =>
        meta.queue #= queue
        meta.request #= request
        meta.segments #= asks
        meta.more #= false
        meta.refused #= false
        meta.outer #= false
        meta.error #= (if (last) error else random.nextBoolean())
        meta.zero #= (if (last) zero else random.nextBoolean())
      }
    }

    def sizes(): Int = Seq(256, 257, 300, 536, 1448, 1460, 4000, 8191)(random.nextInt(8))

    /** A frame of any sort. */
    def any(): Unit = {
      val segment = if (random.nextInt(4) == 0) 0 else if (random.nextInt(20) == 0) random.nextInt(256) else sizes()
      val payload = random.nextInt(8) match {
        case 0 => random.nextInt(3)
        case 1 => segment
        case 2 => 2 * segment + random.nextInt(3) - 1
        case 3 => 1 + random.nextInt(20000)
        case _ => 1 + random.nextInt(4000)
      }
      val frame = Segments.frame(random, payload max 0)
      if (random.nextInt(6) == 0) Segments.spoil(random, frame)
      val length = random.nextInt(8) match {
        case 0 => 1 + random.nextInt(frame.length)
        case 1 => frame.length + random.nextInt(100)
        case _ => frame.length
      }
      send(frame, segment, length, error = random.nextInt(10) == 0)
    }

    def flush(): Unit = {
      dut.io.flush #= true
      cd.waitSampling()
      dut.io.flush #= false
    }

    def drain(): Unit = {
      waitFor(cd, "the last frame", 2000000)(frames == want.size)
      waitFor(cd, "idle", 30000)(dut.io.idle.toBoolean)
    }
  }

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width, queues = 16, segmentation = true)
    lazy val compiled = SimConfig.compile(new Segmenter(p))
    def run(name: String, seed: Int)(body: Harness => Unit): Unit =
      compiled.doSim(s"$name$width", seed)(dut => body(new Harness(dut, p, seed)))

    test(s"$width bytes: frames are cut as their descriptors say, and others pass, in their order") {
      for ((pace, i) <- paces.zipWithIndex) run(s"random$i", 300 + i) { h =>
        h.source.pace(paces((i + 1) % paces.size))
        h.sink.pace(pace)
        for (_ <- 0 until 600) h.any()
        h.send(Array(0), 1448, 1, zero = true)
        h.send(Array(0), 0, 1, zero = true)
        h.any()
        h.drain()
        assert(h.errors > 100 && h.frames - h.errors > 1500, s"${h.errors} of ${h.frames} frames have errors")
      }
    }

    test(s"$width bytes: each length of headers and of the last segment is right") {
      run("lengths", 310) { h =>
        for (n <- 0 until 400) {
          val frame = Segments.frame(h.random, 256 * (n % 3) + 1 + n % (2 * width + 2))
          h.send(frame, 256, frame.length)
        }
        h.drain()
      }
    }

    test(s"$width bytes: a packet of 65,535 bytes is cut, a beat a cycle and two cycles a segment") {
      run("most", 320) { h =>
        h.isStrict = true
        for (segment <- Seq(256, 1448, 8191)) {
          val frame = Segments.plain(h.random, 65535 - 54)
          val before = h.frames
          h.send(frame, segment, frame.length)
          h.drain()
          val cut = h.want.slice(before, h.want.size).flatMap(_.bytes)
          val beats = cut.map(bytes => (bytes.size + width - 1) / width).sum
          val took = h.lastOut.last - h.firstOut(before) + 1
          assert(took <= beats + 2 * cut.size, s"$beats beats of ${cut.size} segments took $took cycles")
        }
      }
    }

    test(s"$width bytes: frames that are not cut pass in the cycle in which they come") {
      run("pass", 330) { h =>
        for (n <- 0 until 200) h.send(Segments.frame(h.random, h.random.nextInt(300)), 0, 60 + h.random.nextInt(100))
        h.drain()
        for ((in, out) <- h.firstIn.zip(h.firstOut)) assert(in == out)
        val beats = h.want.map(w => (w.bytes.get.size + width - 1) / width).sum
        assert(h.lastOut.last - h.firstOut.head + 1 == beats)
      }
    }

    test(s"$width bytes: a flush is answered when all segments of frames that came before have left") {
      run("flush", 340) { h =>
        h.sink.pace(0.3f)
        for (round <- 0 until 30) {
          val frame = Segments.plain(h.random, 5000)
          for (_ <- 0 until 1 + round % 3) h.send(frame, 1000, frame.length)
          h.cd.waitSampling(20 + round * 7)
          val (begun, answered) = (h.firstIn.size, h.flushed)
          h.flush()
          waitFor(h.cd, "the answer", 30000)(h.flushed > answered)
          val left = h.want.take(h.frames).count(!_.more)
          assert(left >= begun, s"round $round: $left of $begun frames have left")
          h.drain()
        }
      }
    }
  }
}
