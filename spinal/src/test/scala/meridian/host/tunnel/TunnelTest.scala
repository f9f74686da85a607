// SPDX-License-Identifier: Apache-2.0
package meridian.host.tunnel

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.host._
import meridian.host.FrameSim._
import meridian.meta.TxMeta
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable
import scala.util.Random

/** Both ends of a tunnel, with the Segmenter and a buffer between them. */
class TunnelBench(p: ShellParam) extends Component {
  val io = new Bundle {
    val h2c = slave(FrameStream(p.hostBytes, H2cMeta(p)))
    val whole = master(FrameStream(p.hostBytes, TxMeta(p)))
    val slow = in Bool () // nothing passes between the ends
    val flush = in Bool ()
    val stripped, prepended = out Bool () // the ends' answers
    val idle = out Bool ()
  }
  val tunnel = new Tunnel(p)
  val segmenter = new Segmenter(p)
  tunnel.strip.io.h2c << io.h2c
  segmenter.io.h2c << tunnel.strip.io.frames
  val between = segmenter.io.frames.queue(256).haltWhen(io.slow)
  val frames = tunnel.prepend.io.frames
  frames.arbitrationFrom(between)
  frames.last := between.last
  frames.data := between.data
  frames.mty := between.mty
  frames.meta.assignDontCare()
  frames.meta.queue.allowOverride() := between.meta.queue
  frames.meta.error.allowOverride() := between.meta.error
  frames.meta.zero.allowOverride() := between.meta.zero
  frames.meta.more.allowOverride() := between.meta.more
  frames.meta.refused.allowOverride() := between.meta.refused
  frames.meta.outer.allowOverride() := between.meta.outer
  io.whole << tunnel.prepend.io.whole
  tunnel.strip.io.flush := io.flush
  segmenter.io.flush := False
  tunnel.prepend.io.flush := io.flush
  io.stripped := tunnel.strip.io.flushed
  io.prepended := tunnel.prepend.io.flushed
  io.idle := tunnel.strip.io.idle && segmenter.io.idle && tunnel.prepend.io.idle && !between.valid
}

/** Frames in tunnels and others, some of them cut, some with faults, against [[Tunnels]] and [[Segments]]. */
class TunnelTest extends AnyFunSuite {

  /** What has to come: bytes, or none of an error frame; and the beats that a refused one stands for. */
  case class Want(bytes: Option[Seq[Int]], queue: Int, more: Boolean, beats: Option[Int] = None)

  class Harness(val dut: TunnelBench, p: ShellParam, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val width = p.hostBytes
    val source = new FrameSource(dut.io.h2c, cd)
    val want = mutable.ArrayBuffer[Want]()
    var frames, beats = 0
    val cycles = new Cycles(cd)
    var firstOut, lastOut = 0L
    private val bytes = mutable.ArrayBuffer[Int]()
    dut.io.flush #= false
    dut.io.slow #= false
    val sink = new StreamSink(dut.io.whole, cd)({ word =>
      val due = want(frames)
      val meta = word.fragment.meta
      val mty = word.fragment.mty.toInt
      if (frames == 0 && bytes.isEmpty) firstOut = cycles.now
      assert(word.last.toBoolean || mty == 0)
      assert(meta.queue.toInt == due.queue && !meta.outer.toBoolean)
      bytes ++= toBytes(word.fragment.data.toBigInt, width).take(width - mty).map(_ & 0xff)
      beats += 1
      if (word.last.toBoolean) {
        assert(meta.error.toBoolean == due.bytes.isEmpty, s"error of frame $frames")
        assert(meta.more.toBoolean == due.more, s"more of frame $frames")
        for (right <- due.bytes) assert(bytes.toSeq == right, s"frame $frames")
        if (due.beats.isDefined) assert(meta.refused.toBoolean, s"frame $frames")
        if (meta.refused.toBoolean)
          for (right <- due.beats) assert(word.fragment.data.toBigInt == right, s"beats of frame $frames")
        bytes.clear()
        lastOut = cycles.now
        frames += 1
      }
    })

    private def stream(
        bytes: Array[Int],
        queue: Int,
        request: Long,
        outer: Boolean,
        segments: Boolean,
        error: Boolean = false,
        zero: Boolean = false
    ) =
      source.send(bytes.map(_.toByte)) { (meta, last) =>
        meta.queue #= queue
        meta.request #= request
        meta.outer #= outer
        meta.segments #= segments
        meta.more #= false
        meta.refused #= false
        meta.error #= (if (last) error else random.nextBoolean())
        meta.zero #= (if (last) zero else random.nextBoolean())
      }

    def plain(): Unit = {
      val queue = random.nextInt(16)
      val frame = Segments.frame(random, random.nextInt(300))
      want += Want(Some(frame.toSeq), queue, more = false)
      stream(frame, queue, random.nextInt(1 << 19).toLong, outer = false, segments = false)
    }

    /** length: of the stream, which may end before the frame does. size: of a segment; 0: it is not cut. */
    def tunnel(whole: Tunnels.Framed, size: Int, length: Int, error: Boolean = false): Unit = {
      val queue = random.nextInt(16)
      val frame = whole.copy(bytes = whole.bytes.take(length))
      val all = (length + width - 1) / width
      Tunnels.inner(frame) match {
        case _ if whole.start < OuterHeaders.least || whole.start > OuterHeaders.most || whole.start % 2 == 1 =>
          want += Want(None, queue, more = false)
        case None                    => want += Want(None, queue, more = false, Some(all))
        case Some(inner) if size > 0 =>
          // Where the last beat of the stream begins, in the beats of the packet.
          val wrong = if (error) (inner.length - 1) / width * width else inner.length
          val (made, behind) = Segments(inner, size, wrong, width, least = 512)
          val gone = (whole.start - 14) / width
          for ((bytes, n) <- made.zipWithIndex) {
            val isLast = n + 1 == made.size
            val beats = behind.filter(_ => isLast && !error).map(_ + gone).filter(_ > 5 + gone)
            want += Want(bytes.map(Tunnels.outer(frame, _, n)), queue, more = !isLast, beats)
          }
        case _ => want += Want(Option.when(!error)(frame.bytes.toSeq), queue, more = false)
      }
      stream(frame.bytes, queue, size.toLong << 19 | whole.start, outer = true, segments = size > 0, error)
    }

    /** A transfer of no bytes, which has a beat of its own. */
    def nothing(): Unit = {
      val queue = random.nextInt(16)
      want += Want(None, queue, more = false, Some(1))
      val size = if (random.nextBoolean()) 0 else 512
      stream(Array(0), queue, size.toLong << 19 | 50, outer = true, segments = size > 0, zero = true)
    }

    def any(): Unit = if (random.nextInt(4) == 0) plain()
    else if (random.nextInt(20) == 0) nothing()
    else {
      val size = if (random.nextInt(3) == 0) 0 else Seq(511, 512, 513, 1388, 4000)(random.nextInt(5))
      val payload = if (random.nextInt(4) == 0) 1 + random.nextInt(40) else 1 + random.nextInt(5000)
      val frame = Segments.frame(random, payload)
      if (random.nextInt(8) == 0) Segments.spoil(random, frame)
      val whole = Tunnels.around(random, frame)
      val length = if (random.nextInt(5) == 0) 1 + random.nextInt(whole.bytes.length) else whole.bytes.length
      val start = if (random.nextInt(20) == 0) Seq(2, 14, 32, 33, 35, 129, 130, 254)(random.nextInt(8)) else whole.start
      tunnel(whole.copy(start = start), size, length, error = random.nextInt(12) == 0)
    }

    def drain(): Unit = {
      waitFor(cd, "the last frame", 2000000)(frames == want.size)
      waitFor(cd, "idle", 30000)(dut.io.idle.toBoolean)
    }
  }

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width, queues = 16, segmentation = true)
    lazy val compiled = SimConfig.compile(new TunnelBench(p))
    def run(name: String, seed: Int)(body: Harness => Unit): Unit =
      compiled.doSim(s"$name$width", seed)(dut => body(new Harness(dut, p, seed)))

    test(s"$width bytes: frames in tunnels and their segments have their outer headers, in the order of the frames") {
      for ((pace, i) <- paces.zipWithIndex) run(s"random$i", 400 + i) { h =>
        h.source.pace(paces((i + 1) % paces.size))
        h.sink.pace(pace)
        for (_ <- 0 until 520) h.any()
        h.drain()
        assert(h.want.count(_.bytes.isEmpty) > 40 && h.want.count(_.bytes.isDefined) > 500)
      }
    }

    test(s"$width bytes: each place of an inner packet and each length is right") {
      run("places", 410) { h =>
        for (n <- 0 until 3 * width; start <- OuterHeaders.least to OuterHeaders.most by 2 if (n + start) % 6 < 2) {
          val noise = Array.fill(start)(h.random.nextInt(256))
          val packet = Segments.frame(h.random, 1).drop(14) // perhaps with a tag's rest, which nobody looks at
          val whole = Tunnels.Framed(noise ++ packet ++ Array.fill(n)(h.random.nextInt(256)), start)
          h.tunnel(whole, 0, start + n.min(packet.length + n) max 1)
        }
        h.drain()
      }
    }

    test(s"$width bytes: the outer IPv4 identification wraps to 0, and zero checksums are correct") {
      run("numbers", 420) { h =>
        for (number <- Seq(0xfffd, 0xfffe, 0xffff, 0); target <- Seq(0, 1, 2, 0xfffe, 0xffff)) {
          val frame = Segments.plain(h.random, 1500)
          var whole = Tunnels.around(h.random, frame)
          while (whole.bytes(12) != 8) whole = Tunnels.around(h.random, frame)
          val bytes = whole.bytes
          bytes(18) = number >> 8
          bytes(19) = number & 0xff
          bytes(24) = 0
          bytes(25) = 0
          // An address that makes the checksum what it is to be, if it can be that.
          val found = (0 to 0xffff).find { value =>
            bytes(26) = value >> 8
            bytes(27) = value & 0xff
            Tunnels.checksum(bytes.slice(14, 34).toSeq) == target
          }
          val sum = Tunnels.checksum(bytes.slice(14, 34).toSeq)
          assert(found.isDefined || target == 0xffff)
          bytes(24) = sum >> 8
          bytes(25) = sum & 0xff
          h.tunnel(whole, 512, bytes.length)
        }
        h.drain()
      }
    }

    test(s"$width bytes: frames wait for room for their headers, and none is lost") {
      run("room", 430) { h =>
        h.dut.io.slow #= true
        for (_ <- 0 until 60) {
          val whole = Tunnels.around(h.random, Segments.plain(h.random, 1))
          h.tunnel(whole, 0, whole.bytes.length)
          h.plain()
        }
        h.cd.waitSampling(2000)
        assert(h.source.pending > 60 && h.frames == 0)
        h.dut.io.slow #= false
        h.drain()
      }
    }

    test(s"$width bytes: other frames pass without a cycle, and a frame in a tunnel takes a beat a cycle") {
      run("pace", 440) { h =>
        val whole = Tunnels.around(h.random, Segments.plain(h.random, 8000))
        for (_ <- 0 until 8) h.tunnel(whole, 0, whole.bytes.length)
        h.drain()
        val took = h.lastOut - h.firstOut + 1
        assert(took <= h.beats + 8 * 8, s"${h.beats} beats took $took cycles")
      }
    }

    test(s"$width bytes: a flush is answered when what came before has left, and not before") {
      run("flush", 450) { h =>
        var stripped, prepended = 0
        h.cd.onSamplings {
          if (h.dut.io.stripped.toBoolean) stripped += 1
          if (h.dut.io.prepended.toBoolean) prepended += 1
        }
        for (round <- 0 until 20) {
          val before = (stripped, prepended)
          // More than there is room for behind either end.
          for (_ <- 0 until 4) {
            val whole = Tunnels.around(h.random, Segments.plain(h.random, 8000))
            h.tunnel(whole, 512, whole.bytes.length)
          }
          h.sink.pace(0)
          h.cd.waitSampling(600 + round)
          h.dut.io.flush #= true
          h.cd.waitSampling()
          h.dut.io.flush #= false
          h.cd.waitSampling(300)
          assert(h.source.pending > 0 && h.dut.io.whole.valid.toBoolean)
          // OuterPrepend has nothing to wait for while the block before it still has the frame.
          assert(stripped == before._1, "an answer comes too early")
          h.sink.pace(0.3f)
          waitFor(h.cd, "the answers", 30000)(stripped > before._1 && prepended > before._2)
          h.drain()
          assert((stripped, prepended) == (before._1 + 1, before._2 + 1))
        }
      }
    }
  }
}
