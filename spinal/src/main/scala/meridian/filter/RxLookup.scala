// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.copies._
import meridian.filter.mactable._
import meridian.filter.rss._
import meridian.meta.{RxRecord, RxTarget, RxVerdict}
import meridian.queue._
import meridian.settings.{FunctionFlags, GroupWrite, HashKeyWrite, IndirectionWrite, PortFlags}
import spinal.core._
import spinal.lib._

/** What is to be done with a frame: deliver it, copy it, or else drop it. */
case class RxDecision(p: ShellParam) extends Bundle {
  val deliver = Bool()
  val copy = Bool()
  val target = RxTarget(p)
}

object RxLookup {

  /** Cycles from the function to the credit's answer. */
  def queueLatency(rangeLatency: Int, queueLatency: Int, creditLatency: Int): Int =
    rangeLatency.max(Rss.latency) + queueLatency + creditLatency

  /** Unicast frames after which a waiting copy is given a place. */
  val copyAfter = 48
}

/** From header to decision: MAC table, function, then queue range and RSS in parallel, queue owner, credit.
  *
  * Latency: macLatency + max(rangeLatency, 4) + queueLatency + creditLatency cycles from a frame's header to its
  * decision, and one more to its record. Throughput: one frame a cycle; nothing here stalls a frame. Frames and copies
  * use the same tables. A frame for a single function goes first, and a copy uses a cycle that no such frame uses. When
  * 48 such frames have gone before a waiting copy, `hold` asks for one cycle without a beat, in which the copy is
  * looked up.
  *
  * The credit is asked only when the queue is known to be the function's, because a granted credit takes the buffers.
  */
class RxLookup(p: ShellParam, macLatency: Int, rangeLatency: Int, queueLatency: Int, creditLatency: Int)
    extends Component {
  def atLeast(name: String, latency: Int, least: Int): Unit =
    require(latency >= least, s"$name is $latency: choose at least $least")
  atLeast("macLatency", macLatency, HeaderExtract.hashInputLatency)
  atLeast("rangeLatency", rangeLatency, 1)
  atLeast("queueLatency", queueLatency, 1)
  atLeast("creditLatency", creditLatency, 1)

  val io = new Bundle {
    val header = slave(Flow(RxHeader(p)))
    val hashInput = in(HashInput())
    val functions = in(FunctionFlags(p))
    val ports = in(Vec(PortFlags(p), p.ports))
    val indirection = slave(Flow(IndirectionWrite(p)))
    val hashKey = slave(Flow(HashKeyWrite(p)))
    val group = slave(Flow(GroupWrite(p)))
    val mac = master(MacLookup(p))
    val range = master(RangeLookup(p))
    val owner = master(QueueLookup(p))
    val credit = master(CreditLookup(p))

    val decision = master(Flow(RxDecision(p)))
    val record = master(Flow(RxRecord(p)))
    val hold = out(Bool())

    val reserve = master(Flow(CopyJob(p)))
    val reserved = in(Bool()) // in the same cycle
    val list = slave(ListLookup(p))
    val copy = slave(Stream(CopyRequest(p)))
    val copyDecision = master(Flow(CopyDecision(p)))
    val copyRecord = master(Flow(RxRecord(p)))
  }

  io.mac.query.valid := io.header.valid
  io.mac.query.port := io.header.port
  io.mac.query.address := io.header.address
  io.mac.query.vid := io.header.vid

  val select = new FunctionSelect(p)
  select.io.functions := io.functions
  select.io.ports := io.ports
  select.io.group << io.group
  select.io.lookup <> io.list
  select.io.header := Delay(io.header.payload, macLatency - 1)
  select.io.mac := io.mac.result.payload
  val selection = select.io.selection

  // The choice below comes late in its cycle: it must not reach back into the replicator.
  val copy = io.copy.s2mPipe()

  // A copy or a frame for one function, in the stages of the lookups.
  case class Item() extends Bundle {
    val some, last, copy = Bool()
    val function = p.functionType()
    val port = p.portType()
    val length = p.lengthType()
    val vlan = Bool()
  }

  val start = new Area {
    val valid = Delay(io.header.valid, macLatency, init = False)
    val header = Delay(io.header.payload, macLatency)
    val hashInput = Delay(io.hashInput, macLatency - HeaderExtract.hashInputLatency)
    val single = valid && selection.single
    copy.ready := !single

    val item = Item()
    item.some := single || (copy.valid && copy.some)
    item.copy := !single && copy.valid
    item.last := copy.last
    item.function := Mux(single, selection.function, copy.function)
    item.port := Mux(single, header.port, copy.port)
    item.length := Mux(single, header.length, copy.length)
    item.vlan := Mux(single, header.vlan, copy.vlan)

    val ahead = Reg(UInt(log2Up(RxLookup.copyAfter) bits)) init 0
    when(copy.fire)(ahead := 0).elsewhen(copy.valid)(ahead := ahead + 1)
    io.hold := RegNext(copy.isStall && ahead === RxLookup.copyAfter - 1) init False
  }

  val copies = new Area {
    val selected = RegNext(selection)
    io.reserve.valid := RegNext(start.valid && selection.several) init False
    io.reserve.list := selected.list
    io.reserve.length := RegNext(start.header.length)
    io.reserve.vlan := RegNext(start.header.vlan)
    io.reserve.hashInput := RegNext(start.hashInput)
    io.reserve.source := RegNext(start.header.source)
    val verdict = RxVerdict()
    verdict := selected.verdict
    when(selected.several)(verdict := Mux(io.reserved, RxVerdict.copying(), RxVerdict.copyCut()))
  }

  val rss = new Rss(p)
  rss.io.hashKey << io.hashKey
  rss.io.indirection << io.indirection
  rss.io.function := start.item.function
  rss.io.input := RegNext(Mux(start.single, start.hashInput, copy.hashInput))
  io.range.query.valid := start.item.some
  io.range.query.payload := start.item.function

  // Flags are a choice of one bit in 256: it has a cycle of its own.
  val enable = new Area {
    val function = RegNext(start.item.function)
    val named = RegNext(function.resize(9) < p.functions)
    def flag(flags: Bits): Bool = RegNext(flags.resize(1 << p.functionBits)(function))
    val enabled = flag(io.functions.enable)
    // Its entry may have come to be the sender's while the frame was inside the card.
    val source = RegNext(start.header.source)
    val single = RegNext(start.single)
    val ofSender = RegNext(single && source.isFunction && source.function === function)
    val strip = flag(io.functions.strip) && Delay(start.item.vlan, 2)
    val told = strip && !flag(io.functions.insert)
    val length = RegNext(Delay(start.item.length, 2) - Mux(strip, U(4), U(0)))
  }

  val toQueue = rangeLatency.max(Rss.latency)
  val queue = new Area {
    val item = Item()
    item.assignSomeByName(Delay(start.item, toQueue))
    item.length.allowOverride() := Delay(enable.length, toQueue - 3)
    val named = Delay(enable.named, toQueue - 2)
    val base = Delay(io.range.result.base, toQueue - rangeLatency)
    val live = Delay(enable.enabled && !enable.ofSender, toQueue - 2) &&
      Delay(io.range.result.count =/= 0, toQueue - rangeLatency)
    val ofSender = Delay(enable.ofSender, toQueue - 2)
    val number = base + Delay(rss.io.queue, toQueue - Rss.latency)
    val ask = Delay(start.item.some, toQueue, init = False) && live
    io.owner.query.valid := ask
    io.owner.query.payload := number
  }

  val owner = new Area {
    val item = Delay(queue.item, queueLatency)
    val number = Delay(queue.number, queueLatency)
    val matches = io.owner.result.valid && io.owner.result.payload.valid && io.owner.result.function === item.function
    val ask = Delay(queue.ask, queueLatency, init = False) && matches
    io.credit.query.valid := ask
    io.credit.query.queue := number
    io.credit.query.length := item.length
  }

  val end = new Area {
    val latency = RxLookup.queueLatency(rangeLatency, queueLatency, creditLatency)
    val item = Delay(owner.item, creditLatency)
    val some = Delay(start.item.some, latency, init = False)
    val copy = Delay(start.item.copy, latency, init = False)
    val named = Delay(queue.named, queueLatency + creditLatency)
    val deliver = Delay(owner.ask, creditLatency, init = False) && io.credit.granted.payload
    val refusal = RxVerdict()
    refusal := RxVerdict.queueFull
    when(!Delay(owner.ask, creditLatency, init = False))(refusal := RxVerdict.badQueue)
    when(!Delay(queue.ask, queueLatency + creditLatency, init = False))(refusal := RxVerdict.disabled)
    when(Delay(queue.ofSender, queueLatency + creditLatency))(refusal := RxVerdict.noMatch)

    val target = RxTarget(p)
    target.function := item.function
    target.queue := Delay(owner.number, creditLatency)
    target.length := item.length
    target.strip := Delay(enable.strip, latency - 2)
    target.told := Delay(enable.told, latency - 2)
    target.hash := Delay(rss.io.hash, latency - Rss.hashLatency)

    val valid = Delay(start.valid, latency, init = False)
    val single = Delay(start.single, latency, init = False)
    val otherwise = Delay(copies.verdict, latency - 1)
    val header = Delay(start.header.port ## start.header.length, latency)
    io.decision.valid := valid
    io.decision.deliver := single && deliver
    io.decision.copy := !single && otherwise === RxVerdict.copying
    io.decision.target := target

    val record = RxRecord(p)
    record.verdict := Mux(single, Mux(deliver, RxVerdict.delivered(), refusal), otherwise)
    record.port := header(p.lengthBits, p.portBits bits).asUInt
    record.length := Mux(single, item.length, header(0, p.lengthBits bits).asUInt)
    record.function := item.function
    record.functionValid := single && named
    record.copy := False
    io.record.valid := RegNext(valid) init False
    io.record.payload := RegNext(record)

    io.copyDecision.valid := copy
    io.copyDecision.deliver := deliver
    io.copyDecision.last := item.last
    io.copyDecision.target := target

    val copyRecord = RxRecord(p)
    copyRecord.verdict := Mux(deliver, RxVerdict.delivered(), refusal)
    copyRecord.port := item.port
    copyRecord.length := item.length
    copyRecord.function := item.function
    copyRecord.functionValid := named
    copyRecord.copy := True
    io.copyRecord.valid := RegNext(copy && some) init False
    io.copyRecord.payload := RegNext(copyRecord)
  }

  def answers(name: String, asked: Bool, latency: Int, answered: Bool): Unit =
    assert(answered === Delay(asked, latency, init = False), s"$name does not answer after $latency cycles", FAILURE)
  answers("mac", io.mac.query.valid, macLatency, io.mac.result.valid)
  answers("range", io.range.query.valid, rangeLatency, io.range.result.valid)
  answers("owner", io.owner.query.valid, queueLatency, io.owner.result.valid)
  answers("credit", io.credit.query.valid, creditLatency, io.credit.granted.valid)
}
