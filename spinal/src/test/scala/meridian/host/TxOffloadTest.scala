// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

class TxOffloadTest extends AnyFunSuite {

  /** A frame and what its descriptor asks for: both checksums, a tag. */
  case class Sent(
      bytes: Array[Int],
      queue: Int,
      ip: Boolean = false,
      l4: Boolean = false,
      tag: Option[Int] = None,
      error: Boolean = false
  )

  class Harness(dut: TxOffload, p: ShellParam, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val width = p.hostBytes
    val cycles = new Cycles(cd)
    val source = new FrameSource(dut.io.h2c, cd)
    val sent = mutable.ArrayBuffer[Sent]()
    val firstIn, lastIn, firstOut, lastOut = mutable.ArrayBuffer[Long]()
    val allowed = mutable.Set[Int]()
    var stalls, flushed, unfilled = 0
    var strict = true // the switches have not changed
    private val bytes = mutable.ArrayBuffer[Int]()
    private var begins = true
    private var (right, missing) = (Array[Int](), false)

    dut.io.flush #= false
    dut.io.switches.valid #= false
    cd.onSamplings {
      if (dut.io.flushed.toBoolean) flushed += 1
      val h2c = dut.io.h2c
      if (h2c.valid.toBoolean && !h2c.ready.toBoolean) stalls += 1
      if (h2c.valid.toBoolean && h2c.ready.toBoolean) {
        if (begins) firstIn += cycles.now
        begins = h2c.last.toBoolean
        if (begins) lastIn += cycles.now
      }
    }
    val sink = new StreamSink(dut.io.frames, cd)({ word =>
      val frame = sent(lastOut.size)
      val meta = word.fragment.meta
      val mty = word.fragment.mty.toInt
      assert(word.last.toBoolean || mty == 0)
      val may = allowed(frame.queue)
      if (bytes.isEmpty) {
        firstOut += cycles.now
        val now = IpFrames.filled(frame.bytes, frame.ip && may, frame.l4 && may)
        right = now._1
        missing = now._2
      }
      bytes ++= toBytes(word.fragment.data.toBigInt, width).take(width - mty).map(_ & 0xff)
      assert(meta.queue.toInt == frame.queue)
      if (strict) {
        assert(meta.unfilled.toBoolean == missing || frame.bytes.length > p.maxFrame)
        assert(meta.tag.insert.toBoolean == (frame.tag.isDefined && may))
        for (tci <- frame.tag if may) assert(meta.tag.tci.toInt == tci)
      }
      if (word.last.toBoolean) {
        lazy val full = IpFrames.filled(frame.bytes, frame.ip, frame.l4)._1.toSeq
        lazy val hex = s"frame ${lastOut.size} of ${frame.bytes.length}: ${bytes.map(b => f"$b%02x").mkString}"
        if (strict && frame.bytes.length <= p.maxFrame) assert(bytes == right.toSeq, hex)
        else assert(bytes == frame.bytes.toSeq || bytes == full, hex)
        assert(meta.error.toBoolean == frame.error)
        if (meta.unfilled.toBoolean) unfilled += 1
        bytes.clear()
        lastOut += cycles.now
      }
    })

    def switch(queue: Int, on: Boolean): Unit = {
      dut.io.switches.valid #= true
      dut.io.switches.queue #= queue
      dut.io.switches.transmitOffload #= on
      cd.waitSampling()
      dut.io.switches.valid #= false
      if (on) allowed += queue else allowed -= queue
    }
    for (queue <- 0 until 16) switch(queue, queue % 4 != 3)

    def send(frame: Sent): Unit = {
      sent += frame
      source.send(frame.bytes.map(_.toByte)) { (meta, last) =>
        meta.queue #= frame.queue
        meta.error #= (if (last) frame.error else random.nextBoolean())
        meta.zero #= false
        val request = frame.tag.fold(random.nextInt(1 << 16))(1 << 16 | _)
        meta.request #= request | (if (frame.ip) 1 << 17 else 0) | (if (frame.l4) 1 << 18 else 0)
      }
    }

    /** IP packets of all sorts, with all wishes. */
    def any(payload: Int): Sent = Sent(
      IpFrames.scrambled(random, IpFrames.random(random, payload)),
      random.nextInt(16),
      random.nextInt(3) != 0,
      random.nextInt(3) != 0,
      Option.when(random.nextInt(4) == 0)(random.nextInt(1 << 16)),
      random.nextInt(10) == 0
    )

    /** A UDP datagram over IPv4 in a frame of that many bytes, asking for all. */
    def udp(length: Int, queue: Int = 0): Sent = {
      val bytes = Array.fill(length)(random.nextInt(256))
      def word(at: Int, value: Int): Unit = { bytes(at) = value >> 8; bytes(at + 1) = value & 0xff }
      word(12, 0x0800)
      word(14, 0x4500)
      word(16, length - 14)
      word(20, 0)
      bytes(23) = 17
      word(38, length - 34)
      Sent(bytes, queue, ip = true, l4 = true)
    }
    def drain(): Unit = {
      waitFor(cd, "the last frame", 400000)(lastOut.size == sent.size)
      waitFor(cd, "idle", 10)(dut.io.idle.toBoolean)
    }
  }

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width, queues = 16)
    lazy val compiled = SimConfig.compile(new TxOffload(p))
    def run(name: String, seed: Int)(body: Harness => Unit): Unit =
      compiled.doSim(s"$name$width", seed)(dut => body(new Harness(dut, p, seed)))

    test(s"$width bytes: frames get the checksums they ask for, if their queue may ask, in their order") {
      for ((pace, i) <- paces.zipWithIndex) run(s"random$i", 700 + i) { h =>
        h.source.pace(paces((i + 1) % paces.size))
        h.sink.pace(pace)
        for (n <- 0 until 2500)
          h.send(h.any(if (n % 100 == 0) h.random.nextInt(9500) else h.random.nextInt(if (n % 2 == 0) 30 else 200)))
        for (length <- 1 to 3 * width) h.send(h.any(0).copy(bytes = h.any(200).bytes.take(length)))
        h.drain()
        assert(h.unfilled > 300 && h.sent.size - h.unfilled > 1000)
      }
    }

    test(s"$width bytes: a UDP checksum of 0 is told as ones, a TCP checksum of 0 is 0") {
      run("zero", 710) { h =>
        for (protocol <- Seq(17, 6)) {
          val frame = h.udp(64)
          frame.bytes(23) = protocol
          val at = if (protocol == 17) 40 else 50
          for (i <- Seq(at, at + 1, 60, 61)) frame.bytes(i) = 0
          // A word of the data takes what the checksum would have been.
          val (bytes, _) = IpFrames.filled(frame.bytes, ip = false, l4 = true)
          val zero = frame.copy(bytes = frame.bytes.patch(60, bytes.slice(at, at + 2), 2))
          val want = IpFrames.filled(zero.bytes, ip = true, l4 = true)._1.slice(at, at + 2).toSeq
          assert(want == (if (protocol == 17) Seq(0xff, 0xff) else Seq(0, 0)))
          h.send(zero)
        }
        h.drain()
      }
    }

    test(s"$width bytes: frames of any size pass without a bubble, whatever they ask for") {
      run("speed", 711) { h =>
        for (length <- Seq(60, 64, 65, 66, 127, 128, 129, 300, 1514, 9600)) {
          val before = h.lastOut.size
          for (n <- 0 until 40) h.send(h.udp(length, n % 4)) // one in four may not ask
          h.drain()
          val beats = (length + width - 1) / width
          val (first, last) = (h.firstOut(before), h.lastOut.last)
          assert(last - first == 40L * beats - 1, s"a beat was lost between frames of $length bytes")
        }
        for (n <- 0 until 3000) h.send(h.udp(if (n % 50 == 0) 9600 else 60 + h.random.nextInt(80), h.random.nextInt(4)))
        h.drain()
        assert(h.stalls == 0, "the input stalled")
      }
    }

    test(s"$width bytes: a frame leaves after 6 cycles, and one that asks for a checksum 16 after its end") {
      run("through", 712) { h =>
        h.send(Sent(h.udp(9600).bytes, 0))
        h.send(h.udp(64))
        h.drain()
        val (through, waits) = (h.firstOut(0) - h.firstIn(0), h.firstOut(1) - h.lastIn(1))
        println(s"$width bytes: $through cycles without, $waits after the end with a checksum")
        assert(through == 6 && h.lastOut(0) - h.lastIn(0) == through)
        assert(waits == 16)
      }
    }

    test(s"$width bytes: a frame of any length passes, and one that is too long without its checksums") {
      run("long", 713) { h =>
        for (length <- Seq(9600, 9601, 9600 + 2 * width, 40000, 65535)) {
          h.send(h.udp(length))
          h.send(h.udp(60))
          h.send(h.udp(60, 3))
        }
        val huge = Array.fill(200000)(h.random.nextInt(256))
        h.send(Sent(huge, 0, ip = true, l4 = true))
        h.send(h.udp(100))
        h.drain()
      }
    }

    test(s"$width bytes: a stalled output stalls the input, and nothing is lost") {
      run("full", 714) { h =>
        h.sink.pace(0.0f)
        for (n <- 0 until 1200) h.send(h.udp(60 + n % 10))
        h.cd.waitSampling(3000)
        assert(h.stalls > 1000 && h.lastOut.isEmpty)
        h.sink.pace(1.0f)
        h.drain()
      }
    }

    test(s"$width bytes: switches that change while frames pass take nothing but their offload") {
      run("switches", 715) { h =>
        h.strict = false
        h.sink.pace(0.7f)
        for (_ <- 0 until 800) h.send(h.any(h.random.nextInt(150)).copy(tag = None))
        while (h.lastOut.size < h.sent.size) {
          h.switch(h.random.nextInt(16), h.random.nextBoolean())
          h.cd.waitSampling(h.random.nextInt(4))
          assert(h.cycles.now < 100000)
        }
      }
    }

    test(s"$width bytes: a flush is answered when all that was begun has left") {
      compiled.doSim(s"flush$width", 716) { dut =>
        val h = new Harness(dut, p, 716)
        def flush(): Unit = { dut.io.flush #= true; h.cd.waitSampling(); dut.io.flush #= false }
        flush()
        h.cd.waitSampling(4)
        assert(h.flushed == 1)
        h.sink.pace(0.0f)
        for (_ <- 0 until 5) h.send(h.udp(100))
        h.cd.waitSampling(60)
        flush()
        h.cd.waitSampling(60)
        assert(h.flushed == 1 && !dut.io.idle.toBoolean)
        h.sink.pace(1.0f)
        for (_ <- 0 until 400) h.send(h.udp(100))
        h.cd.waitSampling(60)
        assert(h.flushed == 2 && h.lastOut.size < 400, "frames that came later do not matter")
        h.drain()
      }
    }
  }
}
