// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.descriptor.PushChunk
import meridian.dma.engine.CqDecoder
import meridian.dma._
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib._

/** Decoder and encoder between a host and registers that are a memory. */
class CompleterTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 0, 0, 0), queues = 16)

  class Bench extends Component {
    val cq = slave(Stream(Fragment(CqBeat())))
    val cc = master(Stream(Fragment(CcBeat())))
    val access = master(Stream(HostAccess()))
    val value = slave(Stream(Bits(32 bits)))
    val partial = master(Flow(HostAccess()))
    val decoder = new CqDecoder(p)
    val encoder = new CcEncoder
    decoder.io.cq << cq
    encoder.io.header << decoder.io.header
    decoder.io.access >> access
    partial << decoder.io.partial
    val push = master(Flow(PushChunk()))
    push << decoder.io.push
    val busy = in Bool ()
    decoder.io.busy := busy
    encoder.io.value << value
    cc << encoder.io.cc
  }

  class Harness(dut: Bench, pace: Float) {
    val cd = clocked(dut)
    val pins = dut
    val host = new PcieHost(dut.cq, dut.cc, cd, pace)
    val memory = mutable.Map[(Int, Int), Long]().withDefault { case (f, offset) =>
      0x01000193L * (f * 65536 + offset + 1) & 0xffffffffL
    }

    /** A function's BAR as a part of the memory. */
    def place(function: Int, bar: Int): Int = 256 * bar + function
    var writes, partials = 0
    private val answers = mutable.Queue[Long]()
    dut.value.valid #= false
    dut.access.ready #= false
    dut.busy #= false
    cd.onSamplings {
      if (dut.access.valid.toBoolean && dut.access.ready.toBoolean) {
        val word = dut.access.access
        val bar = if (dut.access.isBar2.toBoolean) 2 else 0
        assert(bar == 2 || dut.access.upper.toInt == 0)
        val at = (place(word.function.toInt, bar), dut.access.upper.toInt << 18 | word.offset.toInt)
        if (word.write.toBoolean) {
          memory(at) = word.data.toLong
          writes += 1
        } else answers.enqueue(memory(at))
      }
      if (dut.partial.valid.toBoolean) partials += 1
      if (dut.value.valid.toBoolean && dut.value.ready.toBoolean) answers.dequeue()
      dut.value.valid #= answers.nonEmpty
      if (answers.nonEmpty) dut.value.payload #= answers.head
      // As the registers do it: one access at a time.
      dut.access.ready #= answers.isEmpty && simRandom.nextFloat() < pace
    }
    cd.waitSampling(5)

    def settle(): Unit = {
      waitFor(cd, "the end of all requests")(host.pending == 0)
      cd.waitSampling(60)
    }

    /** What the host asks for, in one or more completions. */
    def check(request: HostRequest): Unit = {
      host.send(request)
      var left =
        if (request.dwords == 1) span(request.firstBe)
        else
          4 * request.dwords - Integer.numberOfTrailingZeros(request.firstBe) - (3 - msb(request.lastBe))
      val skipped = if (request.firstBe == 0) 0 else Integer.numberOfTrailingZeros(request.firstBe)
      var lower = (request.address.toInt + skipped) & 0x7f
      val words = mutable.ArrayBuffer[Long]()
      while (words.size < request.dwords) {
        waitFor(cd, "a completion", 100000)(host.completions.nonEmpty)
        val c = host.completions.dequeue()
        assert(
          c.status == 0 && c.tag == request.tag && c.requester == request.requester && c.function == request.function
        )
        assert(c.trafficClass == request.trafficClass && c.attributes == request.attributes && !c.locked)
        assert(c.lowerAddress == lower && c.byteCount == left && c.dwords == c.words.size)
        // No completion crosses the boundary, and all but the last end at it.
        assert((lower >> 2) + c.dwords <= 32)
        words ++= c.words
        assert(words.size == request.dwords || (lower >> 2) + c.dwords == 32)
        left -= 4 * c.dwords - (lower & 3)
        lower = 0
      }
      val offset = request.address.toInt & ((1 << request.aperture) - 1)
      val of = place(request.function, request.bar)
      assert(words == (0 until request.dwords).map(i => memory((of, offset + 4 * i))))
    }
    private def msb(bits: Int) = 31 - Integer.numberOfLeadingZeros(bits)
    private def span(bits: Int) = if (bits == 0) 1 else msb(bits) - Integer.numberOfTrailingZeros(bits) + 1
  }

  lazy val compiled = SimConfig.compile(new Bench)
  def run(name: String, pace: Float = 1.0f)(body: Harness => Unit): Unit =
    compiled.doSim(name, 3)(dut => body(new Harness(dut, pace)))

  private val firsts = Seq(1, 2, 4, 8, 3, 6, 12, 7, 14, 15, 5, 9, 10, 11, 13)
  private val multiple = Seq(15, 14, 12, 8)
  private val ends = Seq(15, 7, 3, 1)

  for (pace <- Seq(1.0f, 0.4f)) test(s"reads of any length, place and bytes are answered, pace $pace") {
    run("reads", pace) { h =>
      for ((firstBe, i) <- (0 +: firsts).zipWithIndex)
        h.check(HostRequest.read(0, 4 * i, tag = i).copy(firstBe = firstBe, trafficClass = i % 8, attributes = i % 7))
      for (i <- 0 until 60) {
        val dwords = if (i == 0) 1024 else 2 + simRandom.nextInt(if (i % 10 == 0) 300 else 40)
        val function = Seq(0, 1, 4, 5)(simRandom.nextInt(4))
        val offset = 4 * simRandom.nextInt(4096)
        h.check(
          HostRequest
            .read(function, offset, tag = simRandom.nextInt(256))
            .copy(
              dwords = dwords,
              firstBe = multiple(i % 4),
              lastBe = ends(i / 4 % 4),
              aperture = if (function < 4) 18 else 15
            )
        )
      }
    }
  }

  test("what is not supported is answered once, with what the block logs, and holds nothing up") {
    run("unsupported", 0.7f) { h =>
      val bad = Seq(
        HostRequest.read(0, 0x40).copy(bar = 1),
        HostRequest.read(0, 0x40).copy(bar = 6),
        HostRequest.read(6, 0x40),
        HostRequest.read(200, 0x40),
        HostRequest.read(0, 0x40).copy(dwords = 0),
        HostRequest(RequestKind.lockedRead, 0x1004, dwords = 3, firstBe = 14, lastBe = 3),
        HostRequest(RequestKind.ioRead, 0x10),
        HostRequest(RequestKind.ioWrite, 0x10, payload = Seq(1)),
        HostRequest(RequestKind.atomics(0), 0x10, dwords = 2, payload = Seq(1, 2)),
        HostRequest(RequestKind.atomics(2), 0x10, dwords = 8, payload = (1L to 8L)),
        HostRequest(8, 0x10),
        HostRequest(11, 0x10, payload = Seq(1))
      )
      for (round <- 0 until 3; (request, i) <- bad.zipWithIndex) {
        val asked = request.copy(tag = 16 * round + i, trafficClass = i % 8)
        val c = h.host.read(asked)
        assert(c.status == 1 && c.tag == asked.tag && c.requester == asked.requester && c.dwords == 0, s"request $i")
        assert(c.locked == (asked.kind == RequestKind.lockedRead) && c.trafficClass == asked.trafficClass)
        val expected =
          if (asked.kind == RequestKind.lockedRead) (5, 9)
          else if (asked.kind == RequestKind.memoryRead) (0x40, 4)
          else (0, 4)
        if (asked.dwords != 0) assert((c.lowerAddress, c.byteCount) == expected, s"request $i")
        // Behind the descriptor: byte enables, then the request.
        assert(c.words.head == (asked.firstBe | asked.lastBe << 4))
        assert(c.words.tail.zipWithIndex.map { case (w, j) => BigInt(w) << (32 * j) }.sum == asked.descriptor)
        h.check(HostRequest.read(1, 0x80, tag = 255))
      }
      assert(h.writes == 0)
    }
  }

  test("what is posted and not for registers ends without an answer") {
    run("posted", 0.7f) { h =>
      val long = (1L to 21L)
      val posted = Seq(
        HostRequest(RequestKind.messages(0)),
        HostRequest(RequestKind.messages(1), dwords = 21, payload = long),
        HostRequest(RequestKind.messages(2), dwords = 2, payload = Seq(1, 2)),
        HostRequest(15),
        HostRequest.write(0, 0x10, 1).copy(bar = 5),
        HostRequest.write(0, 0x10, 1).copy(bar = 3),
        HostRequest.write(3, 0x10, 1).copy(function = 77),
        HostRequest.write(0, 0x10, 1).copy(discontinue = true),
        HostRequest.write(0, 0x10, 1).copy(sop = false),
        HostRequest.write(0, 0x10, 1).copy(sop = false, dwords = 21, payload = long)
      )
      for (_ <- 0 until 3) {
        for (request <- simRandom.shuffle(posted)) h.host.send(request)
        h.check(HostRequest.read(0, 0x10))
      }
      h.settle()
      assert(h.writes == 0 && h.partials == 0 && h.host.completions.isEmpty)
    }
  }

  test("reads and writes of BAR2 arrive with all bits of their offset") {
    run("bar2", 0.6f) { h =>
      for (i <- 0 until 40) {
        val function = Seq(0, 3, 4, 5)(simRandom.nextInt(4))
        val aperture = if (function < 4) 22 else 12
        val offset = 4 * simRandom.nextInt(1 << (aperture - 4))
        val request = HostRequest.read(function, offset).copy(bar = 2, aperture = aperture)
        val payload = Seq.fill(1 + simRandom.nextInt(4))(simRandom.nextInt() & 0xffffffffL)
        h.host.send(request.copy(kind = RequestKind.memoryWrite, dwords = payload.size, payload = payload))
        h.check(request.copy(dwords = payload.size, lastBe = if (payload.size == 1) 0 else 15))
        assert(payload.indices.map(j => h.memory((h.place(function, 2), offset + 4 * j))) == payload)
        h.check(request.copy(bar = 0, address = 0xf0000000L + (offset & 0xffc)))
      }
    }
  }

  test(
    "writes of the window of pushed frames arrive in words of 8 bytes behind other accesses, and reads of it give zeros"
  ) {
    run("push", 0.6f) { h =>
      val words = mutable.Map[(Int, Int), BigInt]()
      h.cd.onSamplings {
        val push = h.pins.push
        if (push.valid.toBoolean)
          for (i <- 0 until 4)
            if ((push.whole.toInt >> i & 1) == 1)
              words((push.function.toInt, push.place.toInt + i)) = push.words(i).toBigInt
      }
      for (i <- 0 until 60) {
        val function = Seq(0, 3, 4, 5)(simRandom.nextInt(4))
        val aperture = if (function < 4) 18 else 15
        val (dwords, offset) = (1 + simRandom.nextInt(70), 4 * simRandom.nextInt((1 << aperture - 2) - 70))
        val payload = Seq.fill(dwords)(simRandom.nextInt() & 0xffffffffL)
        val enables = payload.map(_ => if (simRandom.nextInt(8) == 0) 7 else 15)
        val request = HostRequest.write(function, offset, 0).copy(bar = 4, aperture = aperture)
        words.clear()
        h.pins.busy #= true
        h.host.send(request.copy(dwords = dwords, payload = payload, enables = enables))
        h.cd.waitSampling(40)
        assert(words.isEmpty, "a write of the window is ahead of an access that is under way")
        h.pins.busy #= false
        h.settle()
        val whole = for {
          j <- 0 until dwords - 1
          if offset % 8 == 0 && j % 2 == 0 && enables(j) == 15 && enables(j + 1) == 15
        } yield (function, offset / 8 + j / 2) -> (BigInt(payload(j + 1)) << 32 | payload(j))
        assert(words.toMap == whole.toMap)
      }
      assert(h.writes == 0)
      // A read is one of a place where no register is.
      for (i <- 0 until 8) {
        h.host.send(HostRequest.read(0, 0x404 * i).copy(bar = 4))
        waitFor(h.cd, "the answer")(h.host.completions.nonEmpty)
        val at = h.host.completions.dequeue()
        assert(at.status == 0 && at.words == Seq(h.memory((0, 0x3f000 + 0x404 * i % 4096))))
      }
    }
  }

  test("each whole word of a write arrives, and one written in part is told") {
    run("writes", 0.6f) { h =>
      for (dwords <- Seq(1, 2, 4, 5, 12, 13, 40)) {
        val payload = Seq.fill(dwords)(simRandom.nextInt() & 0xffffffffL)
        h.host.send(HostRequest.write(4, 0x400, 0).copy(dwords = dwords, payload = payload, aperture = 15))
        h.settle()
        assert((0 until dwords).map(i => h.memory((4, 0x400 + 4 * i))) == payload)
      }
      val before = h.writes
      h.host.send(
        HostRequest.write(0, 0x100, 0).copy(dwords = 4, payload = Seq(1, 2, 3, 4), enables = Seq(12, 15, 0, 7))
      )
      h.settle()
      assert(h.writes == before + 1 && h.partials == 2 && h.memory((0, 0x104)) == 2)
      assert(h.host.completions.isEmpty)
      // The last beat of a long one is spoiled: the words before it have arrived, those in it do not.
      val old = h.writes
      h.host.send(HostRequest.write(0, 0x100, 0).copy(dwords = 14, payload = 1L to 14L, discontinue = true))
      h.settle()
      assert(h.writes == old + 12)
      h.check(HostRequest.read(0, 0x100).copy(dwords = 14, lastBe = 15))
    }
  }
}
