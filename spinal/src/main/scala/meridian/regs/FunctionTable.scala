// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.filter.rss._
import meridian.pacing.{Pacing, RateWrite}
import meridian.regs.counters._
import meridian.settings.{FunctionFlags, HashKeyWrite, IndirectionWrite, QueueRange, TxTagWrite}
import spinal.core._
import spinal.lib._

/** The settings of all functions, in one place for four views: the function pages, OpenNIC blocks and counters of ports
  * in BAR2 of a PF, and the page of a VF in its own BAR2 (host clock).
  *
  * All settings are in memories for reading; those that the filters need at once are also in registers. After reset a
  * sweep writes the defaults into all of them, here and in the RSS tables, in 128 cycles a function; accesses wait. A
  * function in reset loses its queues within functions + 16 cycles, if the queue table accepts the change.
  *
  * Latency: 5 cycles an access, 11 for a counter. A write of QCONF waits until the queue table has taken the one before
  * it, and is refused if that takes 4096 cycles. One access at a time.
  */
class FunctionTable(p: ShellParam, slotBits: Int) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(22)) // whole BAR2 address; of a VF only the lowest 12 bits
    val functionReset = in Bits (p.functions bits) // high while a function level reset is under way
    val linkUp = in Bits (p.ports bits)
    val flags = out(FunctionFlags(p))
    val range = master(Stream(QueueRange(p)))
    val indirection = master(Flow(IndirectionWrite(p)))
    val key = master(Flow(HashKeyWrite(p)))
    val rate = master(Flow(RateWrite(p)))
    val tag = master(Flow(TxTagWrite(p)))
    val question = master(Flow(HostCounters.Question(slotBits)))
    val counter = slave(Flow(UInt(64 bits))) // the answer to a question
  }
  val indexBits = log2Up(p.functions)

  object Phase extends SpinalEnum { val sweep, idle, fetch, hold, access, answer = newElement() }
  val phase = RegInit(Phase.sweep)

  val command = Reg(RegCommand(22))
  val isVf = Reg(Bool())
  val isOpenNic, isPort, isCounter = Reg(Bool())
  val index = Reg(UInt(indexBits bits)) init 0
  val asked = io.bus.cmd.payload
  val fromVf = asked.function >= p.pfs
  io.bus.cmd.ready := phase === Phase.idle
  when(io.bus.cmd.fire) {
    command := asked
    isVf := fromVf
    isOpenNic := !asked.address(21) && !asked.address(20)
    isPort := !asked.address(21) && asked.address(20)
    val offset = asked.address(11 downto 0)
    val window = offset >= FunctionCounters.base && offset < FunctionCounters.base + FunctionCounters.size
    isCounter := window && (fromVf || asked.address(21 downto 20) =/= 0)
    index := Mux(
      fromVf,
      asked.function,
      Mux(asked.address(21), asked.address(19 downto 12), (asked.address(14 downto 12) - 1).resize(8 bits))
    ).resized
  }

  val sweep = Reg(UInt(indexBits + 7 bits)) init 0
  val sweeping = phase === Phase.sweep
  when(sweeping) {
    sweep := sweep + 1
    when(sweep.andR || sweep === p.functions * 128 - 1) { phase := Phase.idle }
  }
  val sweepFunction = sweep.dropLow(7).asUInt
  val sweepIndex = sweep.take(7).asUInt

  val ranges = Mem(Bits(32 bits), 1 << indexBits)
  val settings = Mem(Bits(27 bits), 1 << indexBits)
  val indirections = Mem(p.queueType(), 128 << indexBits)
  val keys = Mem(Bits(32 bits), 16 << indexBits)
  val rates = Mem(UInt(Pacing.rateBits bits), 2 << indexBits)

  val state = Reg(FunctionState(p))
  val words = new Area {
    val range = ranges.readSync(index)
    val setting = settings.readSync(index)
    val indirection = indirections.readSync((index ## command.address(8 downto 2)).asUInt)
    val key = keys.readSync((index ## command.address(5 downto 2)).asUInt)
    val rate = rates.readSync((index ## command.address(2)).asUInt)
  }

  /** Reading the low word of a counter keeps the high word, for each reader apart. */
  val counting = new Area {
    val ask = RegNext(io.bus.cmd.fire, False)
    io.question.valid := ask && isCounter
    val portSlot = command.address(13 downto 12) - 3 + U(p.functions, slotBits bits)
    io.question.slot := (!isVf && isPort) ? portSlot | index.resize(slotBits)
    io.question.index := command.address(8 downto 3)
    val highs = Mem(Bits(32 bits), 256)
    val high = highs.readSync(command.function)
    highs.write(
      command.function,
      io.counter.payload(63 downto 32).asBits,
      io.counter.valid && !command.write && !command.address(2)
    )
    when(io.counter.valid) { state.counter := command.address(2) ? high | io.counter.payload(31 downto 0).asBits }
  }

  val view = new Area {
    val function = new FunctionView(state)
    val openNic = new OpenNicFunctionView(state)
    val vf = new VfView(state)
    val port = new PortCounterView(state)
    val accessing = phase === Phase.access
    val mine = Seq(
      function.page -> (!isVf && !isOpenNic && !isPort),
      openNic.page -> (!isVf && isOpenNic),
      port.page -> (!isVf && isPort),
      vf.page -> (isVf && !command.write)
    )
    for ((page, mine) <- mine) {
      page.bus.ce := accessing && mine
      page.bus.wr := command.write
      page.bus.addr := command.address.resized
      page.bus.wdat := command.data
    }
    def either(f: QueueBlock => Bool) = f(function.queues) || f(openNic.queues)
  }

  // Queues: who has some, and the stream that tells the queue table.
  val queues = new Area {
    val some = Reg(Bits(p.functions bits)) init 0
    val next = Reg(QueueRange(p))
    val valid = RegInit(False)
    io.range.valid := valid
    io.range.payload := next
    when(io.range.fire) { valid := False }
    val timer = Reg(UInt(12 bits))
    timer := (phase === Phase.hold) ? (timer + 1) | U(0)

    val base = command.data(31 downto 16).asUInt
    val count = command.data(15 downto 0).asUInt
    val fits = RegNext(base +^ count <= p.queues) // the command holds still for cycles
    val isWrite = command.write && !isVf && !isPort && command.address(11 downto 2) === 0

    // Looks at one function a cycle for a reset that has not taken its queues yet, however short it was.
    val resets = Reg(Bits(p.functions bits)) init 0
    val scan = Counter(p.functions, inc = True)
    val scanned = RegNext(scan.value)
    val lost = RegNext(resets(scan.value) && some(scan.value), False)
    for (f <- 0 until p.functions) {
      when(scan.value === f && !some(f)) { resets(f) := False }
      when(io.functionReset(f)) { resets(f) := True }
    }
    val take = RegInit(False)
    val taken = Reg(UInt(indexBits bits))
    when(lost && !take) { take := True; taken := scanned }
    val drop = phase === Phase.idle && take && !valid

    val set = Bool()
    val change = set || drop
    val of = set ? index | taken
    val value = set ? command.data | B(0, 32 bits)
    when(change) {
      some(of) := value(15 downto 0).orR
      next.function := of.resized
      next.base := value(31 downto 16).asUInt.resized
      next.count := value(15 downto 0).asUInt.resized
      next.reset := !set
      valid := True
    }
    when(drop) { take := False }
  }
  val refused = Reg(Bool())

  // The settings of all functions at once, for the filters.
  val now = new Area {
    val write = Reg(Flow(new Bundle {
      val function = UInt(indexBits bits)
      val flags = Bits(FunctionViews.flagBits bits)
      val port = p.portType()
      val strip, insert, down = Bool()
    }))
    write.valid.init(False)
    def defaults(k: Int) = (0 until p.functions).map(f => BigInt(FunctionViews.defaultFlags(f) >> k & 1) << f).sum
    val flags = Vec.tabulate(FunctionViews.flagBits)(k => Reg(Bits(p.functions bits)).init(defaults(k)))
    val port = Vec.tabulate(p.functions)(f => Reg(p.portType()).init(FunctionViews.defaultPort(f, p.ports)))
    val strip, insert, down = Reg(Bits(p.functions bits)) init 0
    for (f <- 0 until p.functions) when(write.valid && write.function === f) {
      for (k <- 0 until FunctionViews.flagBits) flags(k)(f) := write.flags(k)
      port(f) := write.port
      strip(f) := write.strip
      insert(f) := write.insert
      down(f) := write.down
    }
    io.flags.enable := RegNext(queues.some & ~io.functionReset & ~queues.resets & ~down, B(0, p.functions bits))
    io.flags.broadcast := flags(0)
    io.flags.allMulticast := flags(1)
    io.flags.promiscuous := flags(2)
    io.flags.trusted := flags(3)
    io.flags.control := flags(FunctionViews.controlFlag)
    io.flags.strip := strip
    io.flags.insert := insert
    io.flags.port := port
  }

  // Writes, by the sweep or by an access.
  val write = new Area {
    val accessFlags = view.function.flags.hitDoWrite
    val portExists = command.data.asUInt < p.ports
    val accessPort = view.function.port.hitDoWrite && portExists
    val defaultSetting = Vec((0 until 1 << indexBits).map { f =>
      val flags = FunctionViews.defaultFlags(f)
      B((flags >> 4) << 26 | FunctionViews.defaultPort(f, p.ports) << 4 | flags & 15, 27 bits)
    })
    val accessVlan = view.function.vlan.hitDoWrite
    val accessLink = view.function.link.hitDoWrite && !refused
    // A PF may always, so that a driver of a map without this flag does not take it away.
    val control = command.data(FunctionViews.controlFlag) || index.resize(8 bits) < p.pfs
    val newSetting = (accessFlags ? control | state.flags(FunctionViews.controlFlag)) ## (accessLink ? command.data(
      1 downto 0
    ) | state.linkState) ##
      (accessVlan ? command.data(15 downto 0) | state.tag.tci) ##
      (accessVlan ? command.data(16) | state.tag.insert) ##
      (accessVlan ? command.data(17) | state.strip) ##
      (accessPort ? command.data(1 downto 0) | state.port.asBits) ##
      (accessFlags ? command.data(3 downto 0) | state.flags(3 downto 0))
    val accessSetting = accessFlags || accessPort || accessVlan || accessLink
    settings.write(
      sweeping ? sweepFunction | index,
      sweeping ? defaultSetting(sweepFunction) | newSetting,
      sweeping || accessSetting
    )
    now.write.valid := accessSetting
    now.write.function := index
    now.write.flags := newSetting(26) ## newSetting(3 downto 0)
    now.write.port := newSetting(5 downto 4).asUInt
    now.write.strip := newSetting(6)
    now.write.down := newSetting(25 downto 24) === FunctionViews.linkDown
    now.write.insert := newSetting(7)

    val tag = Flow(TxTagWrite(p))
    tag.valid := sweeping || accessVlan
    tag.function := (sweeping ? sweepFunction | index).resized
    tag.tag.insert := !sweeping && newSetting(7)
    tag.tag.tci := newSetting(23 downto 8)
    io.tag << tag.m2sPipe()

    val accessRange = view.either(_.qconf.hitDoWrite)
    queues.set := accessRange && !refused
    ranges.write(
      sweeping ? sweepFunction | queues.of,
      sweeping ? B(0, 32 bits) | queues.value,
      sweeping || queues.change
    )

    val toIndirection = sweeping || view.either(_.indirection.hitDoWrite)
    val indirectionAt = sweeping ? sweep | (index ## command.address(8 downto 2)).asUInt
    val indirectionValue = sweeping ? U(0, p.queueBits bits) | command.data(p.queueBits - 1 downto 0).asUInt
    indirections.write(indirectionAt, indirectionValue, toIndirection)
    val indirection = Flow(IndirectionWrite(p))
    indirection.valid := toIndirection
    indirection.function := indirectionAt.dropLow(7).asUInt.resized
    indirection.index := indirectionAt.take(7).asUInt
    indirection.queue := indirectionValue
    io.indirection << indirection.m2sPipe()

    val defaultKey = Vec(FunctionViews.defaultKey.map(B(_, 32 bits)).padTo(16, B(0, 32 bits)))
    val toKey = (sweeping && sweepIndex <= Rss.orderWord) || view.either(_.key.hitDoWrite) ||
      view.function.hashOrder.hitDoWrite
    val key = Flow(HashKeyWrite(p))
    key.valid := toKey
    key.function := (sweeping ? sweepFunction | index).resized
    key.word := sweeping ? sweepIndex.take(4).asUInt | command.address(5 downto 2)
    key.data := sweeping ? defaultKey(sweepIndex.take(4).asUInt) | command.data
    keys.write((key.function.resize(indexBits) ## key.word).asUInt, key.data, toKey)
    io.key << key.m2sPipe()

    val rate = Flow(RateWrite(p))
    rate.valid := sweeping && sweepIndex < 2 || view.function.rates.map(_.hitDoWrite).orR && !refused
    rate.function := key.function
    rate.minimum := sweeping ? sweepIndex.lsb | command.address(2)
    rate.rate := command.data.asUInt.take(Pacing.rateBits).asUInt
    when(sweeping)(rate.rate := 0)
    rates.write((rate.function.resize(indexBits) ## rate.minimum).asUInt, rate.rate, rate.valid)
    io.rate << rate.m2sPipe()
  }

  io.bus.rsp.valid := phase === Phase.answer
  io.bus.rsp.data := view.vf.page.bus.rdat
  io.bus.rsp.refused := refused && !isVf
  io.bus.rsp.unmapped := view.mine.map(_._1.unmapped).orR
  when(!isVf) {
    io.bus.rsp.data := view.function.page.bus.rdat
    when(isOpenNic) { io.bus.rsp.data := view.openNic.page.bus.rdat }
    when(isPort) { io.bus.rsp.data := view.port.page.bus.rdat }
  }

  switch(phase) {
    is(Phase.idle) { when(io.bus.cmd.fire) { phase := Phase.fetch } }
    is(Phase.fetch) { when(!isCounter || io.counter.valid) { phase := Phase.hold } }
    is(Phase.hold) {
      state.function := index.resized
      state.base := words.range(31 downto 16).asUInt
      state.count := words.range(15 downto 0).asUInt
      state.flags := words.setting(26) ## words.setting(3 downto 0)
      state.port := words.setting(5 downto 4).asUInt
      state.strip := words.setting(6)
      state.tag.insert := words.setting(7)
      state.tag.tci := words.setting(23 downto 8)
      state.enabled := io.flags.enable(index)
      state.inReset := io.functionReset(index)
      state.linkUp := (io.linkUp.resize(4) >> words.setting(5 downto 4).asUInt).lsb
      val linkState = words.setting(25 downto 24)
      state.linkState := linkState
      when(linkState =/= 0)(state.linkUp := linkState === FunctionViews.linkUp)
      state.gigabits := p.lineRate
      state.indirection := words.indirection.resized
      state.key := words.key
      state.rate := words.rate
      val late = queues.valid && queues.timer.andR
      val portIsBad = command.address(11 downto 2) === 0x008 / 4 && !isOpenNic && !isPort && !write.portExists
      val isRate = command.address(11 downto 3) === 0x010 / 8 && !isOpenNic && !isPort
      val rateIsBad = isRate && command.data.drop(Pacing.rateBits).orR
      val isLink = command.address(11 downto 2) === 0x01c / 4 && !isOpenNic && !isPort
      val linkIsBad = isLink && command.data.asUInt > FunctionViews.linkDown
      val settingIsBad = portIsBad || rateIsBad || linkIsBad
      refused := command.write && (queues.isWrite && (!queues.fits || late) || settingIsBad)
      when(!queues.isWrite || !queues.valid || late) { phase := Phase.access }
    }
    is(Phase.access) { phase := Phase.answer }
    is(Phase.answer) { phase := Phase.idle }
  }
}
