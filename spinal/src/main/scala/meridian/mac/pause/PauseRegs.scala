// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.ShellParam
import meridian.bus._
import meridian.counters.CounterBank
import meridian.page.{CounterName, CounterReader, PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType

/** What the registers and the flow control of a port tell each other, all in the ps clock. Master are the registers.
  *
  * @param sends see [[PauseRegs]]
  */
case class PausePort(sends: Boolean = true) extends Bundle with IMasterSlave {
  val rx = PauseRxConfig()
  val watch = PauseWatchConfig()
  val tx = sends generate PauseTxConfig()
  val thresholds = sends generate Vec(PauseThresholds(PauseRegs.fillBits), Pause.classes)

  /** Frames since the cycle before: see PauseRegs.frames. */
  val frames = Vec(UInt(PauseRegs.amountBits bits), PauseRegs.framesOf(sends).size)

  /** By class: it is paused; in a storm; the other end is told to stop it. */
  val paused, storm = Bits(Pause.classes bits)
  val stopped = sends generate Bits(Pause.classes bits)
  override def asMaster(): Unit = {
    out(rx, watch)
    in(frames, paused, storm)
    if (sends) {
      out(tx, thresholds)
      in(stopped)
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
  val entries = 32
  private def ofClass(at: Int, name: String, doc: String) =
    for (i <- 0 until Pause.classes) yield (at + i, s"${name}_$i", s"class $i: $doc")
  val names: Seq[CounterName] = namesOf(sends = true)
  def namesOf(sends: Boolean): Seq[CounterName] =
    (framesOf(sends).zipWithIndex.map { case ((name, doc), i) => (i, name, doc) } ++
      ofClass(pausedAt, "paused", "ns in which the other end had stopped it, storms included") ++
      ofClass(stormsAt, "storms", "times that it was stopped for longer than the watchdog allows"))
      .map { case (i, name, doc) => CounterName(counters + 8 * i, name, doc) }
}

/** Registers of the flow control of a port (ps clock). A direction with settings that do not go together is off, and
  * `refusal` tells why.
  *
  * Latency: 4 cycles a register access; what happens is counted within 40.
  *
  * @param sends whether the port also sends flow control, and may drop the frames of a storm; no shell has that yet
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
      "Frames of flow control that are sent when receive buffers fill",
      "PAUSE",
      "classes of which PFC is sent, a bit each"
    )
    if (sends)
      port.tx.quanta := page.rw(
        page.reg(0x08, "quanta", "Time for which the other end is to stop; it is told again after half of it"),
        0,
        "quanta",
        UInt(16 bits),
        s"of 512 bits on the line; ${PauseSender.leastQuanta(p.maxFrame)} at least with frames of ${p.maxFrame} bytes",
        reset = 0xffff
      )
    private val storm = "How long the other end may stop a class. Behind that, in a storm, the frames of the class "
    val watchdog = page.reg(0x0c, "watchdog", storm + (if (sends) "are sent or dropped" else "are sent"))
    port.watch.limit := page.rw(
      watchdog,
      0,
      "limit",
      UInt(16 bits),
      "in 2^20 bits on the line, 42 us at 25 Gb/s and 105 us at 10 Gb/s, without a break; 0: for ever"
    )
    port.watch.drop := (
      if (sends)
        page.rw(
          watchdog,
          16,
          "drop",
          Bits(Pause.classes bits),
          "classes whose frames are dropped in a storm; those of others are sent"
        )
      else B(0, Pause.classes bits)
    )
    val address = Reg(Bits(48 bits)) init 0
    val still = if (sends) receive.on || send.on else receive.on
    private val doc = "Address of the port, " + (if (sends) "source of the frames that it sends, and " else "") +
      "obeyed as a destination beside 01-80-C2-00-00-01"
    val low = page.reg(0x10, "address_low", s"$doc; first four bytes on the wire")
    val high = page.reg(0x14, "address_high", s"$doc; the rest")
    private val stays = s"stays as it is while receive ${if (sends) "or send " else ""}is not 0"
    page.show(low, 0, "address", address(31 downto 0), s"first byte on the wire in 7:0; $stays", AccessType.RW)
    page.show(high, 0, "address", address(47 downto 32), s"fifth byte on the wire in 7:0; $stays", AccessType.RW)
    when(!still) {
      when(low.hitDoWrite)(address(31 downto 0) := page.bus.wdat)
      when(high.hitDoWrite)(address(47 downto 32) := page.bus.wdat(15 downto 0))
    }

    val refusal = PauseRefusal()
    refusal := PauseRefusal.none
    val sending = sends generate new Area {
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
  }

  if (sends)
    page.array(0x40, "threshold", Pause.classes, 4, "Fill of the receive buffer of a class, in 64 bytes") { (i, r) =>
      port.thresholds(i).xoff := page.rw(
        r,
        0,
        "xoff",
        UInt(fillBits bits),
        "the other end is to stop at this fill; 0: never"
      )
      port.thresholds(i).xon := page.rw(r, 16, "xon", UInt(fillBits bits), "and may go on at this fill")
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
      case _                                                  => U(0)
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
