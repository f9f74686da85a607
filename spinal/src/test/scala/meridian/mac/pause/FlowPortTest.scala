// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import meridian.mac.{MacRxPins, MacTxPins, PortRx, PortTx}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** Both sides of a port, joined as the shell joins them: frames at the receive pins stop frames at the transmit pins. */
class FlowPortTest extends AnyFunSuite {
  private val p = ShellParam(maxFrame = 1600, txBufferBytes = 4096, psBufferBytes = 4096, egress = true)
  private def clock(name: String) = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))

  class Port(val macRxCd: ClockDomain, val macTxCd: ClockDomain, val hostCd: ClockDomain, val psCd: ClockDomain)
      extends Component {
    val rx = new PortRx(p, 0, macRxCd, hostCd, psCd)
    val tx = new PortTx(p, 0, hostCd, psCd, macTxCd)
    val pause = new PauseRx(p, macRxCd, macTxCd, unitCycles = 64)
    val report = new PauseReport(macRxCd, macTxCd, psCd)
    val config = in(PauseRxConfig())
    val watch = in(PauseWatchConfig())
    pause.io.config := config
    pause.io.watch := watch
    pause.io.link := True
    pause.io.skip := 1
    pause.io.beat << rx.flow.beat
    pause.io.bad := rx.flow.bad
    rx.flow.take := pause.io.take
    tx.io.held := pause.io.held
    tx.io.high := 0xf0
    report.io.seen << pause.io.seen
    report.io.paused := pause.io.paused
    report.io.storm := pause.io.storm
    val frames = out(cloneOf(report.io.frames))
    val paused, storm = out Bits (8 bits)
    frames := report.io.frames
    paused := report.io.isPaused
    storm := report.io.isStorm

    val rxPins = slave(MacRxPins())
    rxPins <> rx.io.pins
    rx.io.skip := 1
    rx.io.timeKnown := True
    rx.io.psLimit.assignFromBits(B(0, widthOf(rx.io.psLimit) bits))
    rx.io.psFilter.assignFromBits(B(0, widthOf(rx.io.psFilter) bits))
    rx.io.psFilter.enable.allowOverride() := True
    rx.io.psFilter.promiscuous.allowOverride() := True
    rx.io.host.ready := True
    rx.io.ps.ready := True
    rx.io.record.ready := True
    val toHost = out(rx.io.host.valid && rx.io.host.last)
    val toPs = out(rx.io.ps.valid && rx.io.ps.last)

    val host = slave(cloneOf(tx.io.host))
    host >> tx.io.host
    tx.io.ps.valid := False
    tx.io.ps.payload.assignFromBits(B(0, widthOf(tx.io.ps.payload) bits))
    val txPins = master(MacTxPins())
    txPins <> tx.io.pins
    tx.io.timeKnown := True
    tx.io.record.ready := True
    tx.io.timestamps.ready := True
  }
  private lazy val compiled = SimConfig
    .withConfig(SpinalConfig(targetDirectory = "target/flowPort"))
    .compile(new Port(clock("macRx"), clock("macTx"), clock("host"), clock("ps")))

  private val cycle = 2560L

  /** Frames of the lower queue are always there, those of the upper fill 40 % of the line. The first byte of each tells its
    * queue.
    */
  class Bench(port: Port, seed: Int) {
    private val random = new Random(seed)
    import port.{hostCd, macRxCd, macTxCd, psCd}
    port.config.pause #= false
    port.config.pfc #= 0
    port.config.station #= 0
    port.watch.limit #= 0
    port.watch.drop #= 0
    port.rxPins.tvalid #= false
    port.rxPins.tstampValid #= false
    port.txPins.tready #= true
    port.txPins.tstampValid #= false
    port.host.valid #= false

    // The last beat of the last control frame, and when frames of each queue began, in ps.
    var lastBeat = 0L
    val begins = Array.fill(2)(ArrayBuffer[Long]())
    var toHost, toPs = 0
    val counts = Array.fill(3)(0)
    var stormed = false
    private var first = true
    macRxCd.forkStimulus(cycle)
    sleep(1 + random.nextInt(2560))
    macTxCd.forkStimulus(cycle + random.nextInt(3) - 1)
    hostCd.forkStimulus(4000)
    sleep(1 + random.nextInt(4000))
    psCd.forkStimulus(4000)
    macTxCd.onSamplings {
      if (port.txPins.tvalid.toBoolean && port.txPins.tready.toBoolean) {
        if (first) begins((port.txPins.tdata.toBigInt & 1).toInt) += simTime()
        first = port.txPins.tlast.toBoolean
      }
    }
    hostCd.onSamplings(if (port.toHost.toBoolean) toHost += 1)
    psCd.onSamplings {
      if (port.toPs.toBoolean) toPs += 1
      for (i <- 0 until 3) counts(i) += port.frames(i).toInt
      if (port.storm.toInt != 0) stormed = true
    }
    pass(300)
    fork {
      var number = 0
      while (true) {
        val high = number % 3 == 0
        val beats = 2 + random.nextInt(4)
        for (i <- 0 until beats) {
          port.host.valid #= true
          port.host.data #= (if (high) 1 else 0)
          port.host.last #= i == beats - 1
          port.host.mty #= 0
          port.host.meta.drop #= false
          port.host.meta.paced #= false
          port.host.meta.high #= high
          hostCd.waitSamplingWhere(port.host.ready.toBoolean)
        }
        port.host.valid #= false
        hostCd.waitSampling(4)
        number += 1
      }
    }
    pass(400)

    def pass(cycles: Long): Unit = sleep(cycles * cycle)
    def configure(pause: Boolean, pfc: Int): Unit = {
      port.config.pause #= pause
      port.config.pfc #= pfc
      pass(40)
    }
    def receive(frame: Seq[Int], bad: Boolean = false): Unit = {
      val beats = ControlFrame.beats(frame)
      for (((data, count), i) <- beats.zipWithIndex) {
        port.rxPins.tvalid #= true
        port.rxPins.tdata #= data
        port.rxPins.tkeep #= (1 << count) - 1
        port.rxPins.tlast #= i == beats.size - 1
        port.rxPins.tuser #= bad && i == beats.size - 1
        macRxCd.waitSampling()
      }
      lastBeat = simTime()
      port.rxPins.tvalid #= false
    }

    /** Frames of the lower and of the upper queue that began in that time. */
    def flow(cycles: Long): Seq[Int] = {
      begins.foreach(_.clear())
      pass(cycles)
      begins.map(_.size).toSeq
    }
  }

  test("PFC stops the queue of its class within the bound, until its quanta are over; the other goes on") {
    var latest = 0.0
    for (seed <- 0 until 16)
      compiled.doSim(s"pfc$seed", seed) { port =>
        val bench = new Bench(port, seed)
        val c = seed % 8
        val queue = if (c >= 4) 1 else 0
        bench.configure(pause = false, 0xff)
        val quanta = 60
        bench.flow(300)
        bench.receive(ControlFrame.pfc(1 << c, Seq.fill(8)(quanta)))
        bench.pass(quanta * 8 + 100)
        val (before, after) = bench.begins(queue).partition(_ < bench.lastBeat + quanta * 4 * cycle)
        latest = latest max (before.last - bench.lastBeat).toDouble / cycle
        val again = (after.head - bench.lastBeat) / cycle
        assert(again >= quanta * 8 && again <= quanta * 8 + 60, s"class $c goes on after $again cycles")
        val others = bench.begins(1 - queue)
        assert(others.zip(others.tail).forall { case (a, b) => b - a < 120 * cycle }, "the other queue stands still")
        assert(bench.counts.toSeq == Seq(0, 1, 0))
      }
    println(f"the last frame begins $latest%.2f cycles behind the last beat, at the pins")
    assert(latest > 4 && latest <= 10)
  }

  test("PAUSE stops both queues, and a time of 0 lets them go on at once") {
    compiled.doSim("pause", 3) { port =>
      val bench = new Bench(port, 3)
      bench.configure(pause = true, 0)
      bench.receive(ControlFrame.pause(0xffff))
      bench.pass(40)
      assert(bench.flow(2000) == Seq(0, 0) && port.paused.toInt == 0xff)
      bench.receive(ControlFrame.pause(0))
      assert(bench.flow(60)(1) > 1 && port.paused.toInt == 0)
      bench.pass(1500) // what has waited in the upper queue is gone
      assert(bench.flow(200).forall(_ > 2))
      // A frame with a wrong FCS stops nothing, and PFC is not obeyed beside PAUSE.
      bench.receive(ControlFrame.pause(0xffff), bad = true)
      bench.receive(ControlFrame.pfc(0xff, Seq.fill(8)(0xffff)))
      bench.pass(40)
      assert(bench.flow(200).forall(_ > 2) && bench.counts.toSeq == Seq(2, 0, 1))
    }
  }

  test("frames of MAC control go to nobody while flow control is on, and as any other while it is off") {
    compiled.doSim("taken", 4) { port =>
      val bench = new Bench(port, 4)
      def received(frame: Seq[Int]): (Int, Int) = {
        bench.toHost = 0
        bench.toPs = 0
        bench.receive(frame)
        bench.pass(100)
        (bench.toHost, bench.toPs)
      }
      val frame = ControlFrame.pfc(0xff, Seq.fill(8)(0xffff))
      val other = ControlFrame(ControlFrame.multicast, Seq.fill(6)(2), 0x8809, 1, Nil)
      assert(received(frame) == ((1, 1)) && received(other) == ((1, 1)))
      assert(bench.flow(200).forall(_ > 2), "off, and the frame is obeyed")
      bench.configure(pause = false, 0x10)
      assert(received(frame) == ((0, 0)) && received(other) == ((1, 1)))
      assert(bench.flow(200).head > 3 && bench.begins(1).isEmpty)
      bench.configure(pause = false, 0)
      bench.pass(1500) // what has waited in the upper queue is gone
      assert(received(frame) == ((1, 1)) && bench.flow(200).forall(_ > 2))
      assert(bench.counts.toSeq == Seq(0, 1, 0))
    }
  }

  test("a storm ends by the watchdog, and its frames are sent") {
    compiled.doSim("storm", 5) { port =>
      val bench = new Bench(port, 5)
      port.watch.limit #= 4
      bench.configure(pause = false, 0xff)
      for (_ <- 0 until 10) {
        bench.receive(ControlFrame.pfc(0x20, Seq.fill(8)(20)))
        bench.pass(100)
      }
      assert(bench.stormed && port.storm.toInt == 0x20 && bench.flow(50)(1) > 0)
      bench.pass(200)
      assert(port.storm.toInt == 0 && port.paused.toInt == 0)
      bench.receive(ControlFrame.pfc(0x20, Seq.fill(8)(20)))
      bench.pass(20)
      assert(bench.flow(60)(1) == 0, "the next pause is obeyed again")
    }
  }
}
