// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.host.FrameSim._
import meridian.meta.HashType
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._

/** Plays the QDMA IP: rebuilds frames from what the pins say, and completions from their own channel. */
class C2hEgressTest extends AnyFunSuite {
  case class Sent(bytes: Array[Byte], queue: Int, hash: BigInt, hashType: Int, tci: Option[Int])
  val completionDepth = 16

  /** Extended Hamming code by its definition: parity over code positions, position by position. */
  def ecc(word: BigInt): Int = {
    val places = (1 to 63).filter(Integer.bitCount(_) != 1)
    val code = places.zipWithIndex.filter { case (_, k) => word.testBit(k) }.map(_._1)
    val hamming = code.foldLeft(0)(_ ^ _)
    hamming | ((code.size + Integer.bitCount(hamming)) & 1) << 6
  }

  /** Bits 5 to 10 of the flags: what is told of the frame's checksums. */
  def verdict(frame: Array[Byte]): BigInt = {
    val (ip, l4, kind) = IpFrames.verdict(frame.map(_ & 0xff))
    BigInt(ip.position | l4.position << 2 | kind.position << 4)
  }

  def oddParity(word: BigInt): Boolean = word.bitCount % 2 == 0

  class Harness(dut: C2hEgress, p: ShellParam) {
    val cd = clocked(dut)
    val width = p.hostBytes
    val cycles = new Cycles(cd)
    val source = new FrameSource(dut.io.frames, cd)
    val sent = mutable.ArrayBuffer[Sent]()
    var frames, completions, accepted, dropped, failed = 0
    var gap = false // a beat was missing inside the window of full speed
    val lastAt = mutable.ArrayBuffer[Long]()
    val flushed = mutable.ArrayBuffer[(Int, Int)]() // frames and completions that had left at each answer
    private val bytes = mutable.ArrayBuffer[Byte]()
    dut.io.flush #= false
    dut.io.status.valid #= false
    dut.io.status.payload.randomize()
    dut.io.switches.valid #= false

    /** Sets the entries of a queue to 16 or 8 bytes. */
    def switchQueue(queue: Int, wide: Boolean): Unit = {
      dut.io.switches.valid #= true
      dut.io.switches.queue #= queue
      dut.io.switches.completion16 #= wide
      cd.waitSampling()
      dut.io.switches.valid #= false
    }

    val c2h = new StreamSink(dut.io.c2h, cd)({ pins =>
      val want = sent(frames)
      val last = pins.tlast.toBoolean
      val mty = pins.mty.toInt
      assert(pins.ctrl_len.toInt == want.bytes.length && pins.ctrl_qid.toInt == want.queue)
      assert(pins.ctrl_has_cmpt.toBoolean && !pins.ctrl_marker.toBoolean && pins.ctrl_port_id.toInt == 0)
      assert(pins.tcrc.toBigInt == 0)
      assert(mty == (if (last) (width - want.bytes.length % width) % width else 0))
      assert(pins.ctrl_ecc.toInt == ecc(BigInt(want.bytes.length) | BigInt(want.queue) << 16 | BigInt(1) << 32))
      val beat = toBytes(pins.tdata.toBigInt, width)
      assert(beat.drop(width - mty).forall(_ == 0), "pads must be zero")
      bytes ++= beat.take(width - mty)
      if (last) {
        assert(bytes.toSeq == want.bytes.toSeq, s"frame $frames")
        bytes.clear()
        frames += 1
        lastAt += cycles.now
      }
    })

    val cmpt = new StreamSink(dut.io.cmpt, cd)({ pins =>
      val want = sent(completions)
      completions += 1
      val id = completions & 0xffff
      val length = BigInt(want.bytes.length)
      val narrow = BigInt(8) | length << 4 | BigInt(1) << 20 | length << 32 | BigInt(id) << 48
      val wide = want.queue % 2
      val vlan = want.tci.fold(BigInt(0))(tci => BigInt(1 << 20 | tci) << 96)
      val data =
        if (wide == 0) narrow
        else narrow | vlan | want.hash << 64 | BigInt(want.hashType) << 112 | verdict(want.bytes) << 117
      assert(pins.tdata.toBigInt == data, s"completion $completions")
      assert(pins.ctrl_wait_pld_pkt_id.toInt == id && pins.ctrl_qid.toInt == want.queue)
      assert(pins.size.toInt == wide && pins.ctrl_cmpt_type.toInt == 3)
      for (i <- 0 until 16)
        assert(pins.dpar.toBigInt.testBit(i) == oddParity((data >> (32 * i)) & BigInt("ffffffff", 16)))
      for (zero <- Seq(pins.ctrl_port_id, pins.ctrl_col_idx, pins.ctrl_err_idx)) assert(zero.toInt == 0)
      for (low <- Seq(pins.ctrl_marker, pins.ctrl_user_trig, pins.ctrl_no_wrb_marker)) assert(!low.toBoolean)
    })

    cd.onSamplings {
      if (dut.io.accepted.toBoolean) accepted += 1
      if (dut.io.dropped.toBoolean) dropped += 1
      if (dut.io.failed.toBoolean) failed += 1
      if (dut.io.flushed.toBoolean) flushed += ((frames, completions))
    }
    cd.waitSampling(5)
    for (queue <- 0 until p.queues) switchQueue(queue, queue % 2 == 1)

    /** An IP packet, right or not, in a frame of that length. */
    def packet(length: Int): Array[Byte] = {
      val frame = IpFrames.random(new Random(simRandom.nextLong()), (length - 60).max(1))
      frame.padTo(length, 0).take(length).map(_.toByte)
    }

    def send(length: Int): Unit = {
      val tci = Option.when(simRandom.nextBoolean())(simRandom.nextInt(65536))
      val kind = simRandom.nextInt(HashType.elements.size)
      val bytes = if (length < 60) randomBytes(length) else packet(length)
      val frame = Sent(bytes, simRandom.nextInt(p.queues), BigInt(32, simRandom), kind, tci)
      sent += frame
      val function = simRandom.nextInt(256)
      source.send(frame.bytes) { (meta, _) =>
        meta.function #= function
        meta.queue #= frame.queue
        meta.length #= length
        meta.stripped #= frame.tci.isDefined
        meta.tci #= frame.tci.getOrElse[Int](0)
        meta.hash.value #= frame.hash
        meta.hash.kind #= HashType.elements(kind)
      }
    }

    def drain(): Unit = waitFor(cd, "the last completion")(frames == sent.size && completions == sent.size)
  }

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width)
    lazy val compiled = SimConfig.compile(new C2hEgress(p, completionDepth))

    test(s"$width bytes: every length and pace arrives whole, with one completion a frame") {
      for ((pace, i) <- paces.zipWithIndex) compiled.doSim(s"random$width.$i", seed = 100 + i) { dut =>
        val h = new Harness(dut, p)
        h.source.pace(if (i == 1) 0.5f else 1.0f)
        h.c2h.pace(pace)
        h.cmpt.pace(paces((i + 1) % paces.size))
        for (length <- 1 to 2 * width + 1) h.send(length)
        for (_ <- 0 until 60) h.send(60 + simRandom.nextInt(1500))
        h.send(9600)
        h.drain()
        h.cd.waitSampling(20)
        assert(h.accepted == h.sent.size)
      }
    }

    test(s"$width bytes: 64-byte frames follow each other without a bubble") {
      compiled.doSim(s"speed$width", seed = 7) { dut =>
        val h = new Harness(dut, p)
        val start = h.cycles.now
        for (_ <- 0 until 400) h.send(64)
        h.drain()
        val beats = 64 / width
        assert(h.lastAt.last - h.lastAt.head == 399L * beats, "a beat was lost between frames")
        assert(h.lastAt.head - start <= beats + 3)
      }
    }

    test(s"$width bytes: a stopped completion channel stops the data in time and loses nothing") {
      compiled.doSim(s"stall$width", seed = 8) { dut =>
        val h = new Harness(dut, p)
        h.cmpt.pace(0.0f)
        for (_ <- 0 until 100) h.send(64)
        h.cd.waitSampling(600)
        assert(h.completions == 0)
        assert(h.frames >= completionDepth && h.frames <= completionDepth + 4, s"${h.frames} frames got through")
        h.cmpt.pace(1.0f)
        h.drain()
      }
    }

    test(
      s"$width bytes: full completions hold up the next frame from its first beat on, and never one that has begun"
    ) {
      compiled.doSim(s"halt$width", seed = 10) { dut =>
        val h = new Harness(dut, p)
        var inFrame = false
        var held = 0
        h.cd.onSamplings {
          val (valid, ready) = (dut.io.frames.valid.toBoolean, dut.io.frames.ready.toBoolean)
          assert(!inFrame || ready, "a frame that has begun is held up")
          if (valid && !ready) held += 1
          if (valid && ready) inFrame = !dut.io.frames.last.toBoolean
        }
        for (pace <- Seq(0.02f, 0.1f, 0.5f)) {
          h.cmpt.pace(pace)
          for (_ <- 0 until 100) h.send(1 + simRandom.nextInt(5 * width))
          h.drain()
        }
        assert(held > 1000, s"held up in $held cycles only")
        // As long as none leaves, no beat of a further frame is taken.
        h.cmpt.pace(0.0f)
        for (_ <- 0 until 60) h.send(3 * width)
        h.cd.waitSampling(600)
        val taken = 180 - h.source.pending - 1 // one is on offer
        assert(taken % 3 == 0 && taken / 3 >= completionDepth && !inFrame, s"$taken beats of frames with 3 beats")
        h.cmpt.pace(1.0f)
        h.drain()
      }
    }
  }

  for (width <- Seq(32, 64)) {
    val p = ShellParam(hostBytes = width)
    lazy val compiled = SimConfig.compile(new C2hEgress(p, completionDepth))

    test(s"$width bytes: a flush is answered when the IP has taken every frame before it, and its completion") {
      for ((stopped, i) <- Seq("c2h", "completions", "both").zipWithIndex)
        compiled.doSim(s"flush$width$stopped", seed = 20 + i) { dut =>
          val h = new Harness(dut, p)
          def flush(): Unit = { dut.io.flush #= true; h.cd.waitSampling(); dut.io.flush #= false }
          flush()
          h.cd.waitSampling(6)
          assert(h.flushed.toSeq == Seq((0, 0)), "nothing inside")
          for (round <- 1 to 20) {
            if (stopped != "completions") h.c2h.pace(0.0f)
            if (stopped != "c2h") h.cmpt.pace(0.0f)
            // What the stages behind the entry take in at once.
            for (_ <- 0 until 1 + simRandom.nextInt(if (stopped == "completions") 10 else 2)) h.send(60 min width)
            waitFor(h.cd, "the last beat", 100)(h.source.pending == 0)
            h.cd.waitSampling(3 + simRandom.nextInt(40))
            flush()
            h.cd.waitSampling(60)
            assert(h.flushed.size == round, s"$stopped, round $round: a frame or a completion waits")
            h.c2h.pace(0.2f)
            h.cmpt.pace(0.2f)
            h.drain()
            h.cd.waitSampling(8)
            assert(h.flushed.size == round + 1 && h.flushed.last == ((h.sent.size, h.sent.size)))
            h.c2h.pace(1.0f)
            h.cmpt.pace(1.0f)
          }
        }
    }
  }

  test("the packet number wraps at 16 bits, and status pulses are told once") {
    val p = ShellParam()
    SimConfig.compile(new C2hEgress(p, completionDepth)).doSim("wrap", seed = 9) { dut =>
      val h = new Harness(dut, p)
      for (_ <- 0 until 66) {
        for (_ <- 0 until 1000) h.send(20)
        h.drain()
      }
      assert(h.completions > 65536)
      val events =
        for (valid <- Seq(true, false); drop <- Seq(true, false); error <- Seq(true, false); last <- Seq(true, false))
          yield (valid, drop, error, last)
      for ((valid, drop, error, last) <- events) {
        dut.io.status.valid #= valid
        dut.io.status.drop #= drop
        dut.io.status.error #= error
        dut.io.status.last #= last
        h.cd.waitSampling()
      }
      dut.io.status.valid #= false
      h.cd.waitSampling(3)
      assert(h.dropped == 2 && h.failed == 2)
    }
  }
}
