// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxPins, ShellParam}
import meridian.bus._
import meridian.host.HostInterrupt
import meridian.page.{CounterHighs, CounterReader, PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType

object BoxRegs {
  val place = PagePlace(
    "BOX",
    0x118000,
    RegView.both,
    "The user's module of a port, on a card that has the capability `user_box`. That at the host is number 4, on a card " +
      "that has `host_box`",
    count = 5
  )

  /** Registers of a page that only the host writes. */
  val hostIrqAt = 0x1c
  val hostPendingAt = 0x20

  /** Counters behind those of the guard. */
  val irqCounts = Seq(
    "irq_raised" -> "rising edges of the port irq",
    "irq_sent" -> "messages that the DMA engine was asked to send to the function in host_irq",
    "irq_failed" -> "messages, among irq_sent, that it could not send"
  )

  /** Of a module that reads and writes host memory, behind these. */
  val commandCounts = Seq(
    "dma_read" -> "commands of the module to read host memory that have ended",
    "dma_read_failed" -> "commands, among dma_read, that failed",
    "dma_written" -> "commands of the module to write host memory that have ended",
    "dma_write_failed" -> "commands, among dma_written, that failed"
  )

  /** The registers of the module itself, which this map does not know. */
  val window = PagePlace(
    "BOX_WINDOW",
    0x180000,
    RegView.both,
    "Registers of the user's module of a port, as the module has them; without AXI4-Lite ports it refuses all accesses. " +
      "Number 4 is that at the host",
    count = 5,
    stride = 1 << BoxPins.addressBits
  )

  /** Bits of an address of both, as the PS has it. */
  val addressBits = 20
  private val psPage = (place.base - PagePlace.psBase).toInt
  private val psWindow = (window.base - PagePlace.psBase).toInt

  /** Of an address of the PS: the page of a module, or its registers. */
  def isPage(address: UInt, place: Int): Bool = (address >> 12).resize(8 bits) === (psPage >> 12) + place
  def isWindow(address: UInt, place: Int): Bool = (address >> 16).resize(4 bits) === (psWindow >> 16) + place

  /** Whether an access is for a box of the card. */
  def isBox(address: UInt, p: ShellParam): Bool =
    p.boxPlaces.map(place => isPage(address, place) || isWindow(address, place)).orR
}

/** Reset, state, counters and interrupt of a module (host clock).
  *
  * Latency: 1 cycle a register access.
  *
  * @param commands  the module reads and writes host memory
  */
class BoxRegs(p: ShellParam, id: BigInt, version: BigInt, commands: Boolean = false) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val control = master(BoxControl())
    val irq = in Bool () // of the module
    val busHung = in Bool () // its registers do not answer
    val functionReset = in Bits (p.functions bits) // high while a function level reset is under way
    val interrupt = master(Stream(HostInterrupt()))
    val interruptFailed = in Bool () // a pulse a message that the DMA engine could not send
    val irqRose = out Bool () // a pulse a rising edge
    val commandsEnded = commands generate (in Bits (BoxRegs.commandCounts.size bits)) // a pulse each
    val idle = out Bool ()
  }
  val page = new RegPage(BoxRegs.place)
  // What the PS is told is on a page of its own.
  val ofHost = Seq(BoxRegs.hostIrqAt, BoxRegs.hostPendingAt).map(at => io.bus.cmd.address === at).orR
  page.attach(io.bus, allow = io.bus.cmd.fromHost || !io.bus.cmd.write || !ofHost)
  page.word(0x00, "id", B(id, 32 bits), "the parameter BOX_ID of the module, 0 without one")
  page.word(0x04, "version", B(version, 32 bits), "the parameter BOX_VERSION of the module, 0 without one")
  val control = page.reg(0x08, "control", "What the module is told")
  io.control.reset := page.rw(
    control,
    0,
    "reset",
    Bool(),
    "the module is held in reset; frames of both directions are discarded. To be written 1, then 0, after it has hung"
  )
  val status = page.reg(0x0c, "status", "How the module is")
  page.show(status, 0, "ready", io.control.ready, "it is out of reset, and box_rst_done is high if it has that port")
  page.show(
    status,
    1,
    "rx_hung",
    io.control.rxHung,
    "it does not take received frames; they are discarded until a reset"
  )
  page.show(
    status,
    2,
    "tx_hung",
    io.control.txHung,
    "it does not take the host's frames; they are discarded until a reset"
  )
  page.show(
    status,
    3,
    "registers_hung",
    io.busHung,
    "its registers did not answer in 256 cycles; they are refused until a reset"
  )
  page.show(status, 4, "irq", io.irq, "level of its port irq")
  if (commands) page.show(status, 5, "dma", True, "it has ports to read or write host memory")
  val limit = page.reg(0x10, "hang_cycles", "When it hangs")
  io.control.limit := page.rw(
    limit,
    0,
    "cycles",
    UInt(BoxGuard.limitBits bits),
    "host cycles in which a beat is offered, not taken, and no beat of the module held up. Beats that it takes make up for "
      + "some of them: it does not hang if it takes a tenth of the line rate. 0: it never hangs",
    reset = p.hostMhz * 1000
  )

  val levels = Seq(
    ("rx_hung", io.control.rxHung, "status.rx_hung rose"),
    ("tx_hung", io.control.txHung, "status.tx_hung rose"),
    ("registers_hung", io.busHung, "status.registers_hung rose"),
    ("irq", io.irq, "port irq of the module rose")
  )
  val events = page.reg(0x14, "events", "What has happened; a written 1 clears. Of these, only irq may interrupt")
  for (((name, level, doc), i) <- levels.zipWithIndex) {
    val event = RegInit(False)
    when(events.hitDoWrite && page.bus.wdat(i))(event := False)
    when(level.rise(False))(event := True)
    page.show(events, i, name, event, doc, AccessType.W1C)
  }

  val interrupts = new Area {
    val rose = io.irq.rise(False)
    io.irqRose := RegNext(rose) init False
    val gap = page.rw(
      page.reg(0x18, "irq_gap", "How often the module interrupts the host at most"),
      0,
      "cycles",
      UInt(InterruptGate.gapBits bits),
      "of the host clock, at least, from the time that host_pending is set until it is set again",
      reset = InterruptGate.millisecond(p.hostMhz)
    )
    val settings =
      page.reg(BoxRegs.hostIrqAt, "host_irq", "Which function is interrupted: that of the PF that wrote this last")
    val enable = page.rw(
      settings,
      0,
      "enable",
      Bool(),
      "host_pending sends a message: when it is set, or if it is set when this is written, and a millisecond after a "
        + "message that could not be sent. A function level reset of the function clears it"
    )
    val function = Reg(UInt(8 bits)) init 0
    page.show(settings, 8, "function", function, "that is interrupted")
    val vector = page.rw(settings, 16, "vector", UInt(11 bits), "of the function's MSI-X table")
    val acknowledge =
      page.reg(BoxRegs.hostPendingAt, "host_pending", "Whether the host has been told; a written 1 acknowledges")
    val gate = new InterruptGate
    gate.io.event := rose
    gate.io.acknowledge := acknowledge.hitDoWrite && page.bus.wdat(0)
    gate.io.gap := gap
    page.show(
      acknowledge,
      0,
      "irq",
      gate.io.pending,
      "port irq of the module rose; acknowledge first, then look at the module: another edge is told after irq_gap",
      AccessType.W1C
    )
    when(settings.hitDoWrite)(function := io.bus.cmd.function)
    when((io.functionReset.resize(256) >> function).lsb)(enable := False)

    /** One message each time that it is pending. */
    val told = RegInit(False)
    io.interrupt.valid := gate.io.pending && enable && !told
    io.interrupt.function := function
    io.interrupt.vector := vector
    when(io.interrupt.fire)(told := True)
    when(!gate.io.pending || settings.hitDoWrite)(told := False)

    /** A message that could not be sent, as Linux had masked the vector for a moment, is tried again. */
    val again = Reg(UInt(log2Up(InterruptGate.millisecond(p.hostMhz) + 1) bits)) init 0
    when(again =/= 0)(again := again - 1)
    when(again === 1)(told := False)
    when(io.interruptFailed)(again := InterruptGate.millisecond(p.hostMhz))
    io.idle := gate.io.idle && again === 0
  }

  val names = BoxGuard.counts ++ BoxRegs.irqCounts ++ (if (commands) BoxRegs.commandCounts else Nil)
  val ofInterrupts = io.interruptFailed ## (RegNext(io.interrupt.fire) init False) ## io.irqRose
  val counted =
    if (commands) io.commandsEnded ## ofInterrupts ## io.control.counted else ofInterrupts ## io.control.counted
  val counts = Vec.fill(names.size)(Reg(UInt(64 bits)) init 0)
  val highs = new CounterHighs(CounterReader.of(io.bus.cmd.payload))
  for (((name, doc), i) <- names.zipWithIndex) {
    val count = counts(i)
    count := count + U(counted(i))
    val lowWord = page.reg(0x40 + 8 * i, s"${name}_low", s"$doc; low word, to be read first")
    page.show(lowWord, 0, "count", count(31 downto 0).asBits, "bits 31 to 0")
    page.word(
      0x44 + 8 * i,
      s"${name}_high",
      highs.of(lowWord, count),
      s"$doc; high word as of the same reader's read of the low word just before"
    )
  }
}
