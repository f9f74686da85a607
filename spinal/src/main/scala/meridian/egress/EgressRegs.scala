// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.bus._
import meridian.counters.CounterBank
import meridian.egress.pool._
import meridian.egress.shape.{ClassBuckets, ClassRateAccess, EcnCurve}
import meridian.page.{CounterName, PagePlace, RegPage, RegView}
import meridian.settings.PortClasses
import spinal.core._
import spinal.lib._

object EgressRegs {
  val place = PagePlace(
    "EGRESS",
    0x122000,
    RegView.pf,
    "Transmit queues of all ports in one memory, in a build with a pool of cells. Every value of its settings is defined"
  )
  val rateBase = 0x400
  val rateBytes = 0x200
  val rateKinds = Seq("max_rate", "max_burst", "min_rate", "min_burst")

  /** Place of a word of the rates: 16 bytes a class, 128 a port. */
  def rate(port: Int, trafficClass: Int, kind: Int): Int = rateBase + 128 * port + 16 * trafficClass + 4 * kind
  val lineBase = 0x600
  val lineBytes = 0x100

  /** Place of a word of the lines by which frames are marked: 8 bytes a class, 64 a port. */
  def line(port: Int, trafficClass: Int, word: Int): Int = lineBase + 64 * port + 8 * trafficClass + 4 * word
  val counterBase = 0x800
  val kinds = Seq(
    "frames" -> "frames that left the class for the wire",
    "bytes" -> "their bytes, without FCS and padding",
    "lost" -> "frames that found no room in the class, or that left it while the MAC was in reset",
    "marked" -> "frames of the class that were marked as having met congestion (CE)"
  )

  /** Place of a counter: 32 bytes a class, 256 a port. */
  def offset(port: Int, trafficClass: Int, kind: Int): Int = counterBase + 256 * port + 32 * trafficClass + 8 * kind

  def names(ports: Int): Seq[CounterName] =
    for (i <- 0 until ports; c <- 0 until PoolParam.classes; ((name, doc), k) <- kinds.zipWithIndex)
      yield CounterName(offset(i, c, k), s"port${i}_class${c}_$name", s"port $i, class $c: $doc")
}

/** Settings and counters of a pool (host clock).
  *
  * Latency: 6 cycles a register access. Each frame is counted, a few cycles after it.
  */
class EgressRegs(p: ShellParam) extends Component {
  import EgressRegs._
  val e = PoolParam.ofShell(p)
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val settings = out(PoolSettings(e))
    val classes = out Vec (PortClasses(), p.ports)
    val rates = Vec(master(ClassRateAccess()), p.ports)
    val begun = Vec(slave(Flow(ClassBytes(e))), p.ports)
    val lines = master(PoolMarker.lineAccess(e))
    val lost = in Vec (Bits(e.classes bits), p.ports) // of begun, too: it is not sent
    val marked = in Vec (Bits(e.classes bits), p.ports) // one frame of all ports at a time
    val discarded = in Bits (p.ports bits) // with begun: it is not sent
    val free = in(e.countType())
  }
  val page = new RegPage(place)

  val sizes = page.reg(0x00, "sizes", "Sizes of the build")
  page.show(sizes, 0, "cells", U(e.cells, 16 bits), "cells of the memory")
  page.show(sizes, 16, "cell_bytes", U(e.cellBytes, 16 bits), "bytes of a cell, which has bytes of one frame only")
  val reserves = page.reg(0x04, "reserves", "Cells that are kept free for some; they are never more than there are")
  page.show(reserves, 0, "paced", U(e.reserve, 16 bits), "of a port, for frames of paced queues, which get no others")
  page.show(reserves, 16, "class", U(e.minimum, 16 bits), "of a class of a port, for other frames")
  val filled = RegInit(False) setWhen (io.free === e.cells) // after reset the cells become free one by one
  val used = RegNext((U(e.cells, widthOf(io.free) bits) - io.free).andMask(filled)) init 0
  val peak = Reg(cloneOf(used)) init 0
  val inUse = page.reg(0x08, "cells", "Cells that hold frames; a write begins a new peak, whatever is written")
  page.show(inUse, 0, "used", used.resize(16 bits), "now")
  page.show(inUse, 16, "peak", peak.resize(16 bits), "the most since the last write, or since reset")
  when(used > peak || inUse.hitDoWrite)(peak := used)
  val thresholds = page.reg(0x0c, "thresholds", "How much of the shared cells a class may have")
  for (c <- 0 until e.classes)
    io.settings.alpha(c) := page.rw(
      thresholds,
      4 * c,
      s"class$c",
      UInt(3 bits),
      s"2^(n - 3) times what is free of them: class $c, and each group of functions in it what the class has left then",
      reset = 3
    )
  page.array(
    0x40,
    "classes",
    p.ports,
    0x10,
    "The class of each priority (PCP). That of a frame without 802.1Q tag is 0"
  ) { (i, r) =>
    for (n <- 0 until PortClasses.priorities)
      io.classes(i).of(n) := page.rw(r, 4 * n, s"priority$n", UInt(3 bits), s"of frames with priority $n", reset = n)
  }
  page.array(0x44, "strict", p.ports, 0x10, "Which classes are served first") { (i, r) =>
    io.settings.weights(i).strict := page.rw(
      r,
      0,
      "class",
      Bits(e.classes bits),
      "a bit a class: it goes before all lower ones, and before all that are not strict",
      reset = (1 << e.classes) - 1
    )
  }
  for (half <- 0 until 2)
    page.array(
      0x48 + 4 * half,
      s"weights_${4 * half}_to_${4 * half + 3}",
      p.ports,
      0x10,
      "How classes that are not strict share the rest"
    ) { (i, r) =>
      for (k <- 0 until 4) {
        val doc = "bytes in a round, in units of 256; 0: what the others leave"
        io.settings.weights(i).weight(4 * half + k) :=
          page.rw(r, 8 * k, s"class${4 * half + k}", UInt(8 bits), doc, reset = 1)
      }
    }
  val rateUnit = page.reg(0x10, "rate_unit", "Unit of the rates of classes")
  val bitsASecond = ClassBuckets.unit(p.hostMhz MHz, p.lineRate).toBigInt
  page.show(rateUnit, 0, "value", U(bitsASecond, 32 bits), "bit/s on the line, with preamble, FCS and gap")
  val rates = page.memory(
    rateBase,
    "rates",
    rateBytes,
    "Rates of the classes, 128 bytes a port and 16 a class: max_rate, which the class does not exceed, in rate_unit, 17 " +
      "bits, 0: none; max_burst, up to which it may save, in 64 bytes, 16 bits; min_rate and min_burst: below that rate the " +
      "class goes before all that have theirs. Places without a port read 0"
  )
  val lines = page.memory(
    lineBase,
    "marks",
    lineBytes,
    "Lines by which frames of a class are marked as having met congestion, 64 bytes a port and 8 a class: a word with min in " +
      "bits 15:0 and max in 31:16, in cells of frames that are not paced, and a word with slope in bits 16:0 and weight in " +
      "23:20. No frame is marked below min, or if max is 0; each is from max on; in between a share of slope / 2^21 for each " +
      "cell above min. By weight not the cells count but their mean, which moves by 2^-weight of the distance every " +
      s"${EcnCurve.visitCycles(e.classes)} cycles of the host clock for each port, of which three count as four. Places " +
      "without a port read 0"
  )
  val memory = page.counters(counterBase, 0x400, names(p.ports))

  val counts = new Area {
    val slots = 4 * e.classes
    val frames = new CounterBank(slots, amountBits = 1)
    val bytes = new CounterBank(slots, amountBits = widthOf(e.lengthType()))
    // Two banks are one counter: both may count in each cycle while a MAC is in reset.
    val full, discarded, marks = new CounterBank(slots, amountBits = 1)

    case class Event() extends Bundle {
      val index = UInt(log2Up(slots) bits)
      val bytes = e.lengthType()
    }
    private def waiting(port: Int, valid: Bool, trafficClass: UInt, length: UInt): Stream[Event] = {
      val event = Stream(Event())
      event.valid := valid
      event.index := U(port, 2 bits) @@ trafficClass
      event.bytes := length
      event.m2sPipe()
    }
    private def inTurn(events: collection.Seq[Stream[Event]]): Flow[Event] =
      StreamArbiterFactory().roundRobin.noLock.on(events.toSeq).toFlow.stage()

    // A port has a frame in 6 cycles at the most, and there are four.
    val sent = inTurn(io.begun.zipWithIndex.map { case (flow, i) =>
      waiting(i, flow.valid && !io.discarded(i), flow.trafficClass, flow.bytes)
    })
    // All frames come from one stream, so one in a cycle finds no room.
    val lost = inTurn(io.lost.zipWithIndex.map { case (lost, i) =>
      waiting(i, lost.orR, OHToUInt(lost), U(0).resized)
    })
    val gone = inTurn(io.begun.zipWithIndex.map { case (flow, i) =>
      waiting(i, flow.valid && io.discarded(i), flow.trafficClass, U(0).resized)
    })
    val marked = inTurn(io.marked.zipWithIndex.map { case (marked, i) =>
      waiting(i, marked.orR, OHToUInt(marked), U(0).resized)
    })
    for ((bank, event) <- Seq(frames -> sent, bytes -> sent, full -> lost, discarded -> gone, marks -> marked)) {
      bank.io.add.valid := event.valid
      bank.io.add.index := event.index
      bank.io.add.amount := (if (bank == bytes) event.bytes else U(1, 1 bits))
    }
  }

  /** Accesses one at a time; reading the low word of a counter keeps the high word for the same PF. */
  val access = new Area {
    val cycle = Reg(UInt(3 bits)) init 0
    val command = Reg(cloneOf(io.bus.cmd.payload))
    val highs = Vec(Reg(Bits(32 bits)) init 0, p.pfs)
    val value = Reg(Bits(32 bits)) init 0
    val reader = command.function.resize(log2Up(p.pfs))
    io.bus.cmd.ready := cycle === 0
    when(io.bus.cmd.fire) {
      command := io.bus.cmd.payload
      cycle := 1
    }
    when(cycle =/= 0)(cycle := cycle + 1)
    val kind = command.address(4 downto 3)
    val banks = Seq(counts.frames, counts.bytes, counts.full, counts.discarded, counts.marks)
    for (bank <- banks) {
      bank.io.read.valid := cycle === 1
      bank.io.read.payload := command.address(9 downto 5)
    }
    val isRate = command.address(11 downto 9) === rateBase >> 9
    for ((port, i) <- io.rates.zipWithIndex) {
      port.least := command.address(3)
      port.look := command.address(6 downto 4)
      port.write.valid := cycle === 4 && command.write && isRate && command.address(8 downto 7) === i
      port.write.trafficClass := port.look
      port.write.isBurst := command.address(2)
      port.write.value := command.data.asUInt.resized
    }
    val isLine = command.address(11 downto 8) === lineBase >> 8
    private val place = command.address(7 downto 3)
    private val placeIn = place.resize(6) < e.classes * e.ports
    io.lines.list := place.resized
    io.lines.isSlope := command.address(2)
    io.lines.write := cycle === 4 && command.write && isLine && placeIn
    io.lines.value.min := command.data(15 downto 0).asUInt
    io.lines.value.max := command.data(31 downto 16).asUInt
    io.lines.value.slope := command.data(16 downto 0).asUInt
    io.lines.value.weight := command.data(23 downto 20).asUInt
    private val kept = io.lines.line
    private val halves = Seq(kept.max ## kept.min, (kept.weight ## B(0, 3 bits) ## kept.slope).resize(32))
    val line = Mux(command.address(2), halves(1), halves(0)).andMask(placeIn)
    private val words = io.rates.map(port => Mux(command.address(2), port.burst.resize(port.rate.getWidth), port.rate))
    val rate = Vec(words ++ Seq.fill(4 - p.ports)(U(0, ClassBuckets.rateBits bits)))(command.address(8 downto 7))
    when(cycle === 3) {
      val Seq(frames, bytes, full, discarded, marks) = banks.map(_.io.value.payload)
      val read = Vec(frames, bytes, full + discarded, marks)(kind).asBits
      val low = !command.address(2)
      val setting = Mux(isRate, rate.asBits.resize(32), line)
      value := Mux(isRate || isLine, setting, Mux(low, read(31 downto 0), highs(reader)))
      when(low && command.address(11) && !command.write)(highs(reader) := read(63 downto 32))
    }
    memory.bus.rdat := value
    rates.bus.rdat := value
    lines.bus.rdat := value
    page.bus.ce := cycle === 4
    page.bus.wr := command.write
    page.bus.addr := command.address.resized
    page.bus.wdat := command.data
    io.bus.rsp.valid := cycle === 5
    io.bus.rsp.data := page.bus.rdat
    io.bus.rsp.refused := False
    io.bus.rsp.unmapped := page.unmapped
    when(cycle === 5)(cycle := 0)
  }
}
