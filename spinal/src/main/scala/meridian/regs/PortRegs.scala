// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.mac.{FrameBucket, PsLimit}
import meridian.page.{PagePlace, RegPage, RegView}
import meridian.ptp.{ClockLatch, ClockMeter, PtpFineTime, StampLatency}
import meridian.settings.PsFilterConfig
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType

object PortRegs {
  val place = PagePlace(
    "PORT",
    0x102000,
    RegView.both,
    "An Ethernet port: link, host enables, addresses of the PFs, what the PS receives. The PS alone writes the last",
    4
  )

  /** From here on only the PS may write. */
  val psOnly = 0x100

  /** PFs that have an address on a port. */
  val hostAddresses = 4

  /** Cycles without a write to an address before one is told as valid; a power of two. */
  val addressSettles = 8

  /** MAC enables have two doors: the port's page and the MAC block of OpenNIC. */
  case class EnableWrite() extends Bundle { val rx, tx = Flow(Bool()) }
}

/** A port's control registers (ps clock).
  *
  * The addresses of the PFs keep their content over a reset of either side.
  *
  * An address of the PS filter is told to the clocks of the MAC and of the host 8 cycles after it was written.
  *
  * Latency: 1 cycle a register access.
  */
class PortRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val linkUp = in Bool () // already in the ps clock
    val rxReset = in Bool ()
    val rxResets = in UInt (24 bits)
    val time = in(PtpFineTime())
    val rxClock, txClock = master(ClockLatch()) // the MAC's
    val clocksBusy = out Bool ()
    val openNic = in(PortRegs.EnableWrite())
    val hostRxEnable, hostTxEnable = out Bool ()
    val filter = out(PsFilterConfig(p))
    val limit = out(PsLimit())
    val latency = out(StampLatency())
    val hostRefused = out Bool ()
  }
  val page = new RegPage(PortRegs.place)
  val cmd = io.bus.cmd
  val denied = cmd.fromHost && cmd.write && cmd.address(11 downto 0) >= PortRegs.psOnly
  page.attach(io.bus, allow = !denied)
  io.hostRefused := RegNext(cmd.fire && denied, False)

  val status = page.reg(0x00, "link_status", "State of the port")
  page.show(status, 0, "link_up", io.linkUp, "the MAC receives and is aligned")
  page.show(status, 8, "gigabits", U(p.lineRate, 8 bits), "Gb/s of the port when its link is up")
  val control = page.reg(
    0x04,
    "host_enable",
    "Traffic of the host; the PS has its own. The same bits as conf_rx_1 and conf_tx_1 of OpenNIC's MAC block"
  )
  val rx = page.rw(control, 0, "rx", Bool(), "frames are handed to the host")
  val tx = page.rw(control, 1, "tx", Bool(), "frames of the host are sent")
  when(io.openNic.rx.valid) { rx := io.openNic.rx.payload }
  when(io.openNic.tx.valid) { tx := io.openNic.tx.payload }
  io.hostRxEnable := rx
  io.hostTxEnable := tx
  val receiver = page.reg(
    0x08,
    "receiver",
    "The card resets the port's receiver while it finds no lock: after 100 ms, then again and again, every 800 ms in the end"
  )
  page.show(receiver, 0, "in_reset", io.rxReset, "it is held in reset now, for 1 us")
  page.show(receiver, 8, "resets", io.rxResets, "resets since the card's own; wraps")

  val kept = new ClockingArea(
    ClockDomain.current.copy(reset = null, config = ClockDomain.current.config.copy(resetKind = BOOT))
  ) {
    val address = Vec.fill(PortRegs.hostAddresses)(Reg(Bits(48 bits)) init 0)
    val valid = Vec.fill(PortRegs.hostAddresses)(RegInit(False))
  }
  private val over = "no reset takes it"

  /** Both clocks of the MAC and the PTP clock of the same moment. */
  val clocks = new Area {
    val number = Reg(UInt(16 bits)) init 0
    val seconds, nanoseconds = Reg(UInt(32 bits)) init 0
    val busy = io.rxClock.busy || io.txClock.busy
    val register = page.reg(
      0x30,
      "clock_latch",
      s"Counts the cycles of the MAC's clocks up to now. A latch lasts ${ClockMeter.patience} cycles of ps_clk at most"
    )
    private val order =
      "a written 1 latches rx_clock, tx_clock and the PTP clock's time together. While busy it has no effect, and no counter counts it. Reads 0"
    page.show(register, 0, "latch", False, order, AccessType.W1P)
    private def still(of: String) = s"the $of clock gave no answer to the last latch, so it stands still"
    page.show(register, 8, "busy", busy, "a latch is under way: its clocks and time are not valid yet")
    page.show(register, 9, "rx_still", io.rxClock.still, still("receive"))
    page.show(register, 10, "tx_still", io.txClock.still, still("transmit"))
    page.show(
      register,
      16,
      "number",
      number,
      "latches since the card's reset; wraps. If it is the same before and after a read of clocks and time, they are of one latch"
    )
    val begin = register.hitDoWrite && page.bus.wdat(0) && !busy
    when(begin) {
      number := number + 1
      seconds := io.time.seconds.resized
      nanoseconds := io.time.nanoseconds
    }
    io.rxClock.begin := begin
    io.txClock.begin := begin
    io.clocksBusy := busy
    private def cycles(of: String) =
      s"cycles of the MAC's $of clock up to the last latch that found it running, which no reset sets back; wraps. 0 without a latch since the card's reset"
    page.word(0x34, "rx_clock", io.rxClock.count.asBits, cycles("receive"))
    page.word(0x38, "tx_clock", io.txClock.count.asBits, cycles("transmit"))
    page.word(0x3c, "clock_nanoseconds", nanoseconds.asBits, "nanoseconds of the PTP clock's second at the last latch")
    page.word(0x40, "clock_seconds", seconds.asBits, "the low word of its seconds")
  }
  page.array(
    0x10,
    "host_address_low",
    PortRegs.hostAddresses,
    8,
    "Address of PF i on the port, first four bytes on the wire: of the board as the PS says, or what the host chose"
  ) { (i, r) =>
    val address = kept.address(i)
    page.show(r, 0, "address", address(31 downto 0), s"first byte on the wire in 7:0; $over", AccessType.RW)
    when(r.hitDoWrite)(address(31 downto 0) := page.bus.wdat)
  }
  page.array(
    0x14,
    "host_address_high",
    PortRegs.hostAddresses,
    8,
    "The rest of it, and whether there is one; to be written last"
  ) { (i, r) =>
    val address = kept.address(i)
    page.show(r, 0, "address", address(47 downto 32), s"fifth byte on the wire in 7:0; $over", AccessType.RW)
    page.show(r, 31, "valid", kept.valid(i), "the PF is to have the address", AccessType.RW)
    when(r.hitDoWrite) {
      address(47 downto 32) := page.bus.wdat(15 downto 0)
      kept.valid(i) := page.bus.wdat(31)
    }
  }

  val filter = page.reg(PortRegs.psOnly, "ps_filter", "Which frames the PS receives")
  io.filter.enable := page.rw(filter, 0, "enable", Bool(), "0: none at all")
  io.filter.broadcast := page.rw(filter, 1, "broadcast", Bool(), "broadcast; the host gets it as well")
  io.filter.allMulticast := page.rw(filter, 2, "all_multicast", Bool(), "every multicast; the host gets it as well")
  io.filter.promiscuous := page.rw(
    filter,
    3,
    "promiscuous",
    Bool(),
    "a copy of every frame; the host gets them as without it"
  )
  val others = page.reg(
    PortRegs.psOnly + 0x04,
    "ps_limit",
    "How many frames of the wire that are not PTP the PS receives. While it holds, they leave half of the PS's buffer and a quarter of its receive ring to PTP"
  )
  val ptp = page.reg(
    PortRegs.psOnly + 0x08,
    "ps_ptp_limit",
    "How many frames of PTP the PS receives from the wire, while ps_limit is enabled"
  )
  for ((register, limit) <- Seq(others -> io.limit.others, ptp -> io.limit.ptp)) {
    limit.rate := page.rw(
      register,
      0,
      "rate",
      UInt(FrameBucket.rateBits bits),
      "in 390625000 / 2^18 (about 1490) frames a second"
    )
    limit.burst := page.rw(
      register,
      16,
      "burst",
      UInt(FrameBucket.burstBits bits),
      "frames that may come at once"
    )
  }
  io.limit.enable := page.rw(others, 31, "enable", Bool(), "1: both limits hold; 0: every frame may come")

  for (
    (at, name, latency, doc) <- Seq(
      (
        0x10,
        "rx_latency",
        io.latency.rx,
        "from the connector to where the MAC stamps it; taken off every receive stamp"
      ),
      (
        0x14,
        "tx_latency",
        io.latency.tx,
        "from where the MAC stamps it to the connector; added to every transmit stamp"
      )
    )
  ) {
    val register =
      page.reg(PortRegs.psOnly + at, name, s"What a frame takes $doc. A change counts as a step of the clock")
    latency := page.rw(register, 0, "latency", SInt(32 bits), "signed, in 2^-16 ns")
  }

  /** The MAC's receive clock and the host's clock take an address without a handshake. So it changes only while its valid
    * bit is 0, and is told as valid when no address was written for some cycles: it has reached the slowest clock by then.
    * Accesses are 10 cycles apart at least, so a valid bit that fell is known before the address changes.
    */
  val addresses = new Area {
    val valid, told = Vec.fill(p.psAddresses)(RegInit(False))
    val address = Vec.fill(p.psAddresses)(Reg(Bits(48 bits)) init 0)
    val written = Bits(2 * p.psAddresses bits)
    val rest = Reg(UInt(log2Up(PortRegs.addressSettles) bits)) init 0
    when(written.orR)(rest := 0) elsewhen (!rest.andR)(rest := rest + 1)
    for (i <- 0 until p.psAddresses) {
      told(i) := valid(i) && (told(i) || rest.andR)
    }
    io.filter.valid := told.asBits
    io.filter.address := address
  }
  private val stays = "stays as it is while valid is 1"
  page.array(
    PortRegs.psOnly + 0x40,
    "ps_address_low",
    p.psAddresses,
    8,
    "Address the PS listens to, first four bytes on the wire"
  ) { (i, r) =>
    val address = addresses.address(i)
    page.show(r, 0, "address", address(31 downto 0), s"first byte on the wire in 7:0; $stays", AccessType.RW)
    addresses.written(2 * i) := r.hitDoWrite
    when(r.hitDoWrite && !addresses.valid(i))(address(31 downto 0) := page.bus.wdat)
  }
  page.array(
    PortRegs.psOnly + 0x44,
    "ps_address_high",
    p.psAddresses,
    8,
    "The rest of it, and whether it counts"
  ) { (i, r) =>
    val address = addresses.address(i)
    page.show(r, 0, "address", address(47 downto 32), s"fifth byte on the wire in 7:0; $stays", AccessType.RW)
    page.show(r, 31, "valid", addresses.valid(i), "the PS takes frames to this address", AccessType.RW)
    addresses.written(2 * i + 1) := r.hitDoWrite
    when(r.hitDoWrite) {
      addresses.valid(i) := page.bus.wdat(31)
      when(!addresses.valid(i))(address(47 downto 32) := page.bus.wdat(15 downto 0))
    }
  }
}
