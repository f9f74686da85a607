// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif._
import spinal.lib.bus.regif.AccessType._

/** Registers of the clock and its pins, at `base` of a 32-bit register bus in the clock of the PHC. The signals of this
  * area are for the parent to wire: those of the first group are driven here, those of the second by the parent.
  *
  * Words of more than 32 bits are written part by part and take effect at once by a command or with the part that says
  * so. Fields without effect of their own read back what was written. The map is `size` bytes long.
  *
  * @param base      byte address of the first register, a multiple of 4
  * @param frequency nominal clock, for the increment after reset
  * @param locked    a bit for each clock the time is carried to, which says that it follows; in the clock of the PHC
  */
class PhcRegisters(busif: BusIf, base: BigInt, frequency: HertzNumber, locked: Bits, prefix: String = "ptp")
    extends Area {
  require(busif.busDataWidth == 32, s"the register bus has ${busif.busDataWidth} bits: choose 32")
  require(locked.getWidth <= 16, s"locked has ${locked.getWidth} bits: choose 16 or fewer")

  // Driven here.
  val control = PhcControl()
  val pps = PpsConfig()
  val perout = PeroutConfig()
  val extTs = ExtTsConfig()
  val interrupt = Bool()

  // Driven by the parent.
  val time = PtpFineTime()
  val ppsSecond = Bool()
  val peroutRunning = Bool()
  val extTsEvent = Stream(PtpTime())
  val extTsLost = UInt(16 bits)

  private val nominal = Phc.increment(frequency)
  busif.regPtrReAnchorAt(base)
  private def register(name: String, doc: String) = busif.newReg(doc)(SymbolName(s"${prefix}_$name"))

  val commandRegister = new Area {
    private val reg = register("command", "Commands to the clock; a bit written 1 acts once and reads 0")
    val latch = reg.field(Bool(), W1P, 0, "Capture the time in time_*, all of one clock cycle")
    val set =
      reg.field(Bool(), W1P, 0, "Set the clock to set_*; with latch, time_* is what the clock had in that cycle")
    val adjust = reg.field(Bool(), W1P, 0, "Add adjust_* to the clock, exactly")
    val pop = reg.field(Bool(), W1P, 0, "Drop the external timestamp that extts_* shows and show the next")
  }

  val statusRegister = new Area {
    private val reg = register("status", "State of the clock and its pins")
    private val followers = reg.field(Bits(16 bits), RO, 0, "Bit n: the time in MAC clock n follows this clock")
    private val running =
      reg.field(Bool(), RO, 0, "The periodic output is armed or running; a step of the clock ends it")
    private val stamped = reg.field(Bool(), RO, 0, "extts_* shows an external timestamp")
    followers := locked.resized
    running := peroutRunning
    stamped := extTsEvent.valid
  }

  val interruptRegister = new Area {
    private val event = register("event", "What happened; a bit written 1 is cleared")
    val second = event.field(Bool(), W1C, 0, "A second turned (pulse per second)")
    private val enable = register("event_enable", "Which events raise the interrupt")
    val secondEnable = enable.field(Bool(), RW, 0, "Interrupt while event.second is set")
    val stampedEnable = enable.field(Bool(), RW, 0, "Interrupt while an external timestamp waits (status.stamped)")
    when(ppsSecond) {
      second := True
    }
    interrupt := RegNext(second && secondEnable || extTsEvent.valid && stampedEnable) init False
  }

  /** Four registers with a fine time in them. */
  private class TimeRegisters(name: String, what: String, access: AccessType) extends Area {
    val secondsHigh = register(s"${name}_seconds_high", s"$what: seconds")
      .field(UInt(16 bits), access, 0, "Seconds, bits 47:32")
    val secondsLow = register(s"${name}_seconds_low", s"$what: seconds")
      .field(UInt(32 bits), access, 0, "Seconds, bits 31:0")
    val nanoseconds = register(s"${name}_nanoseconds", s"$what: nanoseconds")
      .field(UInt(32 bits), access, 0, "Nanoseconds, 0 to 999999999")
    def seconds: UInt = secondsHigh @@ secondsLow
  }
  private def fraction(name: String, what: String, access: AccessType): UInt =
    register(s"${name}_fraction", s"$what: fraction").field(UInt(32 bits), access, 0, "Fraction, in 2^-32 ns")

  val timeRegisters = new Area {
    private val what = "Time at the last latch command"
    private val parts = new TimeRegisters("time", what, RO)
    private val fractionPart = fraction("time", what, RO)
    val latched = RegNextWhen(time, commandRegister.latch)
    parts.secondsHigh := latched.seconds(47 downto 32)
    parts.secondsLow := latched.seconds(31 downto 0)
    parts.nanoseconds := latched.nanoseconds
    fractionPart := latched.fraction
  }

  val setRegisters = new Area {
    private val what = "Time for the set command"
    private val parts = new TimeRegisters("set", what, RW)
    control.set.valid := commandRegister.set
    control.set.seconds := parts.seconds
    control.set.nanoseconds := parts.nanoseconds
    control.set.fraction := fraction("set", what, RW)
  }

  val adjustRegisters = new Area {
    private val what = "Amount for the adjust command"
    private val nanoseconds = register("adjust_nanoseconds", s"$what, which is adjust_nanoseconds + adjust_fraction")
      .field(SInt(32 bits), RW, 0, "Whole nanoseconds, signed, -1000000000 to 1000000000")
    control.adjust.valid := commandRegister.adjust
    control.adjust.nanoseconds := nanoseconds.resized
    control.adjust.fraction := fraction("adjust", what, RW)
  }

  val incrementRegisters = new Area {
    private val what = "What the clock adds in a cycle"
    private val nanoseconds = register("increment_nanoseconds", s"$what; acts when increment_fraction is written")
      .field(UInt(8 bits), RW, nominal >> 32, "Whole nanoseconds")
    private val low = register("increment_fraction", s"$what; a write makes both parts act at once")
    private val fraction = low.field(UInt(32 bits), RW, nominal & 0xffffffffL, "Fraction, in 2^-32 ns")
    private val acting = RegNextWhen(nanoseconds @@ fraction, low.eventW()) init nominal
    control.increment := acting

    private val usual = "Increment of a clock at its nominal frequency"
    register("nominal_nanoseconds", usual)
      .field(UInt(8 bits), ROV, nominal >> 32, "Whole nanoseconds")(SymbolName("nanoseconds"))
    register("nominal_fraction", usual)
      .field(UInt(32 bits), ROV, nominal & 0xffffffffL, "Fraction, in 2^-32 ns")(SymbolName("fraction"))
  }

  val ppsRegister = new Area {
    private val reg = register("pps", "Pulse per second")
    private val enable = reg.field(Bool(), RW, 0, "Give a pulse at each second")
    private val width = reg.fieldAt(16, UInt(10 bits), RW, 100, "Length of the pulse in ms, 1 to 999")
    pps.enable := enable
    pps.width := width
  }

  val peroutRegisters = new Area {
    private val reg = register("perout", "Periodic output")
    private val enable = reg.field(
      Bool(),
      RW,
      0,
      "Arm the output with perout_start_*, perout_period_* and perout_width_*, which do not change while this is set"
    )
    private val start = new TimeRegisters("perout_start", "First rising edge, in the future", RW)
    private def span(name: String, what: String, to: PtpSpan): Unit = {
      val seconds = register(s"perout_${name}_seconds", what).field(UInt(32 bits), RW, 0, "Seconds")
      val nanoseconds = register(s"perout_${name}_nanoseconds", what)
        .field(UInt(30 bits), RW, 0, "Nanoseconds, 0 to 999999999")
      to.seconds := seconds
      to.nanoseconds := nanoseconds
    }
    perout.enable := enable
    perout.start.seconds := start.seconds
    perout.start.nanoseconds := start.nanoseconds
    span("period", "Time from rising edge to rising edge, at least 32 clock cycles", perout.period)
    span("width", "Time from rising edge to falling edge, at least 16 clock cycles less than the period", perout.width)
  }

  val extTsRegisters = new Area {
    private val reg = register("extts", "External timestamps")
    private val rising = reg.field(Bool(), RW, 0, "Stamp rising edges of the pin")
    private val falling = reg.field(Bool(), RW, 0, "Stamp falling edges of the pin")
    private val lost =
      reg.fieldAt(16, UInt(16 bits), RO, 0, "Timestamps that found no room since reset, 65535 for more")
    private val parts = new TimeRegisters("extts", "Oldest external timestamp, right while status.stamped is set", RO)
    extTs.rising := rising
    extTs.falling := falling
    lost := extTsLost
    parts.secondsHigh := extTsEvent.payload.seconds(47 downto 32)
    parts.secondsLow := extTsEvent.payload.seconds(31 downto 0)
    parts.nanoseconds := extTsEvent.payload.nanoseconds
    extTsEvent.ready := commandRegister.pop
  }

  /** Bytes of the map. */
  val size: BigInt = busif.getRegPtr() - base
}
