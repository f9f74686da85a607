// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.box.{BoxControl, BoxGuard, BoxPins}
import meridian.regs.bus._
import meridian.regs.counters._
import meridian.ShellParam
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

  /** The number of the page, and of the window, of the module at the host. */
  val hostPlace = 4

  /** Bits of an address of both, as the PS has it. */
  val addressBits = 20
  private val psPage = (place.base - GenerateRegisters.psBase).toInt
  private val psWindow = (window.base - GenerateRegisters.psBase).toInt

  /** Of an address of the PS: the page of a module, or its registers. */
  def isPage(address: UInt, place: Int): Bool = (address >> 12).resize(8 bits) === (psPage >> 12) + place
  def isWindow(address: UInt, place: Int): Bool = (address >> 16).resize(4 bits) === (psWindow >> 16) + place

  /** Whether an access is for a box of the card. */
  def isBox(address: UInt, p: ShellParam): Bool =
    p.boxPlaces.map(place => isPage(address, place) || isWindow(address, place)).orR
}

/** Reset, state and counters of a module (host clock).
  *
  * Latency: 1 cycle a register access.
  */
class BoxRegs(p: ShellParam, id: BigInt, version: BigInt) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val control = master(BoxControl())
    val irq = in Bool () // of the module
    val busHung = in Bool () // its registers do not answer
  }
  val page = new RegPage(BoxRegs.place)
  page.attach(io.bus)
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
  val events = page.reg(0x14, "events", "What has happened; a written 1 clears. No event interrupts: software polls")
  for (((name, level, doc), i) <- levels.zipWithIndex) {
    val event = RegInit(False)
    when(events.hitDoWrite && page.bus.wdat(i))(event := False)
    when(level.rise(False))(event := True)
    page.show(events, i, name, event, doc, AccessType.W1C)
  }

  val counts = Vec.fill(BoxGuard.counts.size)(Reg(UInt(64 bits)) init 0)
  val highs = new CounterHighs(CounterReader.of(io.bus.cmd.payload))
  for (((name, doc), i) <- BoxGuard.counts.zipWithIndex) {
    val count = counts(i)
    count := count + U(io.control.counted(i))
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
