// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import meridian.mac.{MacRxPins, MacTxPins, PortRx, PortTx}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** Both sides of a port that sends flow control, and the other end of its link, which fills the line with frames of all
  * priorities, obeys PFC as late as 802.1Q lets it, and sits at the end of 100 m of fibre.
  */
class LosslessPortTest extends AnyFunSuite {
  private val p = ShellParam(
    maxFrame = 1600,
    rxBufferBytes = 16384,
    psBufferBytes = 4096,
    egress = true,
    pool = true,
    ownDma = true
  )
  private def clock(name: String) = ClockDomain.external(name, ClockDomainConfig(resetKind = SYNC))

  class Port(val macRxCd: ClockDomain, val macTxCd: ClockDomain, val hostCd: ClockDomain, val psCd: ClockDomain)
      extends Component {
    val rx = new PortRx(p, 0, macRxCd, hostCd, psCd)
    val tx = new PortTx(p, 0, hostCd, psCd, macTxCd)
    val sender = new PauseTx(p, macRxCd, macTxCd, unitCycles = 64)
    val config = in(PauseTxConfig())
    val buffer = in(PauseBufferConfig())
    val watch = in(PauseWatchConfig())
    sender.io.config := config
    sender.io.buffer := buffer
    sender.io.watch := watch
    sender.io.link := True
    sender.io.skip := 1
    sender.io.fill <> rx.fill
    tx.io.control << sender.io.frames
    val stopped, expired = out Bits (8 bits)
    stopped := sender.io.stopped
    expired := sender.io.expired

    val rxPins = slave(MacRxPins())
    rxPins <> rx.io.pins
    rx.io.skip := 1
    rx.io.timeKnown := True
    rx.io.psLimit.assignFromBits(B(0, widthOf(rx.io.psLimit) bits))
    rx.io.psFilter.assignFromBits(B(0, widthOf(rx.io.psFilter) bits))
    rx.io.ps.ready := True
    rx.io.record.ready := True
    rx.flow.take := False
    val overflow = out(rx.io.record.valid && rx.io.record.hostOverflow)
    val host = master(cloneOf(rx.io.host))
    host << rx.io.host

    val ps = slave(cloneOf(tx.io.ps))
    ps >> tx.io.ps
    tx.io.cells.flatten.filter(_.isInput).foreach(signal => signal.assignFromBits(B(0, widthOf(signal) bits)))
    tx.io.held := 0
    val txPins = master(MacTxPins())
    txPins <> tx.io.pins
    tx.io.timeKnown := True
    val sent = out(tx.io.record.valid && tx.io.record.control)
    tx.io.record.ready := True
    tx.io.timestamps.ready := True
  }
  private lazy val compiled = SimConfig
    .withConfig(SpinalConfig(targetDirectory = "target/losslessPort"))
    .compile(new Port(clock("macRx"), clock("macTx"), clock("host"), clock("ps")))

  private val cycle = 2560L
  private val station = Seq(2, 0, 0, 0, 0, 9)

  /** The cable both ways, and what the other end may take to stop (802.1Q 36.1.3.3). */
  private val response = 1000000L + 614400L

  /** Bytes that come after a decision to stop: until it is on the line behind a frame of ours, until the other end stops, and
    * the frame that it has begun. A word of the buffer may have one byte of a frame of 65, which has 89 on the line.
    */
  private val headroom =
    ((response / cycle + 60) * 8 + 2 * (p.maxFrame + 24) + 84) * 96 / 89 / PauseRegs.fillUnit + 1
  private val most = p.rxBufferBytes / PauseRegs.fillUnit - 2
  private val frame = p.maxFrame / PauseRegs.fillUnit + 1
  private val lossy = 30
  private val xoff = (most - headroom - lossy - frame).toInt

  class Bench(port: Port, seed: Int, offer: Random => Int) {
    val random = new Random(seed)
    import port.{hostCd, macRxCd, macTxCd, psCd}
    port.config.pause #= false
    port.config.pfc #= 0
    port.config.quanta #= 0xffff
    port.config.station #= ControlFrame.address(station)
    port.watch.limit #= 0
    port.watch.drop #= 0
    (port.buffer.classes.toSeq :+ port.buffer.all).foreach { to => to.xoff #= 0; to.xon #= 0 }
    port.buffer.lossy #= 0
    port.rxPins.tvalid #= false
    port.rxPins.tstampValid #= false
    port.txPins.tready #= true
    port.txPins.tstampValid #= false
    port.ps.valid #= false
    port.host.ready #= false
    var readyPercent = 100
    val lost = Array.fill(8)(0)
    val came = Array.fill(8)(0)
    val next = Array.fill(8)(0)
    var overflows, records = 0
    val told = ArrayBuffer[(Int, Seq[Int])]() // opcode and fields of each frame of flow control at the pins
    var expired = 0

    // What the other end obeys, and from when on.
    private val orders = mutable.Queue[(Long, Array[Long])]() // at a time: until when each priority is stopped, or -1
    private val until = Array.fill(8)(0L)
    private val bytes = ArrayBuffer[Int]()
    macRxCd.forkStimulus(cycle)
    sleep(1 + random.nextInt(2560))
    macTxCd.forkStimulus(cycle + random.nextInt(3) - 1)
    hostCd.forkStimulus(4000)
    sleep(1 + random.nextInt(4000))
    psCd.forkStimulus(4000)
    macTxCd.onSamplings {
      expired |= port.expired.toInt
      if (port.txPins.tvalid.toBoolean && port.txPins.tready.toBoolean) {
        val word = port.txPins.tdata.toBigInt
        for (i <- 0 until 8 if (port.txPins.tkeep.toInt >> i & 1) == 1) bytes += (word >> (8 * i) & 0xff).toInt
        if (port.txPins.tlast.toBoolean) {
          for ((opcode, fields) <- ControlFrame.read(bytes.toSeq, Nil)) {
            assert(bytes.size == 60 && bytes.slice(6, 12) == station)
            told += ((opcode, fields))
            val enable = if (opcode == 1) 0xff else fields.head
            def quanta(i: Int) = if (opcode == 1) fields.head else fields(1 + i)
            val at = simTime() + response
            orders += ((at, Array.tabulate(8)(i => if ((enable >> i & 1) == 1) at + quanta(i) * 8 * cycle else -1L)))
          }
          bytes.clear()
        }
      }
    }
    psCd.onSamplings {
      if (port.overflow.toBoolean) overflows += 1
      if (port.sent.toBoolean) records += 1
    }
    // Each frame has its priority in its tag, and a number of its priority behind it.
    private var first = true
    hostCd.onSamplings {
      val host = port.host
      if (host.valid.toBoolean && host.ready.toBoolean) {
        if (first) {
          val data = host.data.toBigInt
          def byte(i: Int) = (data >> (8 * i) & 0xff).toInt
          val priority = byte(14) >> 5
          val number = byte(16) | byte(17) << 8
          val gap = number - next(priority) & 0xffff
          lost(priority) += gap
          next(priority) = number + 1 & 0xffff
          came(priority) += 1
        }
        first = host.last.toBoolean
      }
      host.ready #= random.nextInt(100) < readyPercent
    }
    pass(400)

    /** The other end: a frame of a priority that is not stopped, back to back, 24 bytes of line between them. */
    private val sentOf = Array.fill(8)(0)
    fork {
      while (true) {
        while (orders.headOption.exists(_._1 <= simTime())) {
          val (_, times) = orders.dequeue()
          for (i <- 0 until 8 if times(i) >= 0) until(i) = times(i)
        }
        val priority = offer(random)
        if (priority < 0 || until(priority) > simTime()) macRxCd.waitSampling()
        else {
          val length = random.nextInt(4) match {
            case 0 => 60 + random.nextInt(10)
            case 1 => p.maxFrame - random.nextInt(3)
            case _ => 64 + random.nextInt(p.maxFrame - 64)
          }
          val number = sentOf(priority)
          sentOf(priority) += 1
          val frame = (Seq.fill(6)(2) ++ Seq.fill(6)(4) ++
            Seq(0x81, 0x00, priority << 5, 1, number & 0xff, number >> 8 & 0xff)).padTo(length, 0x5a)
          val beats = ControlFrame.beats(frame)
          for (((data, count), i) <- beats.zipWithIndex) {
            port.rxPins.tvalid #= true
            port.rxPins.tdata #= data
            port.rxPins.tkeep #= (1 << count) - 1
            port.rxPins.tlast #= i == beats.size - 1
            port.rxPins.tuser #= false
            macRxCd.waitSampling()
          }
          port.rxPins.tvalid #= false
          macRxCd.waitSampling(3)
        }
      }
    }

    /** The PS sends frames of the longest without a pause, for which frames of flow control have to wait. */
    def busyPs(): Unit = fork {
      val beats = p.maxFrame / 8
      while (true)
        for (i <- 0 until beats) {
          port.ps.valid #= true
          port.ps.data #= BigInt("0a0000020a00", 16)
          port.ps.mty #= 0
          port.ps.last #= i == beats - 1
          port.ps.meta.timestamp #= false
          port.ps.meta.tag #= 0
          psCd.waitSamplingWhere(port.ps.ready.toBoolean)
        }
    }
    def pass(cycles: Long): Unit = sleep(cycles * cycle)
    def sendPfc(classes: Int): Unit = {
      port.config.pfc #= classes
      pass(40)
    }
    def drained(): Unit = {
      readyPercent = 100
      pass(20000)
    }
  }
  private def any(random: Random): Int = random.nextInt(8)

  test("priorities of which PFC is sent lose no frame while the host takes few, others lose those that are counted") {
    for (seed <- 0 until 4)
      compiled.doSim("lossless", seed) { port =>
        val bench = new Bench(port, seed, any)
        import bench._
        val lossless = Seq(0x0f, 0x80, 0x55, 0xfe)(seed)
        port.buffer.all.xoff #= xoff
        port.buffer.all.xon #= xoff - 10
        port.buffer.lossy #= lossy
        sendPfc(lossless)
        busyPs()
        for (percent <- Seq(10, 30, 0, 60, 20, 100, 5, 15)) {
          readyPercent = percent
          pass(12000)
        }
        drained()
        for (i <- 0 until 8) if ((lossless >> i & 1) == 1) assert(lost(i) == 0 && came(i) > 20, s"seed $seed class $i")
        assert(lost.sum > 50 && (lost.sum - overflows).abs <= 8, "one number that was lost last shows in no gap")
        assert(told.size > 2 && told.forall { case (opcode, fields) =>
          opcode == 0x0101 && (fields.head & ~lossless) == 0
        })
        assert(told.exists(_._2.tail.exists(_ == 0xffff)) && told.exists(_._2.tail.forall(_ == 0)))
        assert((records - told.size).abs <= 1, "frames of flow control are recorded as such")
      }
  }

  test("without room above the threshold frames are lost, so that the test before may fail") {
    compiled.doSim("tooHigh", 1) { port =>
      val bench = new Bench(port, 1, any)
      import bench._
      port.buffer.all.xoff #= most - 30
      port.buffer.all.xon #= xoff / 2
      sendPfc(0xff)
      busyPs()
      for (percent <- Seq(10, 30, 0, 60, 0, 5)) {
        readyPercent = percent
        pass(12000)
      }
      drained()
      assert(lost.sum > 0 && told.nonEmpty)
    }
  }

  test("PAUSE keeps all frames, tagged with any priority") {
    compiled.doSim("pause", 2) { port =>
      val bench = new Bench(port, 2, any)
      import bench._
      port.buffer.all.xoff #= xoff
      port.buffer.all.xon #= xoff - 10
      port.buffer.lossy #= 1 // of PFC only
      port.config.pause #= true
      pass(40)
      for (percent <- Seq(10, 30, 0, 60, 0, 5)) {
        readyPercent = percent
        pass(12000)
      }
      drained()
      assert(lost.sum == 0 && overflows == 0 && came.forall(_ > 20))
      assert(told.size > 4 && told.forall(_._1 == 1))
    }
  }

  test("a class over its own threshold is stopped alone, and the others go on") {
    // Class 3 wants all, class 5 a frame now and then.
    compiled.doSim("alone", 3) { port =>
      val bench = new Bench(port, 3, random => if (random.nextInt(100) == 0) 5 else 3)
      import bench._
      // No frame of the PS is in the way of those of flow control, and none of another class there.
      port.buffer.all.xoff #= xoff + frame
      port.buffer.all.xon #= xoff / 2
      for ((i, at) <- Seq(3 -> 8, 5 -> 100)) { // a frame of class 5 alone is no more than 25
        port.buffer.classes(i).xoff #= at
        port.buffer.classes(i).xon #= at / 2
      }
      sendPfc(0x28)
      readyPercent = 30
      pass(60000)
      drained()
      assert(lost.sum == 0 && came(3) > 100 && came(5) > 10)
      val stops = told.filter(_._2.tail.exists(_ != 0))
      assert(stops.size > 10 && stops.forall { case (_, fields) => fields(1 + 3) != 0 && fields(1 + 5) == 0 })
    }
  }

  test(
    "a host that takes nothing stops the other end no longer than the limit, and stops it anew once it has taken frames"
  ) {
    compiled.doSim("limit", 4) { port =>
      val bench = new Bench(port, 4, any)
      import bench._
      port.buffer.all.xoff #= xoff
      port.buffer.all.xon #= xoff / 2
      port.watch.limit #= 100 // of 64 cycles
      sendPfc(0xff)
      readyPercent = 0
      pass(6000)
      assert(told.nonEmpty && port.stopped.toInt == 0xff && expired == 0)
      pass(6000)
      assert(expired == 0xff && port.stopped.toInt == 0 && told.last._2.tail.forall(_ == 0))
      assert(overflows > 0, "frames are lost then")
      val before = told.size
      drained()
      readyPercent = 10
      pass(6000)
      assert(told.size > before)
    }
  }
}
