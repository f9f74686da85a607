// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

class PortTxTest extends AnyFunSuite {
  val p = ShellParam(maxFrame = 1600, txBufferBytes = 4096, psBufferBytes = 4096)

  // As in the shell's top; the buffer's own test has asynchronous resets.
  def clock(name: String): ClockDomain = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))

  lazy val compiled = SimConfig.compile(
    new PortTx(p, 0, clock("host"), clock("ps"), clock("macTx"))
  )

  /** A frame as it has to be at the pins; tag is the timestamp asked for. */
  case class Pinned(data: Seq[Byte], tag: Option[Int], start: Long = 0, cycle: Long = 0)

  class Bench(val dut: PortTx, seed: Int, mac: Int, host: Int, ps: Int) {
    println(s"PortTx seed $seed, periods $mac $host $ps ps")
    val random = new Random(seed)
    val pinned = mutable.ArrayBuffer[Pinned]()
    val fromHost, fromPs = mutable.ArrayBuffer[Pinned]()
    val records = mutable.ArrayBuffer[(Int, Boolean, Seq[Boolean])]()
    val stamps = mutable.ArrayBuffer[(Int, BigInt)]()
    var readyPercent, hostValidPercent, psValidPercent = 100
    var macCycle, lastTime, psLastTime = 0L
    private val bytes = mutable.ArrayBuffer[Byte]()
    private var tag: Option[Int] = None
    private var start, startCycle = 0L

    dut.io.host.valid #= false
    dut.io.ps.valid #= false
    dut.io.pins.tready #= false
    dut.io.pins.tstampValid #= false
    dut.io.timeKnown #= true
    dut.io.record.ready #= true
    dut.io.timestamps.ready #= true
    dut.hostCd.forkStimulus(host)
    dut.psCd.forkStimulus(ps)
    sleep(900)
    dut.macTxCd.forkStimulus(mac)
    sleep(200 * mac.max(host).max(ps))

    dut.macTxCd.onSamplings {
      macCycle += 1
      val pins = dut.io.pins
      assert(bytes.isEmpty || pins.tvalid.toBoolean, "tvalid fell inside a frame")
      if (pins.tvalid.toBoolean && bytes.isEmpty && start == 0) start = simTime()
      if (pins.tvalid.toBoolean && pins.tready.toBoolean) {
        val keep = pins.tkeep.toInt
        val count = Integer.bitCount(keep)
        assert(keep == (1 << count) - 1 && (keep == 0xff || pins.tlast.toBoolean) && count > 0, "tkeep")
        assert(!pins.tuser.toBoolean)
        if (bytes.isEmpty) {
          startCycle = macCycle
          tag = if (pins.ptpOp.toInt == 2) Some(pins.ptpTag.toInt) else None
          assert(pins.ptpOp.toInt == 2 || pins.ptpOp.toInt == 0)
        } else assert(pins.ptpOp.toInt == 0)
        val word = pins.tdata.toBigInt
        for (i <- 0 until count) bytes += (word >> (8 * i)).toByte
        if (pins.tlast.toBoolean) {
          pinned += Pinned(bytes.toSeq, tag, start, startCycle)
          bytes.clear()
          start = 0
        }
      }
      pins.tready #= random.nextInt(100) < readyPercent
    }
    dut.psCd.onSamplings {
      val r = dut.io.record
      if (r.valid.toBoolean && r.ready.toBoolean)
        records += ((r.length.toInt, r.fromPs.toBoolean, Seq(r.multicast, r.broadcast, r.vlan).map(_.toBoolean)))
      val t = dut.io.timestamps
      if (t.valid.toBoolean && t.ready.toBoolean)
        stamps += ((t.tag.toInt, (t.timestamp.seconds.toBigInt << 32) + t.timestamp.nanoseconds.toBigInt))
    }

    def data(length: Int): Array[Byte] = {
      val ret = Array.fill(length)(random.nextInt().toByte)
      random.nextInt(4) match {
        case 0 => for (i <- 0 until 6.min(length)) ret(i) = -1
        case 1 => if (length > 14) { ret(12) = 0x81.toByte; ret(13) = 0 }
        case 2 => if (length > 14) { ret(12) = 0x88.toByte; ret(13) = 0xa8.toByte }
        case _ =>
      }
      ret
    }

    def pad(data: Array[Byte]): Seq[Byte] = data.toSeq ++ Seq.fill(60 - data.length)(0.toByte)

    private def word(bytes: Array[Byte]): BigInt =
      bytes.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum

    def sendHost(data: Array[Byte], drop: Boolean = false, paced: Boolean = random.nextBoolean()): Unit = {
      val words = data.grouped(p.hostBytes).toSeq
      if (!drop) fromHost += Pinned(pad(data), None)
      for ((w, i) <- words.zipWithIndex) {
        while (random.nextInt(100) >= hostValidPercent) dut.hostCd.waitSampling()
        val last = i == words.length - 1
        dut.io.host.valid #= true
        // What lies beyond the end must not reach the wire.
        dut.io.host.data #= word(w) | (((BigInt(1) << 256) - 1) & ~((BigInt(1) << (8 * w.length)) - 1))
        dut.io.host.last #= last
        dut.io.host.mty #= p.hostBytes - w.length
        dut.io.host.meta.drop #= (if (last) drop else random.nextBoolean())
        dut.io.host.meta.paced #= paced
        dut.hostCd.waitSampling()
        bounded(!dut.io.host.ready.toBoolean, dut.hostCd)
        lastTime = simTime()
        dut.io.host.valid #= false
      }
    }

    def sendPs(data: Array[Byte], tag: Option[Int]): Unit = {
      val words = data.grouped(8).toSeq
      fromPs += Pinned(pad(data), tag)
      for ((w, i) <- words.zipWithIndex) {
        while (random.nextInt(100) >= psValidPercent) dut.psCd.waitSampling()
        dut.io.ps.valid #= true
        dut.io.ps.data #= word(w)
        dut.io.ps.last #= i == words.length - 1
        dut.io.ps.mty #= 8 - w.length
        dut.io.ps.meta.timestamp #= tag.isDefined
        dut.io.ps.meta.tag #= tag.fold(0x7777)(t => t)
        dut.psCd.waitSampling()
        bounded(!dut.io.ps.ready.toBoolean, dut.psCd)
        psLastTime = simTime()
        dut.io.ps.valid #= false
      }
    }

    private def bounded(again: => Boolean, cd: ClockDomain): Unit = {
      var wait = 0
      while (again) {
        cd.waitSampling()
        wait += 1
        assert(wait < 20000, "ready stays low")
      }
    }

    def settle(): Unit = {
      var quiet = 0
      bounded({ quiet = if (dut.io.idle.toBoolean) quiet + 1 else 0; quiet < 60 }, dut.macTxCd)
    }

    def check(): Unit = {
      settle()
      dut.hostCd.waitSampling(20)
      assert(dut.io.paced.toInt == 0, "beats of paced frames that are gone")
      def plain(frames: Iterable[Pinned]) = frames.map(f => f.data -> f.tag).toSeq
      assert(records.length == pinned.length, "records")
      val (ps, host) = pinned.zip(records).partition(_._2._2)
      val (psWhole, hostWhole) = (plain(ps.map(_._1)) == plain(fromPs), plain(host.map(_._1)) == plain(fromHost))
      assert(psWhole, "frames of the PS")
      assert(hostWhole, "frames of the host")
      for ((frame, (length, _, kind)) <- pinned.zip(records)) {
        val d = frame.data
        val broadcast = d.take(6).forall(_ == -1)
        val tpid = ((d(12) & 0xff) << 8) | (d(13) & 0xff)
        val group = (d(0) & 1) == 1 && !broadcast
        assert(length == d.length && kind == Seq(group, broadcast, tpid == 0x8100 || tpid == 0x88a8))
      }
      forget()
    }

    /** The pins forget the frame that a reset of the MAC cut. */
    def resetPins(): Unit = {
      bytes.clear()
      start = 0
    }

    def forget(): Unit = Seq(pinned, fromHost, fromPs, records, stamps).foreach(_.clear())
  }

  def bench(name: String, seed: Int, mac: Int = 2560, host: Int = 4000, ps: Int = 4000)(body: Bench => Unit): Unit =
    test(s"$name, seed $seed") {
      compiled.doSim(name.takeWhile(c => c.isLetter || c == ' ').replace(' ', '_') + seed, seed = seed) { dut =>
        body(new Bench(dut, seed, mac, host, ps))
      }
    }

  for ((mac, host, ps, seed) <- Seq((2560, 4000, 4000, 1), (6400, 4000, 4004, 2), (2560, 3300, 4700, 3)))
    bench(s"random frames of host and PS leave whole and in order at $mac ps", seed, mac, host, ps) { b =>
      def size = b.random.nextInt(3) match {
        case 0 => 1 + b.random.nextInt(64)
        case 1 => 56 + b.random.nextInt(12)
        case _ => 1 + b.random.nextInt(1600)
      }
      for (_ <- 0 until 5) {
        b.readyPercent = Seq(100, 90, 30)(b.random.nextInt(3))
        b.hostValidPercent = Seq(100, 60)(b.random.nextInt(2))
        b.psValidPercent = Seq(100, 5)(b.random.nextInt(2))
        val host = fork(for (_ <- 0 until 60) b.sendHost(b.data(size), b.random.nextInt(4) == 0))
        for (_ <- 0 until 25) {
          b.sendPs(b.data(size), if (b.random.nextBoolean()) Some(b.random.nextInt(65536)) else None)
          if (b.random.nextInt(3) == 0) b.dut.psCd.waitSampling(b.random.nextInt(300))
        }
        host.join()
        b.check()
      }
    }

  bench("frames follow each other back to back at the pins", 4) { b =>
    for (size <- Seq(1, 20, 60, 64, 65, 96, 200)) {
      b.readyPercent = 0
      b.dut.macTxCd.waitSampling(2)
      val host = fork(for (_ <- 0 until 12) b.sendHost(b.data(size)))
      for (_ <- 0 until 6) b.sendPs(b.data(size), None)
      host.join()
      b.dut.hostCd.waitSampling(20)
      b.readyPercent = 100
      b.settle()
      val beats = (size.max(60) + 7) / 8
      val starts = b.pinned.map(_.cycle)
      assert(starts.zip(starts.tail).forall { case (a, c) => c - a == beats }, s"frames of $size bytes")
      b.check()
    }
  }

  bench("a frame of the PS waits for one host frame at most", 5) { b =>
    for (_ <- 0 until 30) {
      val host = fork(for (_ <- 0 until 6) b.sendHost(b.data(200)))
      b.dut.psCd.waitSampling(60 + b.random.nextInt(60))
      b.sendPs(b.data(80), None)
      val there = b.psLastTime + 8 * 2560 // crossed, with 4000 ps of grace for the phase
      host.join()
      b.settle()
      val at = b.records.indexWhere(_._2)
      val ahead = b.pinned.take(at).count(_.start > there)
      assert(ahead == 0, s"$ahead host frames began before the frame of the PS")
      assert(b.pinned(at).start <= there + 26 * 2560)
      b.check()
    }
  }

  for ((mac, budget) <- Seq(2560 -> 30000, 6400 -> 55000))
    bench(s"the latency at $mac ps is within its bound", 6, mac) { b =>
      var worstHost, worstPs = 0L
      for (_ <- 0 until 30) {
        b.sendHost(b.data(100))
        b.dut.macTxCd.waitSampling(40 + b.random.nextInt(4))
        worstHost = worstHost.max(b.pinned.last.start - b.lastTime)
        b.sendPs(b.data(100), None)
        b.dut.macTxCd.waitSampling(40 + b.random.nextInt(4))
        worstPs = worstPs.max(b.pinned.last.start - b.psLastTime)
      }
      println(s"last beat taken to first beat at the pins taken, $mac ps MAC clock: host $worstHost ps, PS $worstPs ps")
      assert(worstHost <= budget && worstPs <= budget)
      b.check()
    }

  bench("timestamps come back with their tag", 7) { b =>
    val stamps = Seq.fill(40)(b.random.nextInt(65536) -> BigInt(80, b.random.self))
    for ((tag, time) <- stamps) {
      b.dut.io.pins.tstampValid #= true
      b.dut.io.pins.tstampTag #= tag
      b.dut.io.pins.tstamp.nanoseconds #= time & 0xffffffffL
      b.dut.io.pins.tstamp.seconds #= time >> 32
      b.dut.macTxCd.waitSampling()
      b.dut.io.pins.tstampValid #= false
      b.dut.macTxCd.waitSampling(b.random.nextInt(8))
    }
    b.dut.psCd.waitSampling(20)
    assert(b.stamps == stamps)
  }

  bench("frames of the PS wait until the time of their timestamps is known, those of the host do not", 13) { b =>
    for (_ <- 0 until 8) {
      b.dut.io.timeKnown #= false
      b.sendPs(b.data(100), Some(5))
      for (_ <- 0 until 3) b.sendHost(b.data(60 + b.random.nextInt(300)))
      b.dut.hostCd.waitSampling(200 + b.random.nextInt(200))
      assert(b.pinned.length == 3 && b.pinned.forall(_.tag.isEmpty), s"${b.pinned.length} frames were sent")
      b.dut.io.timeKnown #= true
      b.check()
    }
  }

  bench("a host in reset stops no frame that is stored, and none of the PS", 8) { b =>
    for (round <- 0 until 16) {
      b.readyPercent = 70
      for (_ <- 0 until 3) b.sendHost(b.data(60 + b.random.nextInt(300)))
      b.dut.io.host.valid #= true
      b.dut.io.host.last #= false
      b.dut.io.host.mty #= 0
      b.dut.hostCd.waitSampling(1 + b.random.nextInt(4))
      b.dut.io.host.valid #= false
      val ps = fork(for (i <- 0 until 12) b.sendPs(b.data(60 + b.random.nextInt(300)), Some(i)))
      b.dut.hostCd.assertReset()
      sleep(4000 * Seq(1, 2, 30, 200)(round % 4) + 4000 / 2)
      b.dut.hostCd.deassertReset()
      b.dut.hostCd.waitSampling(2)
      for (_ <- 0 until 3) b.sendHost(b.data(60 + b.random.nextInt(300)))
      ps.join()
      b.check()
    }
  }

  bench("a MAC in reset loses what is stored and takes whole frames after", 9) { b =>
    for (round <- 0 until 8) {
      b.readyPercent = 30
      val host = fork {
        for (_ <- 0 until 8) b.sendHost(b.data(60 + b.random.nextInt(900)))
      }
      for (_ <- 0 until 3) b.sendPs(b.data(60 + b.random.nextInt(300)), Some(3))
      b.dut.macTxCd.assertReset()
      sleep(2560 * Seq(1, 2, 30, 200)(round % 4) + 2560 / 2)
      b.resetPins()
      b.dut.macTxCd.deassertReset()
      host.join()
      b.settle()
      b.dut.hostCd.waitSampling(100)
      b.settle()
      b.forget()
      for (_ <- 0 until 6) b.sendHost(b.data(60 + b.random.nextInt(300)))
      for (_ <- 0 until 3) b.sendPs(b.data(60 + b.random.nextInt(300)), Some(3))
      b.check()
    }
  }

  for ((mac, seed) <- Seq(2560 -> 11, 6400 -> 12))
    bench(s"beats of paced frames are counted while they are in the buffer at $mac ps", seed, mac) { b =>
      for (round <- 0 until 12) {
        b.readyPercent = 0
        b.dut.macTxCd.waitSampling(4)
        var beats = 0
        for (_ <- 0 until 8) {
          val (data, drop, paced) =
            (b.data(60 + b.random.nextInt(300)), b.random.nextInt(3) == 0, b.random.nextBoolean())
          b.sendHost(data, drop, paced)
          if (paced && !drop) beats += (data.length + p.hostBytes - 1) / p.hostBytes
        }
        b.dut.hostCd.waitSampling(20)
        // The first word is on its way out, and not in the memory any more.
        val counted = b.dut.io.paced.toInt
        assert(counted <= beats && counted >= beats - 3, s"$counted beats are counted, $beats are stored")
        b.readyPercent = Seq(100, 20)(round % 2)
        b.check()
      }
    }

  bench("a host frame longer than the buffer does not stop the port", 10) { b =>
    b.sendHost(b.data(100))
    b.sendHost(b.data(5000), drop = true)
    b.sendHost(b.data(4097), drop = true)
    b.sendHost(b.data(100))
    b.sendPs(b.data(100), None)
    b.check()
  }
}
