// SPDX-License-Identifier: Apache-2.0
package meridian

import meridian.host.FrameSim._
import meridian.host.{Cycles, FrameSource}
import meridian.regs.RegMaster
import meridian.selftest._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._
import spinal.lib.sim.StreamDriver

import scala.collection.mutable
import scala.util.Random

/** The self-test in the host side: settings through BAR2, frames at the QDMA pins, and a program on the host that posts
  * buffers and sends frames back. At every frame the host is asked whether it had given the buffers.
  */
class ShellSelfTestTest extends AnyFunSuite {
  private val p = ShellParam(
    functions = 6,
    queues = 32,
    macEntries = 16,
    groups = 2,
    psAddresses = 1,
    copyBufferBytes = 32768,
    selfTest = true
  )
  private lazy val built = SimConfig.compile {
    val dut = new HostSide(p)
    dut.selfTest.test.now.simPublic()
    dut
  }
  private val page = 0x117000
  private def code(e: spinal.core.SpinalEnum, name: String) = e.elements.indexWhere(_.getName() == name)
  private def refusal(name: String) = code(SelfTestRefusal, name)
  private def end(name: String) = code(SelfTestEnd, name)

  case class Frame(queue: Int, bytes: Array[Byte])

  private class Bench(dut: HostSide, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val cycles = new Cycles(cd)
    val qdma = dut.io.qdma
    val wire = new FrameSource(dut.io.rx(0), cd)
    val bar2 = new RegMaster(dut.io.axi, cd, Some(dut.io.awuser), Some(dut.io.aruser), random)
    var c2hPace, returnPace = 1.0
    val posted = mutable.Map[Int, Int]().withDefaultValue(0)
    val got = mutable.ArrayBuffer[Frame]()
    var gotAt = mutable.ArrayBuffer[Long]()
    var tx = 0 // frames for the wire
    var doneAt = Option.empty[Long]
    var back: Frame => Option[Frame] = _ => None // what the program sends back
    val latencies = mutable.ArrayBuffer[BigInt]()
    private val bytes = mutable.ArrayBuffer[Byte]()
    private val messages = mutable.Queue[(Int, Int)]()
    private var newH2c = true
    val bufferBytes = 2048

    dut.io.psLinkUp #= 1
    dut.io.psHostRxEnable #= 1
    dut.io.psHostTxEnable #= 1
    dut.io.build_date #= 0
    dut.io.cardTimeout #= false
    dut.io.card.cmd.ready #= true
    dut.io.card.rsp.valid #= false
    val ps = dut.io.ps(0)
    ps.lost #= false
    ps.filter.enable #= false
    ps.filter.valid #= 0
    ps.frames.valid #= false
    ps.query.valid #= false
    ps.idle #= true
    dut.io.txPaced.foreach(_ #= 0)
    qdma.axis_c2h_status.valid #= false
    qdma.tm_dsc_sts.valid #= false
    qdma.dsc_crdt_in.ready #= true
    qdma.s_axis_c2h_cmpt.ready #= true
    qdma.usr_flr_set #= false
    qdma.usr_flr_fnc #= 0
    dut.io.tx(0).ready #= true
    val (h2c, h2cBeats) = StreamDriver.queue(qdma.m_axis_h2c, cd)

    cd.onSamplings {
      val pins = qdma.s_axis_c2h
      if (pins.valid.toBoolean && pins.ready.toBoolean) {
        if (bytes.isEmpty) {
          val needed = (pins.ctrl_len.toInt + bufferBytes - 1) / bufferBytes
          val queue = pins.ctrl_qid.toInt
          assert(posted(queue) >= needed, s"a frame without a buffer of queue $queue")
          posted(queue) -= needed
        }
        bytes ++= toBytes(pins.tdata.toBigInt, p.hostBytes)
        if (pins.tlast.toBoolean) {
          got += Frame(pins.ctrl_qid.toInt, bytes.take(pins.ctrl_len.toInt).toArray)
          gotAt += cycles.now
          bytes.clear()
          back(got.last).foreach(sendBack)
        }
      }
      val h = qdma.m_axis_h2c
      if (h.valid.toBoolean && h.ready.toBoolean) {
        // It leaves H2cIngress in the next cycle.
        if (newH2c && !h.tlast.toBoolean)
          latencies += dut.selfTest.test.now.toBigInt + 1 - TestFrameModel.number(toBytes(h.tdata.toBigInt, 32), 24)
        newH2c = h.tlast.toBoolean
      }
      if (dut.io.tx(0).valid.toBoolean && dut.io.tx(0).ready.toBoolean && dut.io.tx(0).last.toBoolean) tx += 1
      if (qdma.usr_flr_done_vld.toBoolean) doneAt = Some(cycles.now)
      pins.ready #= random.nextDouble() < c2hPace

      val status = qdma.tm_dsc_sts
      if (status.valid.toBoolean && status.ready.toBoolean) {
        posted(status.qid.toInt) += status.avl.toInt
        status.valid #= false
      }
      if (messages.nonEmpty && (!status.valid.toBoolean || status.ready.toBoolean)) {
        val (queue, amount) = messages.dequeue()
        status.valid #= true
        status.qen #= true
        status.c2h #= true
        status.mm #= false
        status.qinv #= false
        status.qid #= queue
        status.avl #= amount
      }
    }

    def post(queue: Int, amount: Int): Unit = messages.enqueue((queue, amount))
    def allPosted: Boolean = messages.isEmpty && !qdma.tm_dsc_sts.valid.toBoolean

    private def sendBack(frame: Frame): Unit = {
      val cut = beats(frame.bytes, p.hostBytes)
      for ((beat, i) <- cut.zipWithIndex) h2cBeats.enqueue { pins =>
        pins.tdata #= toBig(beat.toSeq)
        pins.tuser_qid #= frame.queue
        pins.tuser_err #= false
        pins.tuser_zero_byte #= false
        pins.tuser_mdata #= 0
        pins.tlast #= i == cut.size - 1
        pins.tuser_mty #= (if (i == cut.size - 1) cut.size * p.hostBytes - frame.bytes.length else 0)
      }
    }

    def read(offset: Int): BigInt = bar2.read(page + offset)
    def write(offset: Int, value: BigInt): Unit = bar2.write(page + offset, value)
    def counter(at: Int): BigInt = read(at) | read(at + 4) << 32
    def sent(name: String): BigInt = counter(0x48 + 8 * FrameGenerator.counts.indexWhere(_._1 == name))
    def checked(name: String): BigInt = counter(0x80 + 8 * FrameChecker.counts.indexWhere(_._1 == name))
    def status: (Int, Int, Int) = { // state, refusal, end
      val s = read(0x40).toLong
      ((s & 15).toInt, (s >> 8 & 255).toInt, (s >> 16 & 255).toInt)
    }

    /** Settings for function 0, which has queues 0 to 7. */
    def set(
        mode: Int = 15,
        function: Int = 0,
        first: Int = 0,
        count: Int = 4,
        sizes: (Int, Int, Int) = (64, 0, 64),
        frames: Int = 0
    ): Unit = {
      write(0x04, mode)
      write(0x08, function)
      write(0x0c, count << 16 | first)
      write(0x10, sizes._3.toLong << 16 | sizes._1)
      write(0x14, sizes._2)
      write(0x24, frames)
    }
    def start(): (Int, Int, Int) = {
      write(0, 1)
      var left = 40000
      while (status._1 == 1) {
        left -= 1
        assert(left > 0, "the test does not get beyond starting")
      }
      status
    }
    def stop(): Unit = {
      write(0, 2)
      var left = 1000
      while (status._1 != 0) {
        left -= 1
        assert(left > 0, "the test does not end")
      }
    }

    cd.waitSampling(1000)
    bar2.write(0x200000, 8)
    bar2.write(0x201000, BigInt(8) << 16 | 8)
    bar2.write(0x204000, BigInt(16) << 16 | 4)
    bar2.write(0x110030, 1)
    for (queue <- 0 until 20) bar2.write(0x110034, BigInt(queue) << 16 | bufferBytes)
    bar2.read(0x204000)
    cd.waitSampling(100)
  }

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

  test("frames go only as buffers are given, beside received frames for the same queue; a stop gives them all back") {
    built.doSim("credit", 13) { dut =>
      val b = new Bench(dut, 13)
      b.back = frame => if (b.random.nextBoolean()) Some(frame) else None
      var total = 0
      for (round <- 0 until 20) {
        b.set(count = 1 + b.random.nextInt(4), sizes = (60 + b.random.nextInt(3000), 1 + b.random.nextInt(500), 6000))
        b.c2hPace = Seq(1.0, 0.5, 0.1)(b.random.nextInt(3))
        assert(b.start()._2 == 0)
        for (_ <- 0 until b.random.nextInt(30)) {
          b.post(b.random.nextInt(4), 1 + b.random.nextInt(6))
          if (b.random.nextInt(3) == 0) {
            val frame = Array.fill[Byte](6)(0xff.toByte) ++ randomBytes(54 + b.random.nextInt(1400))
            b.wire.send(frame) { (meta, _) =>
              meta.port #= 0
              meta.length #= frame.length
              meta.source.inside #= false
              meta.source.isFunction #= false
              meta.source.function #= 0
            }
          }
          b.cd.waitSampling(b.random.nextInt(60))
        }
        b.cd.waitSampling(b.random.nextInt(1000))
        b.write(0, 2)
        b.c2hPace = 1
        b.cd.waitSampling(500)
        assert(b.status._1 == 0)
        val stopped = b.got.size
        b.cd.waitSampling(500)
        assert(b.got.size == stopped || b.wire.pending > 0, "a frame after the stop")
        total += b.got.size
      }
      assert(total > 300)
      // All that were posted and not used are there.
      waitFor(b.cd, "the messages", 2000)(b.allPosted && b.wire.pending == 0)
      b.cd.waitSampling(500)
      b.set(count = 4)
      b.start()
      b.cd.waitSampling(6000)
      assert((0 until 4).forall(b.posted(_) == 0), s"buffers that nobody gets: ${b.posted}")
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

  test("a function that carries traffic is refused, one that is quiet starts") {
    built.doSim("traffic", 15) { dut =>
      val b = new Bench(dut, 15)
      def receive(): Unit = {
        val frame = Array.fill[Byte](6)(0xff.toByte) ++ randomBytes(54)
        b.wire.send(frame) { (meta, _) =>
          meta.port #= 0
          meta.length #= 60
          meta.source.inside #= false
          meta.source.isFunction #= false
          meta.source.function #= 0
        }
      }
      for (queue <- Seq(0, 8, 16)) b.post(queue, 100)
      b.cd.waitSampling(50)
      b.set(mode = 7)
      b.write(0, 1)
      b.cd.waitSampling(1000)
      assert(b.status._1 == 1)
      receive()
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
        b.doneAt = None
        b.qdma.usr_flr_fnc #= 0
        b.qdma.usr_flr_set #= true
        b.cd.waitSampling()
        b.qdma.usr_flr_set #= false
        waitFor(b.cd, "the answer", 20000)(b.doneAt.isDefined)
        b.cd.waitSampling(300)
        assert(b.gotAt.forall(_ <= b.doneAt.get), s"round $round: a frame behind the answer")
        val (state, _, why) = b.status
        assert(state == 0 && why == end("functionReset") && (b.read(0x40) >> 4 & 1) == 0)
        assert(b.sent("frames") == b.got.size)
        cut += b.sent("cut")
        b.got.clear()
        b.gotAt.clear()
        for (queue <- 0 until 8) b.posted(queue) = 0
        b.bar2.write(0x200000, 8)
        b.bar2.read(0x200000)
        for (queue <- 0 until 8) b.bar2.write(0x110034, BigInt(queue) << 16 | b.bufferBytes)
        b.cd.waitSampling(100)
      }
      assert(cut > 0, "what was cut is counted")
    }
  }

  test("a VF neither sees nor changes it") {
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
