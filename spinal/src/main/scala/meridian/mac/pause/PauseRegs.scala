// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import meridian.bus._
import meridian.counters.CounterBank
import meridian.page.{CounterName, CounterReader, PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.{AccessType, RegInst}

/** What the registers and the flow control of a port tell each other, all in the ps clock. Master are the registers.
  *
  * @param sends see [[PauseRegs]]
  */
case class PausePort(sends: Boolean = true) extends Bundle with IMasterSlave {
  val rx = PauseRxConfig()
  val watch = PauseWatchConfig()
  val tx = sends generate PauseTxConfig()
  val buffer = sends generate PauseBufferConfig()

  /** Of the classes that the other end is told to stop; see PauseWatchdog. */
  val sendWatch = sends generate PauseWatchConfig()

  /** Frames since the cycle before: see PauseRegs.frames. */
  val frames = Vec(UInt(PauseRegs.amountBits bits), PauseRegs.framesOf(sends).size)

  /** By class: it is paused; in a storm; the other end is told to stop it; it was told so for longer than it may be. */
  val paused, storm = Bits(Pause.classes bits)
  val stopped, expired = sends generate Bits(Pause.classes bits)
  override def asMaster(): Unit = {
    out(rx, watch)
    in(frames, paused, storm)
    if (sends) {
      out(tx, buffer, sendWatch)
      in(stopped, expired)
    }
  }
}

/** Why a direction of flow control is off although it was switched on. */
object PauseRefusal extends SpinalEnum {
  val none = newElement("none")
  val receiveBoth = newElement("receiveBoth") // PAUSE and PFC at once are not for one link (802.1Q, 36.1.1)
  val sendBoth = newElement("sendBoth")
  val shortQuanta = newElement("shortQuanta") // the other end would go on before it is told again
  val noAddress = newElement("noAddress") // frames would have no source
}

object PauseRegs {

  /** The upper half of the page of the port. */
  val place = PagePlace("FLOW_CONTROL", 0x102800, RegView.both, "PAUSE and PFC of an Ethernet port", 4)
  val addressBits = 11

  /** Fills are counted in so many bytes. */
  val fillUnit = 64
  val fillBits = 16
  val amountBits = 5
  val counters = 0x100

  /** Frames that are counted. */
  val frames = Seq(
    "rx_pause" -> "PAUSE frames obeyed",
    "rx_pfc" -> "PFC frames obeyed",
    "rx_ignored" -> "frames of MAC control with another opcode, or of a kind that is off",
    "tx_pause_xoff" -> "PAUSE frames that stop the other end, first and again",
    "tx_pause_xon" -> "PAUSE frames that let it go on",
    "tx_pfc_xoff" -> "PFC frames of which a class is to stop, first and again",
    "tx_pfc_xon" -> "PFC frames that only let classes go on"
  )

  /** Those of a port that does not send come first. */
  def framesOf(sends: Boolean): Seq[(String, String)] =
    if (sends) frames else frames.takeWhile { case (name, _) => name.startsWith("rx_") }
  val pausedAt = 8
  val stormsAt = 16
  val stoppedAt = 24
  val entries = 32
  private def ofClass(at: Int, name: String, doc: String) =
    for (i <- 0 until Pause.classes) yield (at + i, s"${name}_$i", s"class $i: $doc")
  val names: Seq[CounterName] = namesOf(sends = true)
  def namesOf(sends: Boolean): Seq[CounterName] =
    (framesOf(sends).zipWithIndex.map { case ((name, doc), i) => (i, name, doc) } ++
      ofClass(pausedAt, "paused", "ns in which the other end had stopped it, storms included") ++
      ofClass(stormsAt, "storms", "times that it was stopped for longer than the watchdog allows") ++
      (if (sends) ofClass(stoppedAt, "stopped", "ns in which the other end was told to stop it") else Nil))
      .map { case (i, name, doc) => CounterName(counters + 8 * i, name, doc) }
}

/** Registers of the flow control of a port (ps clock). A direction with settings that do not go together is off, and
  * `refusal` tells why.
  *
  * Latency: 4 cycles a register access; what happens is counted within 40.
  *
  * @param sends whether the port also sends flow control, by the fill of its receive buffer
  */
class PauseRegs(p: ShellParam, sends: Boolean = true) extends Component {
  import PauseRegs._
  val io = new Bundle {
    val bus = slave(RegPort(addressBits))
    val port = master(PausePort(sends))
  }
  val page = new RegPage(PauseRegs.place, addressWidth = addressBits)
  val port = io.port
  // A command stands until the counter that it may be for has been read.
  val age = Reg(UInt(2 bits)) init 0
  val ready = age === 2
  when(io.bus.cmd.valid && !ready)(age := age + 1) otherwise (age := 0)
  page.attach(io.bus, ready = ready)

  /** A field of 16 bits that software writes only while nothing uses it. */
  private def still(register: RegInst, at: Int, name: String, used: Bool, doc: String, reset: Int = 0): UInt = {
    val value = Reg(UInt(16 bits)) init reset
    page.show(register, at, name, value, doc, AccessType.RW, reset)
    when(register.hitDoWrite && !used)(value := page.bus.wdat(at, 16 bits).asUInt)
    value
  }

  val settings = new Area {
    class Kinds(at: Int, name: String, doc: String, pauseDoc: String, pfcDoc: String) extends Area {
      val register = page.reg(at, name, doc)
      val pause = page.rw(register, 0, "pause", Bool(), pauseDoc)
      val pfc = page.rw(register, 8, "pfc", Bits(Pause.classes bits), s"$pfcDoc; not together with pause")
      val both = pause && pfc.orR
      val on = pause || pfc.orR
    }
    val receive = new Kinds(
      0x00,
      "receive",
      "Frames of flow control that are obeyed. While any are, no frame of MAC control (EtherType 0x8808) goes to host or PS",
      "PAUSE stops all frames of the host; those of the PS go on",
      "priorities (PCP) that PFC may stop, a bit each; one that is stopped stops its whole transmit queue"
    )
    val send = sends generate new Kinds(
      0x04,
      "send",
      "Frames of flow control that are sent when the receive buffer fills; in a build that has the capability flow_control_sent",
      "PAUSE",
      "priorities (PCP, 0 without a tag) of which PFC is sent, a bit each"
    )

    /** Until the last frame that lets the other end go on has begun, the MAC's clocks look at what it tells. */
    val sending = sends generate (send.on || port.stopped.orR)
    if (sends)
      port.tx.quanta := still(
        page.reg(0x08, "quanta", "Time for which the other end is to stop; it is told again after half of it"),
        0,
        "quanta",
        sending,
        s"of 512 bits on the line; ${PauseSender.leastQuanta(p.maxFrame)} at least with frames of ${p.maxFrame} bytes; " +
          "stays as it is while send is not 0",
        reset = 0xffff
      )
    private def limit(at: Int, name: String, doc: String): UInt =
      page.rw(
        page.reg(at, name, doc),
        0,
        "limit",
        UInt(16 bits),
        "in 2^20 bits on the line, 42 us at 25 Gb/s and 105 us at 10 Gb/s, without a break; 0: for ever"
      )
    private def watch(config: PauseWatchConfig, limit: UInt): Unit = {
      config.limit := limit
      config.drop := 0
    }
    watch(
      port.watch,
      limit(0x0c, "watchdog", "How long the other end may stop a class. Behind that, in a storm, its frames are sent")
    )
    if (sends)
      watch(
        port.sendWatch,
        limit(
          0x24,
          "send_limit",
          "How long a class may tell the other end to stop. Behind that it lets it go on until the fill has come down, " +
            "and what finds no room is lost"
        )
      )
    val address = Reg(Bits(48 bits)) init 0
    val inUse = if (sends) receive.on || sending else receive.on
    private val doc = "Address of the port, " + (if (sends) "source of the frames that it sends, and " else "") +
      "obeyed as a destination beside 01-80-C2-00-00-01"
    val low = page.reg(0x10, "address_low", s"$doc; first four bytes on the wire")
    val high = page.reg(0x14, "address_high", s"$doc; the rest")
    private val stays = s"stays as it is while receive ${if (sends) "or send " else ""}is not 0"
    page.show(low, 0, "address", address(31 downto 0), s"first byte on the wire in 7:0; $stays", AccessType.RW)
    page.show(high, 0, "address", address(47 downto 32), s"fifth byte on the wire in 7:0; $stays", AccessType.RW)
    when(!inUse) {
      when(low.hitDoWrite)(address(31 downto 0) := page.bus.wdat)
      when(high.hitDoWrite)(address(47 downto 32) := page.bus.wdat(15 downto 0))
    }

    val refusal = PauseRefusal()
    refusal := PauseRefusal.none
    val checked = sends generate new Area {
      val short = send.on && port.tx.quanta < PauseSender.leastQuanta(p.maxFrame)
      val nameless = send.on && !address.orR
      val allowed = !short && !nameless && !send.both
      when(short)(refusal := PauseRefusal.shortQuanta)
      when(nameless)(refusal := PauseRefusal.noAddress)
      when(send.both)(refusal := PauseRefusal.sendBoth)
      port.tx.pause := RegNext(send.pause && allowed) init False
      port.tx.pfc := RegNext(send.pfc.andMask(allowed)) init 0
      port.tx.station := address
    }
    when(receive.both)(refusal := PauseRefusal.receiveBoth)
    page.show(
      page.reg(0x18, "refusal", "Why a direction is off although it was switched on"),
      0,
      "reason",
      refusal.asBits,
      "the first that holds: see PAUSE_REFUSAL"
    )
    port.rx.pause := RegNext(receive.pause && !receive.both) init False
    port.rx.pfc := RegNext(receive.pfc.andMask(!receive.both)) init 0
    port.rx.station := address
  }

  val state = new Area {
    val status = page.reg(0x1c, "state", "How the classes are, a bit each")
    page.show(status, 0, "paused", port.paused, "the other end has stopped it")
    page.show(status, 8, "storm", port.storm, "the other end has stopped it for longer than the watchdog allows")
    if (sends) page.show(status, 16, "stopped", port.stopped, "the other end is told to stop it")
    val register = page.reg(0x20, "events", "What has happened; a written 1 clears")
    val began = port.storm & ~(RegNext(port.storm) init 0)
    val storms = Reg(Bits(Pause.classes bits)) init 0
    storms := (storms & ~page.bus.wdat(7 downto 0).andMask(register.hitDoWrite)) | began
    page.show(register, 0, "storm", storms, "a storm of the class began", AccessType.W1C)
    val overdue = sends generate new Area {
      val began = port.expired & ~(RegNext(port.expired) init 0)
      val classes = Reg(Bits(Pause.classes bits)) init 0
      classes := (classes & ~page.bus.wdat(15 downto 8).andMask(register.hitDoWrite)) | began
      page.show(
        register,
        8,
        "send_expired",
        classes,
        "the class has told the other end to stop for longer than it may",
        AccessType.W1C
      )
    }
  }

  /** When a buffer is too full, in 64 bytes. Read where frames come in, so they stand still while that looks at them. */
  val fills = sends generate new Area {
    private val unit = "in 64 bytes; stays as it is while send is not 0"
    def field(register: RegInst, at: Int, name: String, doc: String): UInt =
      still(register, at, name, settings.send.on, s"$doc, $unit")
    def thresholds(to: PauseThresholds, register: RegInst, who: String): Unit = {
      to.xoff := field(register, 0, "xoff", s"$who is to stop at this fill, 0: never")
      to.xon := field(register, 16, "xon", "and may go on at this fill")
    }
    thresholds(
      port.buffer.all,
      page.reg(
        0x28,
        "buffer_threshold",
        "Fill of the receive buffer by frames of all priorities of which flow control is sent"
      ),
      "each of them"
    )
    port.buffer.lossy := field(
      page.reg(0x2c, "lossy", "Fill of the receive buffer by frames of the other priorities, while PFC is sent"),
      0,
      "limit",
      "they are lost from this fill on, 0: never"
    )
    page.word(
      0x30,
      "buffer_size",
      B(p.rxBufferBytes / fillUnit, 32 bits),
      "all that the receive buffer holds, in 64 bytes"
    )
    page.array(0x40, "threshold", Pause.classes, 4, "Fill of the receive buffer by frames of a class") {
      (i, register) =>
        thresholds(port.buffer.classes(i), register, "the class")
    }
  }

  /** Each sum is put into the memory when its turn comes, every 32 cycles. */
  val counting = new Area {
    val bank = new CounterBank(entries, 64, 8)
    val turn = Reg(UInt(log2Up(entries) bits)) init 0
    turn := turn + 1
    private val nanoseconds = 4 // of a cycle of the ps clock
    require(p.psFrequency.toBigDecimal * nanoseconds == 1000000000, "a cycle of the ps clock has another length")
    val amounts = Seq.tabulate(entries) {
      case i if i < port.frames.size                          => port.frames(i)
      case i if i >= pausedAt && i < pausedAt + Pause.classes => U(nanoseconds).andMask(port.paused(i - pausedAt))
      case i if i >= stormsAt && i < stormsAt + Pause.classes => state.began(i - stormsAt).asUInt
      case i if sends && i >= stoppedAt && i < stoppedAt + Pause.classes =>
        U(nanoseconds).andMask(port.stopped(i - stoppedAt))
      case _ => U(0)
    }
    val sums = Vec.fill(entries)(Reg(UInt(8 bits)) init 0)
    val given = bank.io.ready
    for ((sum, i) <- sums.zipWithIndex) sum := Mux(given && turn === i, U(0), sum) + amounts(i).resize(8)
    bank.io.add.valid := given
    bank.io.add.index := turn
    bank.io.add.amount := sums(turn)
  }

  val counters = new Area {
    val window = page.counters(PauseRegs.counters, 8 * entries, PauseRegs.namesOf(sends))
    val command = io.bus.cmd
    counting.bank.io.read.valid := command.valid
    counting.bank.io.read.payload := (command.address - PauseRegs.counters)(3, log2Up(entries) bits)
    val value = counting.bank.io.value.payload
    val highs = Vec.fill(CounterReader.count)(Reg(Bits(32 bits)) init 0)
    val high = highs(CounterReader.of(command.payload))
    when(window.hitDoRead && !command.address(2))(high := value(63 downto 32).asBits)
    window.bus.rdat := RegNext(command.address(2) ? high | value(31 downto 0).asBits)
  }
}
