// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.box.BoxRegs
import meridian.bus._
import meridian.egress.{EgressClass, EgressRegs}
import meridian.filter.mactable._
import meridian.meta.{RxRecord, TxRecord}
import meridian.pacing.RateWrite
import meridian.page.RegPage
import meridian.queue._
import meridian.regs.counters._
import meridian.selftest.SelfTestRegs
import meridian.settings._
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

object HostRegs {
  val addressBits = 22
}

/** All registers behind BAR2 (host clock): those of the host side here, those of the card through io.card.
  *
  * A PF sees the whole map, a VF only its own page, whatever the upper address bits. See docs/registers.md.
  *
  * Latency of an access: 10 to 18 cycles inside, and what the crossing takes for those of the card; bounded in any
  * case. One access at a time.
  */
class HostRegs(p: ShellParam) extends Component {
  import HostRegs._
  val io = new Bundle {
    val axi = slave(AxiLite4(BarBus.config))
    val awuser, aruser = in Bits (BarBus.userBits bits)
    val card = master(RegPort(17))
    val build_date = in Bits (32 bits) // still after start-up
    val functionReset = in Bits (p.functions bits) // high while a function level reset is under way
    val psLinkUp, psHostRxEnable, psHostTxEnable = in Bits (p.ports bits) // from the ps clock

    val flags = out(FunctionFlags(p))
    val ports = out Vec (PortFlags(p), p.ports)
    val range = master(Stream(QueueRange(p)))
    val indirection = master(Flow(IndirectionWrite(p)))
    val key = master(Flow(HashKeyWrite(p)))
    val group = master(Flow(GroupWrite(p)))
    val macCommand = master(Stream(MacCommand(p)))
    val macAnswer = slave(Flow(MacAnswer(p)))
    val hashKey = master(MacHashKey())
    val bufferSize = master(Flow(BufferSizeWrite(p)))
    val enforce = out Bool ()
    val released = slave(Flow(p.queueType()))
    val switches = master(Flow(QueueSwitchWrite(p)))
    val rate = master(Flow(RateWrite(p)))
    val tag = master(Flow(TxTagWrite(p)))

    val rxRecord, rxCopyRecord = slave(Flow(RxRecord(p)))
    val txRecord = slave(Flow(TxRecord(p)))
    val txLost = p.twoQueues generate (in Vec (Bits(EgressClass.count bits), p.ports)) // a pulse a frame
    val c2hDrop, c2hError = in Bool () // a pulse a frame that the DMA engine dropped, or ended with an error
    val resetTimeout = in Bool () // a pulse a function level reset that was ended by its time-out
    val cardTimeout = in Bool () // from RegCrossing
    val selfTest = p.selfTest generate master(RegPort(12))
    val box = p.hasBoxes generate master(RegPort(BoxRegs.addressBits))
    val pool = p.pool generate master(RegPort(12))
    val classes = p.pool generate (in Vec (PortClasses(), p.ports)) // from the registers behind pool
  }

  val frontend = new AxiLiteFrontend(BarBus.config, addressBits, fromHost = true)
  frontend.io.axi << io.axi
  frontend.io.awFunction := io.awuser(BarBus.functionLsb, 8 bits).asUInt
  frontend.io.awIgnored := frontend.io.awFunction >= p.pfs // a VF writes nothing
  frontend.io.arFunction := io.aruser(BarBus.functionLsb, 8 bits).asUInt

  val system = new SystemRegs(p)
  val functions = new FunctionTable(p, HostCounters.slotBits(p))
  val counters = new HostCounters(p)
  val events = new HostEvents(p)
  val filter = new FilterRegs(p)
  val hostPort = new HostPortRegs(p)
  val queues = new QueueRegs(p)

  /** Which of the targets below a command is for. */
  private def select(c: RegCommand): Seq[Bool] = {
    val vf = c.function >= p.pfs
    val page = c.address(21 downto 12)
    val functionPage = page(9 downto 8) === 2 && page(7 downto 0).resize(9 bits) < p.functions
    val openNicPage = page >= 1 && page <= 4
    val portPage = page >= 0x113 && page < 0x113 + p.ports
    val pf = !vf
    Seq(
      pf && page === 0,
      pf && (functionPage || openNicPage || portPage) || vf && c.function.resize(9 bits) < p.functions,
      pf && page === 0x110,
      pf && page === 0x111,
      pf && page === 0x112,
      pf && (page(9 downto 3) === 1 || page(9 downto 4) === 0x10),
      pf && page(9 downto 1) === 0x120 / 2
    ) ++ (if (p.selfTest) Seq(pf && page === SelfTestRegs.place.base >> 12) else Nil) ++
      (if (p.pool) Seq(pf && page === EgressRegs.place.base >> 12) else Nil) ++
      (if (p.hasBoxes) Seq(pf && c.address(21 downto 20) === 1 && BoxRegs.isBox(c.address, p)) else Nil)
  }
  val splitter = new RegSplitter(addressBits, 7 + Seq(p.selfTest, p.pool, p.hasBoxes).count(identity))(
    select,
    c => Mux(c.address(21 downto 20) === 0 && c.function < p.pfs, B"xDEADBEEF", B(0, 32 bits))
  )
  splitter.io.bus << frontend.io.bus
  for (
    (bus, i) <- Seq(
      system.io.bus,
      functions.io.bus,
      filter.io.bus,
      hostPort.io.bus,
      events.io.bus,
      io.card,
      queues.io.bus
    ).zipWithIndex
  ) {
    bus << splitter.io.target(i)
  }
  if (p.selfTest) io.selfTest << splitter.io.target(7)
  if (p.hasBoxes) io.box << splitter.io.target.last
  // In the card the MAC blocks of OpenNIC lie above the 64 KiB that the PS sees as well.
  io.card.cmd.address(16) := !splitter.io.target(5).cmd.address(20)

  /** For the generated documents. */
  def pages: Seq[RegPage] = Seq(
    system.page,
    functions.view.openNic.page,
    filter.page,
    hostPort.page,
    events.page,
    queues.page,
    functions.view.port.page,
    functions.view.function.page,
    functions.view.vf.page
  )

  system.io.build_date := io.build_date

  val linkUp = BufferCC(io.psLinkUp, B(0, p.ports bits))
  hostPort.io.linkUp := linkUp
  hostPort.io.rxEnable := BufferCC(io.psHostRxEnable, B(0, p.ports bits))
  hostPort.io.txEnable := BufferCC(io.psHostTxEnable, B(0, p.ports bits))
  io.ports := hostPort.io.ports
  if (p.twoQueues) hostPort.io.txLost := io.txLost

  functions.io.functionReset := io.functionReset
  functions.io.linkUp := linkUp
  io.flags := functions.io.flags
  io.range << functions.io.range
  io.indirection << functions.io.indirection
  io.key << functions.io.key

  io.macCommand << filter.io.command
  filter.io.answer << io.macAnswer
  io.hashKey <> filter.io.hashKey
  io.group << filter.io.group
  io.bufferSize << filter.io.bufferSize
  io.enforce := filter.io.enforce

  queues.io.released << io.released
  filter.io.released << io.released
  io.switches << queues.io.switches
  io.rate << functions.io.rate
  io.tag << functions.io.tag

  counters.io.rx << io.rxRecord
  counters.io.rxCopies << io.rxCopyRecord
  counters.io.tx << io.txRecord
  counters.io.question << functions.io.question
  functions.io.counter << counters.io.answer

  events.io.c2hDrop := io.c2hDrop
  events.io.c2hError := io.c2hError
  events.io.resetTimeout := io.resetTimeout
  events.io.vfWriteRefused := frontend.io.ignoredWrite
  events.io.writeRefused := frontend.io.refused
  events.io.partialWrite := frontend.io.partialWrite
  events.io.unmapped := frontend.io.unmapped
  events.io.cardTimeout := io.cardTimeout

  if (p.pool) {
    io.pool << splitter.io.target(if (p.selfTest) 8 else 7)
    hostPort.classes := io.classes
  }
}
