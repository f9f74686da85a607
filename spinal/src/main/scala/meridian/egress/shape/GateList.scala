// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

object GateList {
  val classes = 8
  val entries = 256
  val intervalBits = 30

  /** Times until a gate closes are told up to this many ns. */
  val leftBits = 14

  /** Cycles that an interval has at least. */
  val minimumCycles = 14
  def minimum(period: TimeNumber): BigInt = (period.toBigDecimal * minimumCycles * 1000000000).toBigInt + 1
}

/** Opens and closes the gates of classes by a list of times, in cycles (IEEE 802.1Q clause 8.6.8.4, 802.1Qbv).
  *
  * A list is written by io.write, then `change` with its schedule lets [[GateCheck]] look at it; io.code says what was found.
  * It begins at its base time, or in step with that. Until then the list before it goes on: its last cycle is cut, or made
  * longer if the next would begin no more than `extension` before the change. Before the first list begins, and when
  * io.enable is low, all gates are open. `cancel` gives up a list that waits.
  *
  * Gates change at the times of the list, or up to two cycles and 2 ns behind them, and never before. io.left is the time
  * in ns until a class closes, or less; with a list that waits, until that begins at most. See [[GateGuard]] for what may
  * begin.
  *
  * When the PHC is stepped, all gates close, and the newest list that was accepted begins again in step with its base time.
  *
  * Latency: that of the pipelines is made up for. Throughput: an interval has GateList.minimumCycles. About 2 BRAM36 for
  * lists and 4 for how long classes stay open.
  *
  * @param period of the clock
  */
class GateList(period: TimeNumber) extends Component {
  import GateList._
  val io = new Bundle {
    val enable = in Bool ()

    /** ns of TAI, true for this cycle to 1 ns; and whether it jumped. */
    val now = in UInt (64 bits)
    val stepped = in Bool ()

    /** An entry of the list that is to come; lost while io.busy. */
    val write = slave(Flow(GateWrite()))
    val schedule = in(GateSchedule())
    val change, cancel = in Bool ()

    /** Of the last change; and whether another would be refused. */
    val code = out(GateCode())
    val busy = out Bool ()

    /** A list runs, and not that which waits. */
    val running = out Bool ()
    val open = out Bits (classes bits)
    val left = out Vec (UInt(leftBits bits), classes)

    /** A pulse: a cycle began. */
    val cycleBegan = out Bool ()
  }
  val indexBits = log2Up(entries)
  val lists = Mem(GateEntry(), 2 * entries)
  val runs = Mem(GateRuns(), 2 * entries)

  /** Which half of the memories is run; the list that is checked, and then waits, is in the half `checked`. */
  val bank = RegInit(False)
  val checked = RegInit(True)
  val running, waits = RegInit(False)
  val closed = RegInit(False) // after a step of the PHC
  val ran = RegInit(False) // there is a list in the half that is run
  val schedules = Vec(Reg(GateSchedule()), 2)
  val lastIntervals = Vec(Reg(UInt(intervalBits bits)), 2)
  val code = Reg(GateCode()) init GateCode.none

  val check = new GateCheck(period)
  val starts = RegInit(False)
  val busy = check.io.busy || starts || waits
  starts := False
  check.io.start := starts
  check.io.stop := False
  check.io.schedule := schedules(checked.asUInt)
  check.io.now := io.now
  check.io.entry := lists.readSync((checked ## check.io.index).asUInt)
  lists.write((!bank ## io.write.index).asUInt, io.write.entry, io.write.valid && !busy)
  runs.write((checked ## check.io.runsIndex).asUInt, check.io.runs.payload, check.io.runs.valid)

  /** The list that was to come does not: the one before it begins again, if it was stopped by a step of the PHC. */
  private def giveUp(): Unit = {
    closed := closed && ran
    checked := Mux(closed, bank, checked)
    starts := closed && ran
  }

  // What runs now.
  val index = Reg(UInt(indexBits bits)) init 0 // of the entry that comes next
  val gates = Reg(Bits(classes bits)) init 0
  val after = Reg(GateRuns())
  val end = Reg(UInt(64 bits)) init 0
  val begin = Reg(UInt(64 bits)) init 0 // of the list that waits
  val stretched = RegInit(False) // the entry goes on to the beginning of the next list
  val nextEntry = lists.readSync((bank ## index).asUInt)
  val nextRuns = runs.readSync((bank ## index).asUInt)
  val schedule = RegNext(schedules(bank.asUInt))
  val last = RegNext((schedule.length - 1).resize(indexBits))
  val nextInterval = RegNext(Mux(index === last, lastIntervals(bank.asUInt), nextEntry.interval))
  val gap = RegNext(begin - end)
  val stretch = RegNext(waits && index === 0 && !stretched && gap < schedule.extension.resize(64) + 1)

  val entryEnds, listBegins = new Moment(period)
  for (moment <- Seq(entryEnds, listBegins)) moment.io.now := io.now
  entryEnds.io.target := end
  listBegins.io.target := begin
  entryEnds.io.changed := False
  listBegins.io.changed := False
  io.cycleBegan := False

  val turns = running && entryEnds.io.reached && !stretched
  when(turns) {
    entryEnds.io.changed := True
    when(stretch && begin > end) {
      stretched := True
      end := begin
      for (i <- 0 until classes) after.after(i) := 0
    } otherwise {
      gates := nextEntry.gates
      after := nextRuns
      end := end + nextInterval
      index := Mux(index === last, U(0), index + 1)
      io.cycleBegan := index === 0
    }
  }
  when(check.io.done) {
    code := check.io.code
    when(check.io.code === GateCode.accepted) {
      waits := True
      begin := check.io.begin
      lastIntervals(checked.asUInt) := check.io.lastInterval
      listBegins.io.changed := True
    } otherwise giveUp()
  }
  when(waits && listBegins.io.reached) {
    waits := False
    running := True
    ran := True
    stretched := False
    closed := False
    bank := checked
    gates := check.io.first.entry.gates
    after := check.io.first.runs
    end := begin + check.io.first.entry.interval
    index := Mux(schedules(checked.asUInt).length === 1, U(0, indexBits bits), U(1, indexBits bits))
    entryEnds.io.changed := True
    io.cycleBegan := True
  }

  when(io.change) {
    when(busy)(code := GateCode.busy) otherwise {
      code := GateCode.none
      checked := !bank
      schedules((!bank).asUInt) := io.schedule
      starts := True
    }
  }
  when(io.cancel && busy && checked =/= bank) {
    waits := False
    check.io.stop := True
    code := GateCode.none
    giveUp()
  }
  when(io.stepped && (running || busy)) {
    running := False
    waits := False
    closed := True
    when(!busy)(checked := bank)
    starts := True
    check.io.stop := True
  }
  when(!io.enable) {
    running := False
    waits := False
    closed := False
    ran := False
    starts := False
    check.io.stop := True
    code := GateCode.none
  }

  val nobody = !running && !closed
  io.open := Mux(nobody, B(classes bits, default -> True), gates.andMask(running))
  io.code := code
  io.busy := busy
  io.running := running

  // Three registers from io.now to io.left.
  val ahead = (period.toBigDecimal * 3 * 1000000000).toBigInt + 3
  private val most = (1 << leftBits) - 1

  /** It is below zero once the moment has passed, until the next moment is taken some cycles later. */
  private def until(moment: UInt): SInt = {
    val bits = leftBits + 2
    val rest = RegNext((moment - io.now).asSInt - S(ahead, 64 bits))
    Mux(rest > most, S(most, bits bits), Mux(rest < -1024, S(-1024, bits bits), rest.resize(bits)))
  }
  private def positive(value: SInt): UInt =
    Mux(value.msb, U(0, leftBits bits), value.asUInt.sat(widthOf(value) - leftBits))
  val toEnd = RegNext(until(end))
  val awaited = waits || RegNext(waits, False) || RegNext(RegNext(waits, False), False) // until the new end counts
  val toBegin = RegNext(Mux(awaited, positive(until(begin)), U(most, leftBits bits)))
  val behind = RegNext(after)
  for (i <- 0 until classes) {
    val sum = toEnd +^ behind.after(i).resize(leftBits + 1).asSInt
    val own = Mux(nobody, U(most, leftBits bits), positive(sum))
    val open = RegNext(io.open(i)) && io.open(i)
    io.left(i) := RegNext(Mux(own < toBegin, own, toBegin).andMask(open)) init 0
  }
}

/** An entry and its place. */
case class GateWrite() extends Bundle {
  val index = UInt(log2Up(GateList.entries) bits)
  val entry = GateEntry()
}
