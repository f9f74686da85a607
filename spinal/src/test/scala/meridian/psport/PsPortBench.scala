// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{PsRxMeta, PsTxMeta, TxTimestamp}
import meridian.veb.PsVebEvents
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.bus.amba4.axi._
import spinal.lib.bus.amba4.axilite._
import spinal.lib.bus.amba4.axilite.sim.AxiLite4Driver
import spinal.lib.bus.misc.SizeMapping
import spinal.lib.bus.regif._

import scala.collection.mutable

/** The PS port behind its registers. */
class PsPortBench(p: ShellParam, patience: Int) extends Component {
  val io = new Bundle {
    val rx = Vec(slave(FrameStream(8, PsRxMeta(p))), p.ports)
    val tx = Vec(master(FrameStream(8, PsTxMeta())), p.ports)
    val txTimestamp = Vec(slave(Stream(TxTimestamp())), p.ports)
    val veb = in Vec (PsVebEvents(), p.ports)
    val axi = master(Axi4(PsAxi.config))
    val registers = slave(AxiLite4(16, 32))
    val interrupt = out Bool ()
    val skip = in UInt (32 bits)
    val idle = out Bool ()
    val timerCycles = out UInt (32 bits)
  }
  val port = new PsPort(p, cyclesPerMicrosecond = 10, patience)
  port.io.rx.zip(io.rx).foreach { case (a, b) => a << b }
  port.io.tx.zip(io.tx).foreach { case (a, b) => a >> b }
  port.io.txTimestamp.zip(io.txTimestamp).foreach { case (a, b) => a << b }
  port.io.veb := io.veb
  port.io.axi <> io.axi
  port.io.skip := io.skip
  io.interrupt := port.io.interrupt
  io.idle := port.io.idle
  io.timerCycles := port.io.timerCycles
  val busif = AxiLite4BusInterface(io.registers, SizeMapping(0, 0x10000))
  val registers = List.tabulate(p.ports)(i => new PsPortRegisters(busif, PsPortRegisters.size * i, i))
  for (i <- 0 until p.ports) registers(i).control <> port.io.control(i)
}

object PsPortBench {
  val param = ShellParam(ports = 2)
  val patience = 500
  lazy val compiled = SimConfig.withVerilator.compile(new PsPortBench(param, patience))
  def run(name: String, seed: Int)(body: PsPortEnv => Unit): Unit = {
    println(s"$name: seed $seed")
    compiled.doSim(name, seed) { dut =>
      SimTimeout(10L * 3000000)
      body(new PsPortEnv(dut))
    }
  }
}

/** Offsets of the registers, independent of the RTL's. */
object Offset {
  val control = 0x00; val status = 0x04; val baseLow = 0x08; val baseHigh = 0x0c
  val producer = 0x10; val consumer = 0x14; val coalesce = 0x18
  val rx = 0x00; val tx = 0x20
  val interruptStatus = 0x40; val interruptEnable = 0x44; val enableSet = 0x48; val enableClear = 0x4c
  val timestampStatus = 0x50; val timestampNanoseconds = 0x54; val timestampSeconds = 0x58; val timestampPop = 0x60
  val rxFrames = 0x80; val rxBytes = 0x88; val rxNoDescriptor = 0x90; val rxBufferSmall = 0x98; val rxDisabled = 0xa0
  val rxErrors = 0xa8; val txFrames = 0xb0; val txBytes = 0xb8; val txBadDescriptor = 0xc0; val txBusErrors = 0xc8
  val txAborted = 0xd0; val timestampsLost = 0xd8; val busErrors = 0xe0
  val rxInside = 0xe8; val txSwitched = 0xf0
}

case class RxFrame(
    bytes: Array[Byte],
    seconds: Long,
    nanoseconds: Long,
    stamped: Boolean,
    inside: Boolean = false,
    bulk: Boolean = false
)
case class SentFrame(bytes: Array[Byte], timestamp: Boolean, tag: Int)

/** Clock, memory, MAC side and register access of a bench. */
class PsPortEnv(val dut: PsPortBench) {
  val cd = dut.clockDomain
  val ports = dut.io.rx.size
  cd.forkStimulus(10)
  dut.io.skip #= 1
  val bus = AxiLite4Driver(dut.io.registers, cd)
  bus.awDriver.transactionDelay = () => 0
  bus.wDriver.transactionDelay = () => 0
  val memory = new PsMemory(dut.io.axi, cd)
  var rxGap: () => Boolean = () => simRandom.nextInt(5) == 0
  val txReady = Array.fill[() => Boolean](ports)(() => simRandom.nextInt(4) != 0)
  val rxQueue = Array.fill(ports)(mutable.Queue[RxFrame]())
  val sent = Array.fill(ports)(mutable.Queue[SentFrame]())
  val timestampQueue = Array.fill(ports)(mutable.Queue[(Int, Long, Long)]())

  /** Cycle of the last beat of every frame taken from rx, and offered at tx. */
  val rxEnds, txEnds = Array.fill(ports)(mutable.ArrayBuffer[Long]())

  for (port <- 0 until ports) {
    for (event <- Seq(dut.io.veb(port).frame, dut.io.veb(port).copy, dut.io.veb(port).lost)) event #= false
    val rx = dut.io.rx(port)
    rx.valid #= false
    var offered = 0
    cd.onSamplings {
      if (rx.valid.toBoolean && rx.ready.toBoolean) {
        offered += 8
        if (rx.last.toBoolean) {
          rxQueue(port).dequeue()
          rxEnds(port) += memory.now
          offered = 0
        }
        rx.valid #= false
      }
      val waiting = rx.valid.toBoolean && !rx.ready.toBoolean
      if (!waiting && rxQueue(port).nonEmpty && !rxGap()) {
        val frame = rxQueue(port).head
        rx.valid #= true
        rx.data #= (0 until 8).map(i => BigInt(frame.bytes.lift(offered + i).getOrElse(0.toByte) & 0xff) << (8 * i)).sum
        val last = offered + 8 >= frame.bytes.length
        rx.last #= last
        rx.mty #= (if (last) offered + 8 - frame.bytes.length else 0)
        rx.meta.length #= frame.bytes.length
        rx.meta.timestamp.seconds #= frame.seconds
        rx.meta.timestamp.nanoseconds #= frame.nanoseconds
        rx.meta.timestampValid #= frame.stamped
        rx.meta.inside #= frame.inside
        rx.meta.bulk #= frame.bulk
      }
    }
    val tx = dut.io.tx(port)
    tx.ready #= false
    val bytes = mutable.ArrayBuffer[Byte]()
    cd.onSamplings {
      if (tx.valid.toBoolean && tx.ready.toBoolean) {
        val data = tx.data.toBigInt
        val mty = tx.mty.toInt
        assert(tx.last.toBoolean || mty == 0, "mty is not 0 before the last beat")
        for (i <- 0 until 8 - mty) bytes += ((data >> (8 * i)) & 0xff).toByte
        if (tx.last.toBoolean) {
          sent(port).enqueue(SentFrame(bytes.toArray, tx.meta.timestamp.toBoolean, tx.meta.tag.toInt))
          txEnds(port) += memory.now
          bytes.clear()
        }
      }
      tx.ready #= txReady(port)()
    }
    val stamps = dut.io.txTimestamp(port)
    stamps.valid #= false
    cd.onSamplings {
      stamps.valid #= timestampQueue(port).nonEmpty
      if (timestampQueue(port).nonEmpty) {
        val (tag, seconds, nanoseconds) = timestampQueue(port).dequeue()
        stamps.tag #= tag
        stamps.timestamp.seconds #= seconds
        stamps.timestamp.nanoseconds #= nanoseconds
      }
    }
  }
  cd.waitSampling(20)

  def readRegister(port: Int, offset: Int): Long = bus.read(0x200 * port + offset).toLong
  def writeRegister(port: Int, offset: Int, value: Long): Unit = bus.write(0x200 * port + offset, value)
  def counter(port: Int, offset: Int): Long = readRegister(port, offset) | (readRegister(port, offset + 4) << 32)
  def waitFor(what: String, cycles: Int = 20000)(condition: => Boolean): Int = {
    var waited = 0
    while (!condition) {
      assert(waited < cycles, s"$what did not happen in $cycles cycles")
      cd.waitSampling()
      waited += 1
    }
    waited
  }
  def randomBytes(length: Int): Array[Byte] = Array.fill(length)(simRandom.nextInt(256).toByte)
  def randomFrame(length: Int): RxFrame = {
    val (seconds, nanoseconds) = (simRandom.nextLong() & 0xffffffffffffL, simRandom.nextInt(1000000000))
    RxFrame(randomBytes(length), seconds, nanoseconds, simRandom.nextBoolean())
  }
}

/** What a driver knows of one ring. */
abstract class PsRing(env: PsPortEnv, val port: Int, val offset: Int, val base: Long, val sizeLog2: Int) {
  val size = 1 << sizeLog2
  var producer, next = 0
  def register(which: Int): Long = env.readRegister(port, offset + which)
  def setRegister(which: Int, value: Long): Unit = env.writeRegister(port, offset + which, value)
  def start(): Unit = {
    setRegister(Offset.baseLow, base & 0xffffffffL)
    setRegister(Offset.baseHigh, base >> 32)
    enable()
  }
  def enable(): Unit = setRegister(Offset.control, (sizeLog2 << 8) | 1)
  def disable(): Unit = setRegister(Offset.control, sizeLog2 << 8)
  def running: Boolean = (register(Offset.status) & 1) != 0
  def error: Int = ((register(Offset.status) >> 4) & 3).toInt
  def stop(): Unit = {
    disable()
    var polls = 0
    while (running) { polls += 1; assert(polls < 2000, "the ring does not stop") }
  }
  def reset(): Unit = {
    stop()
    setRegister(Offset.control, (sizeLog2 << 8) | 2)
    env.cd.waitSampling(4)
    producer = 0
    next = 0
    for (i <- 0 until 32 * size) env.memory.setByte(base + i, 0)
    disable()
  }
  def address(index: Int): Long = base + 32L * (index % size)
  def posted: Int = producer - next
  def publish(): Unit = setRegister(Offset.producer, producer & 0xffff)

  /** Flags of the next completion if the card has written it. */
  def poll(): Option[Int] = {
    val flags = env.memory.number(address(next) + 30, 2).toInt
    val expected = if ((next / size) % 2 == 0) 1 else 0
    if (next < producer && (flags & 1) == expected) Some(flags) else None
  }
}

class RxRing(env: PsPortEnv, port: Int, base: Long, sizeLog2: Int)
    extends PsRing(env, port, Offset.rx, base, sizeLog2) {
  val buffers = mutable.HashMap[Int, (Long, Int)]()
  def post(buffer: Long, length: Int): Unit = {
    env.memory.setNumber(address(producer), 8, buffer)
    env.memory.setNumber(address(producer) + 8, 8, length | (simRandom.nextLong() << 16))
    buffers(producer % size) = (buffer, length)
    producer += 1
  }
  case class Received(flags: Int, bytes: Array[Byte], seconds: Long, nanoseconds: Long)
  def receive(): Option[Received] = poll().map { flags =>
    val at = address(next)
    val (buffer, _) = buffers(next % size)
    val length = env.memory.number(at + 20, 2).toInt
    next += 1
    Received(flags, env.memory.read(buffer, length), env.memory.number(at + 24, 6), env.memory.number(at + 16, 4))
  }
}

class TxRing(env: PsPortEnv, port: Int, base: Long, sizeLog2: Int)
    extends PsRing(env, port, Offset.tx, base, sizeLog2) {
  def post(buffer: Long, length: Int, timestamp: Boolean = false, tag: Int = 0): Unit = {
    env.memory.setNumber(address(producer), 8, buffer)
    env.memory.setNumber(address(producer) + 8, 2, length)
    env.memory.setNumber(address(producer) + 10, 2, (if (timestamp) 1 else 0) | (simRandom.nextInt(0x4000) << 1))
    env.memory.setNumber(address(producer) + 12, 2, tag)
    producer += 1
  }
  case class Completed(flags: Int, length: Int, tag: Int)
  def complete(): Option[Completed] = poll().map { flags =>
    val at = address(next)
    next += 1
    Completed(flags, env.memory.number(at + 20, 2).toInt, env.memory.number(at + 22, 2).toInt)
  }
}
