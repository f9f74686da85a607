// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.filter._
import meridian.ShellParam
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** A frame on the wire; stampBeat is the beat its timestamp comes with, -1 for none. */
case class WireFrame(data: Array[Byte], bad: Boolean = false, stampBeat: Int = -1, stamp: BigInt = 0)

/** What the PS listens to. */
case class Listen(
    enable: Boolean = true,
    broadcast: Boolean = true,
    allMulticast: Boolean = true,
    promiscuous: Boolean = false,
    addresses: Seq[Option[Long]] = Seq.fill(4)(None)
)

/** What the wire may give the PS: rate and burst of others and of PTP. */
case class Limit(others: (Int, Int), ptp: (Int, Int))

case class Told(
    length: Int,
    bad: Seq[Boolean],
    kind: Seq[Boolean],
    forHost: Boolean,
    forPs: Boolean,
    hostOverflow: Boolean,
    psOverflow: Boolean,
    psPoliced: Boolean,
    ptp: Boolean
)
case class HostFrame(data: Seq[Byte], length: Int)
case class PsFrame(data: Seq[Byte], length: Int, stampValid: Boolean, stamp: BigInt, bulk: Boolean)

/** Drives the pins of a PortRx, collects what leaves it, and knows what should. */
class PortRxBench(val dut: PortRx, p: ShellParam, macPeriod: Int, hostPeriod: Int, psPeriod: Int, seed: Int) {
  println(s"PortRx seed $seed, periods $macPeriod $hostPeriod $psPeriod ps")
  val random = new Random(seed)
  val sent = mutable.ArrayBuffer[(WireFrame, Listen)]()
  val told = mutable.ArrayBuffer[Told]()
  val hostFrames = mutable.ArrayBuffer[HostFrame]()
  val psFrames = mutable.ArrayBuffer[PsFrame]()
  var hostReadyPercent, psReadyPercent = 100
  var recordEvery = 1 // ps cycles a record takes
  var uncounted = 0 // records that found no room, as told
  var hostBubbles, psBubbles = 0
  var lastBeatTime, hostTime, psTime = -1L
  var listen = Listen()
  var limited = false

  private var psCycle = 0
  private val hostBytes, psBytes = mutable.ArrayBuffer[Byte]()
  restrict(None)
  dut.io.skip #= 1
  dut.io.timeKnown #= true
  dut.io.pins.tvalid #= false
  dut.io.pins.tstampValid #= false
  dut.io.host.ready #= false
  dut.io.ps.ready #= false
  dut.io.record.ready #= true
  configure(listen)
  dut.macRxCd.forkStimulus(macPeriod)
  dut.hostCd.forkStimulus(hostPeriod)
  sleep(700)
  dut.psCd.forkStimulus(psPeriod)
  sleep(200 * macPeriod.max(hostPeriod).max(psPeriod))

  private def take(word: BigInt, bytes: Int, into: mutable.ArrayBuffer[Byte]): Unit =
    for (i <- 0 until bytes) into += (word >> (8 * i)).toByte

  dut.hostCd.onSamplings {
    val s = dut.io.host
    if (!s.valid.toBoolean && hostBytes.nonEmpty) hostBubbles += 1
    if (s.valid.toBoolean && hostBytes.isEmpty && hostTime < 0) hostTime = simTime()
    if (s.valid.toBoolean && s.ready.toBoolean) {
      take(s.data.toBigInt, p.hostBytes - s.mty.toInt, hostBytes)
      assert(s.meta.port.toInt == 0)
      if (s.last.toBoolean) {
        hostFrames += HostFrame(hostBytes.toSeq, s.meta.length.toInt)
        hostBytes.clear()
      }
    }
    s.ready #= random.nextInt(100) < hostReadyPercent
  }

  dut.psCd.onSamplings {
    val s = dut.io.ps
    if (!s.valid.toBoolean && psBytes.nonEmpty) psBubbles += 1
    if (s.valid.toBoolean && psBytes.isEmpty && psTime < 0) psTime = simTime()
    if (s.valid.toBoolean && s.ready.toBoolean) {
      take(s.data.toBigInt, 8 - s.mty.toInt, psBytes)
      if (s.last.toBoolean) {
        val stamp = (s.meta.timestamp.seconds.toBigInt << 32) + s.meta.timestamp.nanoseconds.toBigInt
        psFrames += PsFrame(
          psBytes.toSeq,
          s.meta.length.toInt,
          s.meta.timestampValid.toBoolean,
          stamp,
          s.meta.bulk.toBoolean
        )
        psBytes.clear()
      }
    }
    s.ready #= random.nextInt(100) < psReadyPercent
    val r = dut.io.record
    psCycle += 1
    if (r.valid.toBoolean && r.ready.toBoolean) {
      uncounted += r.uncounted.toInt
      told += Told(
        r.length.toInt,
        Seq(r.badFcs, r.runt, r.oversize).map(_.toBoolean),
        Seq(r.multicast, r.broadcast, r.vlan).map(_.toBoolean),
        r.forHost.toBoolean,
        r.forPs.toBoolean,
        r.hostOverflow.toBoolean,
        r.psOverflow.toBoolean,
        r.psPoliced.toBoolean,
        r.ptp.toBoolean
      )
    }
    r.ready #= psCycle % recordEvery == 0
  }

  def configure(now: Listen): Unit = {
    val f = dut.io.psFilter
    f.enable #= now.enable
    f.broadcast #= now.broadcast
    f.allMulticast #= now.allMulticast
    f.promiscuous #= now.promiscuous
    f.valid #= now.addresses.zipWithIndex.map { case (a, i) => BigInt(if (a.isDefined) 1 else 0) << i }.sum
    for ((a, i) <- now.addresses.zipWithIndex) f.address(i) #= a.getOrElse(0x123456789abcL)
    listen = now
  }

  def restrict(limit: Option[Limit]): Unit = {
    val to = dut.io.psLimit
    val Limit(others, ptp) = limit.getOrElse(Limit((0, 0), (0, 0)))
    to.enable #= limit.isDefined
    for ((side, (rate, burst)) <- Seq(to.others -> others, to.ptp -> ptp)) {
      side.rate #= rate
      side.burst #= burst
    }
    limited = limit.isDefined
  }

  /** Limits with full buckets, that nothing is added to any more. */
  def fill(others: Int, ptp: Int): Unit = {
    restrict(Some(Limit((1023, others), (1023, ptp))))
    dut.macRxCd.waitSampling(((others max ptp) << 18) / 1023 + 600)
    restrict(Some(Limit((0, others), (0, ptp))))
    dut.macRxCd.waitSampling(10)
  }

  /** Sends a frame, then idle cycles. A gap in the frame is as likely as gapPercent says. */
  def send(frame: WireFrame, idle: Int = 0, gapPercent: Int = 0, lastKeep: Int = -1): Unit = {
    sent += frame -> listen
    val words = frame.data.grouped(8).toSeq
    val pins = dut.io.pins
    for ((word, i) <- words.zipWithIndex) {
      while (random.nextInt(100) < gapPercent) dut.macRxCd.waitSampling()
      val last = i == words.length - 1
      pins.tvalid #= true
      pins.tdata #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
      pins.tkeep #= (if (last && lastKeep >= 0) lastKeep else (1 << word.length) - 1)
      pins.tlast #= last
      pins.tuser #= (if (last) frame.bad else random.nextInt(8) == 0)
      pins.tstampValid #= i == frame.stampBeat
      pins.tstamp.nanoseconds #= frame.stamp & 0xffffffffL
      pins.tstamp.seconds #= frame.stamp >> 32
      dut.macRxCd.waitSampling()
      if (last) lastBeatTime = simTime()
      pins.tvalid #= false
      pins.tstampValid #= false
    }
    if (idle > 0) dut.macRxCd.waitSampling(idle)
  }

  def frame(length: Int, address: Long, bad: Boolean = false): WireFrame = {
    val data = Array.fill(length)(random.nextInt().toByte)
    for (i <- 0 until 6.min(length)) data(i) = (address >> (8 * i)).toByte
    random.nextInt(6) match {
      case 0 if length > 14 => data(12) = 0x81.toByte; data(13) = 0
      case 1 if length > 14 => data(12) = 0x88.toByte; data(13) = 0xa8.toByte
      case 2 if length > 14 => data(12) = 0; data(13) = 0x81.toByte
      case _                =>
    }
    dress(data)
    val stampBeat = if (random.nextInt(3) == 0) -1 else random.nextInt((length + 7) / 8)
    WireFrame(data, bad, stampBeat, BigInt(80, random.self))
  }

  /** Now and then types and ports of PTP, where they count and near there. */
  private def dress(data: Array[Byte]): Unit = {
    def put(at: Int, word: Int): Unit = if (data.length > at + 1) {
      data(at) = (word >> 8).toByte
      data(at + 1) = word.toByte
    }
    val types = Seq(0x88f7, 0x0800, 0x86dd, 0x88f6)
    val tags = random.nextInt(4)
    if (random.nextInt(3) == 0) {
      for (i <- 0 until tags) put(12 + 4 * i, Seq(0x8100, 0x88a8)(random.nextInt(2)))
      put(12 + 4 * tags, types(random.nextInt(4)))
    }
    for (at <- Seq(36, 40, 44, 48, 56, 60, 64, 68)) if (random.nextInt(3) == 0) put(at, 318 + random.nextInt(4))
  }

  /** Of the beats before the last. */
  def isPtp(frame: WireFrame): Boolean = {
    val d = frame.data
    def word(at: Int) = if (at / 8 < (d.length - 1) / 8) (d(at) & 0xff) << 8 | d(at + 1) & 0xff else -1
    val at = 12 + 4 * Seq(12, 16).takeWhile(i => Seq(0x8100, 0x88a8).contains(word(i))).size
    val port = word(at) match {
      case 0x0800 => word(at + 24)
      case 0x86dd => word(at + 44)
      case _      => -1
    }
    word(at) == 0x88f7 || port == 319 || port == 320
  }

  /** What should be told of a frame, overflow and limits apart. */
  def model(frame: WireFrame, listen: Listen): Told = {
    val data = frame.data
    val bad = Seq(frame.bad, data.length < 60, data.length > p.maxFrame)
    val good = !bad.contains(true)
    val address = data.take(6).zipWithIndex.map { case (b, i) => (b & 0xffL) << (8 * i) }.sum
    val broadcast = address == 0xffffffffffffL
    val multicast = (address & 1) == 1 && !broadcast
    val exact = listen.enable && listen.addresses.contains(Some(address))
    val wanted = listen.promiscuous || (broadcast && listen.broadcast) || (multicast && listen.allMulticast)
    val ps = listen.enable && (exact || wanted)
    val host = !exact || multicast || broadcast
    val vlan = good && Seq(0x8100, 0x88a8).contains(((data(12) & 0xff) << 8) | (data(13) & 0xff))
    val kind = Seq(good && multicast, good && broadcast, vlan)
    Told(data.length.min(65535), bad, kind, good && host, good && ps, false, false, false, good && isPtp(frame))
  }

  def settle(): Unit = {
    hostReadyPercent = 100
    psReadyPercent = 100
    var quiet, wait = 0
    while (quiet < 60) {
      dut.psCd.waitSampling()
      val idle = dut.io.hostIdle.toBoolean && dut.io.psIdle.toBoolean && !dut.io.record.valid.toBoolean
      quiet = if (idle) quiet + 1 else 0
      wait += 1
      assert(wait < 20000, "never idle")
    }
  }

  /** Everything sent was told of and is where it should be, in order, and nothing else is. */
  def check(): Unit = {
    settle()
    assert(uncounted == 0)
    assert(told.length == sent.length, "records")
    for (((frame, listen), t) <- sent.zip(told)) {
      val good = !t.bad.contains(true)
      val plain = t.copy(hostOverflow = false, psOverflow = false, psPoliced = false, ptp = good && t.ptp)
      assert(plain == model(frame, listen))
      assert((t.forHost || !t.hostOverflow) && (t.forPs || !t.psOverflow))
      assert(!t.psPoliced || (t.forPs && !t.psOverflow && limited))
    }
    val both = sent.map(_._1).zip(told)
    val toHost = both.collect { case (f, t) if t.forHost && !t.hostOverflow => HostFrame(f.data.toSeq, f.data.length) }
    val toPs = both.collect {
      case (f, t) if t.forPs && !t.psOverflow && !t.psPoliced =>
        val stamp = if (f.stampBeat >= 0) f.stamp else BigInt(0)
        PsFrame(f.data.toSeq, f.data.length, f.stampBeat >= 0, stamp, limited && !t.ptp)
    }
    val hostWhole = hostFrames == toHost
    val psWhole = psFrames.map(f => if (f.stampValid) f else f.copy(stamp = 0)) == toPs
    assert(hostWhole, "frames to the host")
    assert(psWhole, "frames to the PS")
    assert(hostBubbles == 0 && psBubbles == 0, "bubbles within frames")
    forget()
  }

  def forget(): Unit = {
    sent.clear()
    told.clear()
    hostFrames.clear()
    psFrames.clear()
    hostBytes.clear()
    psBytes.clear()
  }

  def overflows: (Int, Int) = (told.count(_.hostOverflow), told.count(_.psOverflow))
}
