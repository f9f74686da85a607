// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.bus.RegPort
import meridian.frame.FrameStream
import meridian.mac._
import meridian.meta.{HostTxMeta, MacRxRecord, MacTxRecord, PsRxMeta, PsTxMeta, TxTimestamp}
import meridian.ptp.PtpTime
import meridian.selftest.TestFrameModel
import meridian.settings.PsFilterConfig
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable

/** Both sides of a port with its test, as in the shell. */
class PortTestTop(val p: ShellParam, watchCycles: Int, answerCycles: Int) extends Component {
  private def clock(name: String) = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))
  val host = clock("host")
  val ps = clock("ps")
  val macRx = clock("macRx")
  val macTx = clock("macTx")
  val io = new Bundle {
    val bus = slave(RegPort(10))
    val link = in Bool ()
    val rxPins = slave(MacRxPins())
    val txPins = master(MacTxPins())
    val time = in(PtpTime()) // macTx
    val rxTime = in(PtpTime()) // macRx
    val loop = in Bool () // ps
    val loops = out Bool ()
    val lost = out UInt (32 bits)
    val psFilter = in(PsFilterConfig(p))
    val fromHost = slave(FrameStream(p.hostBytes, HardType(HostTxMeta(p))))
    val fromPs = slave(FrameStream(p.psBytes, HardType(PsTxMeta())))
    val toHost = master(FrameStream(p.hostBytes, meridian.meta.RxMeta(p)))
    val toPs = master(FrameStream(p.psBytes, PsRxMeta(p)))
    val idle = out Bool ()
    val sent = master(Flow(MacTxRecord(p)))
    val received = master(Flow(MacRxRecord(p)))
    val stamp = master(Flow(TxTimestamp()))
  }
  val rx = new PortRx(p, 0, macRx, host, ps)
  val tx = new PortTx(p, 0, host, ps, macTx)
  val test = ps(new PortTest(p, watchCycles, answerCycles))
  test.io.bus << io.bus
  test.io.link := io.link
  io.idle := test.io.idle
  val loop = new MacLoop(ps, macTx, macRx)
  loop.io.control.on := ps(RegNext(io.loop) init False)
  io.loops := loop.io.control.loops
  io.lost := loop.io.control.lost
  loop.io.tx <> tx.io.pins
  loop.io.macTx <> io.txPins
  loop.io.txTime := io.time
  loop.io.macRx <> io.rxPins
  loop.io.rx <> rx.io.pins
  loop.io.rxTime := io.rxTime
  rx.io.host >> io.toHost
  rx.io.ps >> io.toPs
  rx.io.psFilter := io.psFilter
  rx.io.psLimit.flatten.foreach(field => field.assignFromBits(B(0, widthOf(field) bits)))
  rx.io.skip := 1
  rx.io.timeKnown := True
  rx.io.test := test.io.rx
  test.io.received << rx.io.record
  io.received << rx.io.record.toFlowFire
  tx.io.host << io.fromHost
  tx.io.ps << io.fromPs
  tx.io.timeKnown := True
  tx.io.time := io.time
  tx.io.test <> test.io.tx
  io.stamp << tx.io.timestamps.toFlow
  val sent = tx.io.record.toFlow
  test.io.sent << sent
  io.sent << sent
}

/** A frame that left the card: when its first beat did, in cycles of the MAC. */
case class OnWire(data: Array[Byte], start: Double, ofTest: Boolean)

/** Drives a [[PortTestTop]]: registers, a MAC at line rate, frames of host and PS. Received frames are those that `loop`
  * makes of the sent ones, and what is given to `receive`.
  */
class PortTestBench(val dut: PortTestTop, mac: Int = 2560, macRx: Int = 2560) {
  val p = dut.p
  val wire = mutable.ArrayBuffer[OnWire]()
  val toHost, toPs = mutable.ArrayBuffer[Seq[Byte]]()
  val txStamps = mutable.ArrayBuffer[(Int, BigInt)]() // tag and ns
  val rxStamps = mutable.ArrayBuffer[Option[BigInt]]() // of the frames in toPs
  var loop: OnWire => Seq[(Array[Byte], Boolean)] = _ => Nil
  var holds = false // the MAC takes nothing
  var flight = 40 // cycles from the first beat sent to the first received
  private val known = mutable.Map[String, Int](
    "command" -> 0,
    "mode" -> 4,
    "size" -> 8,
    "step" -> 0xc,
    "interval" -> 0x10,
    "frames" -> 0x14,
    "run" -> 0x18,
    "low" -> 0x1c,
    "high" -> 0x20,
    "rate" -> 0x24,
    "burst" -> 0x28,
    "status" -> 0x40,
    "cut" -> 0x44,
    "least" -> 0x48,
    "most" -> 0x4c
  )

  for (
    valid <- Seq(
      dut.io.bus.cmd.valid,
      dut.io.fromHost.valid,
      dut.io.fromPs.valid,
      dut.io.rxPins.tvalid,
      dut.io.rxPins.tstampValid
    )
  )
    valid #= false
  dut.io.bus.cmd.fromHost #= false
  dut.io.bus.cmd.function #= 0
  dut.io.txPins.tready #= false
  dut.io.txPins.tstampValid #= false
  dut.io.toHost.ready #= true
  dut.io.toPs.ready #= true
  dut.io.link #= true
  dut.io.loop #= false
  val filter = dut.io.psFilter
  filter.enable #= true
  filter.broadcast #= true
  filter.allMulticast #= false
  filter.promiscuous #= true // the PS would have a copy of every frame
  filter.valid #= 0
  filter.address.foreach(_ #= 0)
  dut.macTx.forkStimulus(mac)
  dut.macRx.forkStimulus(macRx)
  dut.host.forkStimulus(4000)
  dut.ps.forkStimulus(4000)
  sleep(400L * mac)

  private def ns(time: Long) = BigInt(time / 1000)
  dut.macRx.onSamplings {
    dut.io.rxTime.nanoseconds #= ns(simTime()) % 1000000000
    dut.io.rxTime.seconds #= ns(simTime()) / 1000000000
  }
  dut.ps.onSamplings {
    val stamp = dut.io.stamp
    if (stamp.valid.toBoolean) txStamps += stamp.tag.toInt -> stamp.timestamp.nanoseconds.toBigInt
    val frame = dut.io.toPs
    if (frame.valid.toBoolean && frame.ready.toBoolean && frame.last.toBoolean)
      rxStamps += Option.when(frame.meta.timestampValid.toBoolean)(frame.meta.timestamp.nanoseconds.toBigInt)
  }
  def setLoop(on: Boolean): Unit = dut.io.loop #= on

  /** The wire behind the transmit pins: the next frame may begin a gap behind the last. */
  var cycle = 0L
  private var free = 0.0
  private var begun = 0L
  private val bytes = mutable.ArrayBuffer[Byte]()
  private val landing = mutable.Queue[(Long, Array[Byte], Boolean)]()
  dut.macTx.onSamplings {
    cycle += 1
    dut.io.time.nanoseconds #= ns(simTime()) % 1000000000
    dut.io.time.seconds #= ns(simTime()) / 1000000000
    val pins = dut.io.txPins
    assert(bytes.isEmpty || pins.tvalid.toBoolean, "tvalid fell inside a frame")
    if (pins.tvalid.toBoolean && pins.tready.toBoolean) {
      if (bytes.isEmpty) begun = cycle
      val count = Integer.bitCount(pins.tkeep.toInt)
      val word = pins.tdata.toBigInt
      for (i <- 0 until count) bytes += (word >> (8 * i)).toByte
      if (pins.tlast.toBoolean) {
        val data = bytes.toArray
        val frame = OnWire(data, begun.toDouble, data.slice(12, 14).sameElements(Array(0x88.toByte, 0xb5.toByte)))
        wire += frame
        free = free.max(begun - 1.0) + (data.length + 24) / 8.0
        for ((copy, bad) <- loop(frame)) landing.enqueue((begun + flight, copy, bad))
        bytes.clear()
      }
    }
    pins.tready #= !holds && (bytes.nonEmpty || free <= cycle + 1)
  }

  def receive(data: Array[Byte], bad: Boolean = false): Unit = landing.enqueue((cycle, data, bad))

  fork {
    val pins = dut.io.rxPins
    while (true) {
      if (landing.nonEmpty && landing.head._1 <= cycle) {
        val (_, data, bad) = landing.dequeue()
        val words = data.grouped(8).toSeq
        for ((word, i) <- words.zipWithIndex) {
          pins.tvalid #= true
          pins.tdata #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
          pins.tkeep #= (1 << word.length) - 1
          pins.tlast #= i == words.length - 1
          pins.tuser #= bad && i == words.length - 1
          pins.tstampValid #= i == 0
          if (i == 0) {
            pins.tstamp.nanoseconds #= ns(simTime()) % 1000000000
            pins.tstamp.seconds #= ns(simTime()) / 1000000000
          }
          dut.macRx.waitSampling()
        }
        pins.tvalid #= false
        pins.tstampValid #= false
        dut.macRx.waitSampling(2)
      } else dut.macRx.waitSampling()
    }
  }

  private def collect(
      stream: Stream[_ <: Data],
      bytesOf: () => (BigInt, Int, Boolean),
      into: mutable.ArrayBuffer[Seq[Byte]],
      cd: ClockDomain
  ): Unit = {
    val bytes = mutable.ArrayBuffer[Byte]()
    cd.onSamplings {
      if (stream.valid.toBoolean && stream.ready.toBoolean) {
        val (word, count, last) = bytesOf()
        for (i <- 0 until count) bytes += (word >> (8 * i)).toByte
        if (last) { into += bytes.toSeq; bytes.clear() }
      }
    }
  }
  collect(
    dut.io.toHost,
    () => (dut.io.toHost.data.toBigInt, p.hostBytes - dut.io.toHost.mty.toInt, dut.io.toHost.last.toBoolean),
    toHost,
    dut.host
  )
  collect(
    dut.io.toPs,
    () => (dut.io.toPs.data.toBigInt, 8 - dut.io.toPs.mty.toInt, dut.io.toPs.last.toBoolean),
    toPs,
    dut.ps
  )

  private def access(address: Int, data: Option[BigInt]): BigInt = {
    val bus = dut.io.bus
    bus.cmd.valid #= true
    bus.cmd.write #= data.isDefined
    bus.cmd.address #= address
    bus.cmd.data #= data.getOrElse(BigInt(0))
    dut.ps.waitSamplingWhere(20)(bus.cmd.ready.toBoolean)
    bus.cmd.valid #= false
    assert(!dut.ps.waitSamplingWhere(20)(bus.rsp.valid.toBoolean), "no answer")
    assert(!bus.rsp.unmapped.toBoolean, f"no register at $address%x")
    bus.rsp.data.toBigInt
  }
  def write(name: String, value: BigInt): Unit = access(known(name), Some(value))
  private def command(bit: Int): Unit = {
    write("command", bit)
    dut.ps.waitSampling(10)
  }
  def read(name: String): BigInt = access(known(name), None)

  /** A counter by its name. */
  def count(name: String): BigInt = {
    val at = PortTestRegs.counters + 8 * PortJudge.counts.indexWhere(_._1 == name)
    assert(at >= PortTestRegs.counters, name)
    val low = access(at, None)
    low + (access(at + 4, None) << 32)
  }
  def counts: Map[String, BigInt] = PortJudge.counts.map { case (name, _) => name -> count(name) }.toMap

  def state: Int = (read("status") & 7).toInt
  def refusal: Int = (read("status") >> 8 & 255).toInt
  def end: Int = (read("status") >> 16 & 255).toInt
  def code(e: SpinalEnumElement[_]): Int = e.position

  def start(
      first: Int = 60,
      last: Int = -1,
      step: Int = 0,
      frames: Int = 0,
      interval: BigInt = 0,
      label: Int = 0x1234,
      patience: Int = 2,
      mode: Int = 3,
      rate: BigInt = 0,
      burst: Int = 0
  ): Unit = {
    write("size", first | BigInt(if (last < 0) first else last) << 16)
    write("step", step)
    write("interval", interval)
    write("rate", rate)
    write("burst", burst)
    write("frames", frames)
    write("run", label | BigInt(patience) << 16)
    write("low", BigInt("ddccbb02", 16))
    write("high", 0xffee)
    write("mode", mode)
    command(1)
  }
  def stop(): Unit = command(2)
  def off(): Unit = command(4)

  /** The frame under way is lost. */
  def resetMacTx(cycles: Int): Unit = {
    dut.macTx.assertReset()
    dut.ps.waitSampling(cycles)
    bytes.clear()
    dut.macTx.deassertReset()
  }

  def until(what: String, cycles: Int = 200000)(condition: => Boolean): Unit = {
    var left = cycles
    while (!condition && left > 0) { dut.ps.waitSampling(20); left -= 20 }
    assert(left > 0, s"$what has not come: state $state, refusal $refusal, end $end")
  }
  def untilIdle(cycles: Int = 200000): Unit = until("idle", cycles)(dut.io.idle.toBoolean)

  def sendHost(data: Array[Byte]): Unit = send(dut.io.fromHost, data, p.hostBytes, dut.host) { s =>
    s.meta.drop #= false
    s.meta.paced #= false
  }
  def sendPs(data: Array[Byte], tag: Option[Int] = None): Unit = send(dut.io.fromPs, data, 8, dut.ps) { s =>
    s.meta.timestamp #= tag.isDefined
    s.meta.tag #= tag.fold(0)(identity)
  }
  private def send[M <: Data](
      stream: Stream[Fragment[meridian.frame.FrameWord[M]]],
      data: Array[Byte],
      width: Int,
      cd: ClockDomain
  )(
      meta: meridian.frame.FrameWord[M] => Unit
  ): Unit = {
    val words = data.grouped(width).toSeq
    for ((word, i) <- words.zipWithIndex) {
      stream.valid #= true
      stream.data #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
      stream.mty #= width - word.length
      stream.last #= i == words.length - 1
      meta(stream.fragment)
      cd.waitSamplingWhere(stream.ready.toBoolean)
    }
    stream.valid #= false
  }

  /** The test frame with this number as it has to be; its stamp is taken out of the frame. */
  def expected(data: Array[Byte], length: Int, number: Int, label: Int = 0x1234): Array[Byte] =
    TestFrameModel(
      length,
      label & 0x7ff,
      label >> 11,
      number,
      TestFrameModel.number(data, 24),
      Seq(0x02, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x02, 0x4d, 0x52, 0x44, 0x4e, 0x00).map(_.toByte)
    )
}
