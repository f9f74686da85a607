// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.filter.mactable._
import meridian.meta.{MacRxRecord, MacTxRecord, RxRecord, TxRecord}
import meridian.pacing.RateWrite
import meridian.ptp.{ClockLatch, PtpFineTime}
import meridian.queue._
import meridian.settings._
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

import scala.util.Random

/** Both register banks and the crossing between them, as the shell connects them. */
class RegsBench(p: ShellParam) extends Component {
  val hostClock = ClockDomain.external("host", config = ClockDomainConfig(resetKind = SYNC))
  val psClock = ClockDomain.external("ps", config = ClockDomainConfig(resetKind = SYNC))
  val host = hostClock(new HostRegs(p))
  val card = psClock(new CardRegs(p))
  val crossing = new RegCrossing(CardRegs.addressBits, hostClock, psClock, timeout = 256)
  crossing.io.host << host.io.card
  card.io.host << crossing.io.ps
  host.io.psLinkUp := card.io.psLinkUp
  host.io.psHostRxEnable := card.io.psHostRxEnable
  host.io.psHostTxEnable := card.io.psHostTxEnable

  val bar2 = slave(AxiLite4(BarBus.config))
  val awuser, aruser = in Bits (BarBus.userBits bits)
  host.io.axi << bar2
  host.io.awuser := awuser
  host.io.aruser := aruser
  val ps = slave(AxiLite4(CardRegs.axiConfig))
  card.io.ps << ps

  val build_date, build_hash = in Bits (32 bits)
  host.io.build_date := build_date
  card.io.build_date := build_date
  card.io.build_hash := build_hash
  val functionReset = in Bits (p.functions bits)
  host.io.functionReset := functionReset
  val macLinkUp = in Bits (p.ports bits)
  card.io.macLinkUp := macLinkUp
  val rxReset = in Bits (p.ports bits)
  card.io.rxReset := rxReset
  val rxResets = in Vec (UInt(24 bits), p.ports)
  card.io.rxResets := rxResets
  val rxClock, txClock = Vec(master(ClockLatch()), p.ports)
  for (i <- 0 until p.ports) {
    rxClock(i) <> card.io.rxClock(i)
    txClock(i) <> card.io.txClock(i)
  }
  val cardIdle = out Bool ()
  cardIdle := card.io.idle
  val time = in(PtpFineTime())

  val flags = out(FunctionFlags(p))
  flags := host.io.flags
  val ports = out Vec (PortFlags(p), p.ports)
  ports := host.io.ports
  val range = master(Stream(QueueRange(p)))
  range << host.io.range
  val indirection = master(Flow(IndirectionWrite(p)))
  indirection << host.io.indirection
  val key = master(Flow(HashKeyWrite(p)))
  key << host.io.key
  val group = master(Flow(GroupWrite(p)))
  group << host.io.group
  val macCommand = master(Stream(MacCommand(p)))
  macCommand << host.io.macCommand
  val macAnswer = slave(Flow(MacAnswer(p)))
  host.io.macAnswer << macAnswer
  val hashKey = master(MacHashKey())
  hashKey <> host.io.hashKey
  val bufferSize = master(Flow(BufferSizeWrite(p)))
  bufferSize << host.io.bufferSize
  val released = slave(Flow(p.queueType()))
  host.io.released << released
  val switches = master(Flow(QueueSwitchWrite(p)))
  switches << host.io.switches
  val enforce = out Bool ()
  enforce := host.io.enforce
  val rate = master(Flow(RateWrite(p)))
  rate << host.io.rate
  val tag = master(Flow(TxTagWrite(p)))
  tag << host.io.tag
  val rxRecord, rxCopyRecord = slave(Flow(RxRecord(p)))
  host.io.rxRecord << rxRecord
  host.io.rxCopyRecord << rxCopyRecord
  val txRecord = slave(Flow(TxRecord(p)))
  host.io.txRecord << txRecord
  val c2hDrop = in Bool ()
  host.io.c2hDrop := c2hDrop
  host.io.c2hError := False
  host.io.resetTimeout := False
  host.io.cardTimeout := crossing.io.timedOut
  val macRx = Vec(slave(Stream(MacRxRecord(p))), p.ports)
  val macTx = Vec(slave(Stream(MacTxRecord(p))), p.ports)
  for (i <- 0 until p.ports) {
    card.io.rxRecord(i) << macRx(i)
    card.io.txRecord(i) << macTx(i)
  }
  val ringBytes = in UInt (64 bits)
  val ring = card.io.rings(0).counters.rxBytes
  ring := ringBytes
  card.io.phc.time := time
  private val driven = ring +: card.io.phc.time.flatten
  for (bundle <- card.io.phc +: card.io.rings.toSeq; pin <- bundle.flatten if pin.isInput && !driven.exists(_ eq pin))
    pin.assignFromBits(B(0, widthOf(pin) bits))
  // Counters that no simulation of frames brings beyond 32 bits.
  host.events.counts.simPublic()
  host.counters.rx.bytes.memory.simPublic()
  card.counters(0).rx.bank.memory.simPublic()
  card.counters(0).rx.growth.simPublic()
  card.io.phcLocked := 0
  val clockSet = out Bool ()
  clockSet := card.io.phc.control.set.valid
  val filter = out Vec (PsFilterConfig(p), p.ports)
  filter := card.io.filter
}

/** AXI4-Lite accesses with the function that makes them; every wait is bounded. */
class RegMaster(axi: AxiLite4, clock: ClockDomain, aw: Option[Bits] = None, ar: Option[Bits] = None, random: Random) {
  axi.ar.valid #= false
  axi.aw.valid #= false
  axi.w.valid #= false
  axi.r.ready #= false
  axi.b.ready #= false
  var slowest = 0

  private def user(pin: Option[Bits], function: Int): Unit =
    pin.foreach(_ #= (BigInt(47, random) << 8 | function))

  private def until(what: String)(condition: => Boolean): Int = {
    var cycles = 0
    do {
      clock.waitSampling()
      cycles += 1
      assert(cycles < 20000, s"$what was not answered")
    } while (!condition)
    cycles
  }

  def readFull(address: BigInt, function: Int = 0): (BigInt, Int) = {
    user(ar, function)
    axi.ar.addr #= address
    axi.ar.prot #= random.nextInt(8)
    axi.ar.valid #= true
    var cycles = until(f"read of $address%x")(axi.ar.ready.toBoolean)
    axi.ar.valid #= false
    if (random.nextBoolean()) clock.waitSampling(random.nextInt(4))
    axi.r.ready #= true
    cycles += until(f"read of $address%x")(axi.r.valid.toBoolean)
    axi.r.ready #= false
    slowest = slowest max cycles
    (axi.r.data.toBigInt, axi.r.resp.toInt)
  }

  def read(address: BigInt, function: Int = 0): BigInt = {
    val (data, resp) = readFull(address, function)
    assert(resp == 0, f"read of $address%x answered $resp")
    data
  }

  def writeFull(address: BigInt, data: BigInt, function: Int = 0, strb: Int = 15): Int = {
    user(aw, function)
    axi.aw.addr #= address
    axi.aw.prot #= 0
    axi.w.data #= data
    axi.w.strb #= strb
    // Address and data come in any order.
    val lead = random.nextInt(3)
    axi.aw.valid #= lead != 1
    axi.w.valid #= lead != 2
    if (lead != 0) clock.waitSampling(1 + random.nextInt(3))
    axi.aw.valid #= true
    axi.w.valid #= true
    until(f"write of $address%x")(axi.aw.ready.toBoolean)
    axi.aw.valid #= false
    axi.w.valid #= false
    axi.b.ready #= true
    until(f"write of $address%x")(axi.b.valid.toBoolean)
    axi.b.ready #= false
    axi.b.resp.toInt
  }

  def write(address: BigInt, data: BigInt, function: Int = 0): Unit = {
    val resp = writeFull(address, data, function)
    assert(resp == 0, f"write of $address%x answered $resp")
  }
}
