// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.bus._
import meridian.pacing.Pacing
import meridian.page.{CounterName, CounterReader, PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType._

/** What the registers and the test of a port tell each other. Master are the registers. */
case class PortTestPort(p: ShellParam) extends Bundle with IMasterSlave {
  val settings = PortTestSettings(p)
  val start, stop, off = Bool()
  val question = Flow(UInt(PortJudge.indexBits bits))
  val answer = UInt(64 bits) // 2 cycles behind the question
  val state = PortTestState()
  val refusal = PortTestRefusal()
  val end = PortTestEnd()
  val cut = UInt(32 bits)
  val least, most = UInt(30 bits)
  override def asMaster(): Unit = {
    out(settings, start, stop, off)
    master(question)
    in(answer, state, refusal, end, cut, least, most)
  }
}

object PortTestRegs {
  val place = PagePlace(
    "PORT_TEST",
    0x106000,
    RegView.both,
    "Packet generator and checker at the MAC's side of a port; in a build that has the capability self_test",
    4,
    0x400
  )
  val counters = 0x80
  val names: Seq[CounterName] = PortJudge.counts.zipWithIndex.map { case ((name, doc), i) =>
    CounterName(counters + 8 * i, name, s"since the last test began: $doc")
  }
}

/** Registers of the test of a port (ps clock). Settings are taken over by a start; writes during a test are for the next.
  *
  * Latency: 4 cycles a register access.
  */
class PortTestRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(10))
    val port = master(PortTestPort(p))
  }
  val page = new RegPage(PortTestRegs.place, addressWidth = 10)
  val port = io.port
  // A command stands until the counter that it may be for has been read.
  val age = Reg(UInt(2 bits)) init 0
  val ready = age === 2
  when(io.bus.cmd.valid && !ready)(age := age + 1) otherwise (age := 0)
  page.attach(io.bus, ready = ready)

  val commands = new Area {
    val command = page.reg(0x000, "command", "What is to be done; the lowest bit that is set counts")
    for (
      (name, i, doc) <- Seq(
        ("start", 0, "start a test with the settings; status tells whether it was refused"),
        ("stop", 1, "no further frame is sent; the checker waits for those under way, or waits no longer if it did"),
        ("off", 2, "no further frame is sent, and the checker takes no further frame")
      )
    ) page.show(command, i, name, False, doc, W1P)
    val written = RegNext(page.bus.wdat(2 downto 0).andMask(command.hitDoWrite)) init 0
    port.start := written(0)
    port.stop := written(1 downto 0) === B"10"
    port.off := written === B"100"
  }

  val settings = new Area {
    val s = port.settings
    val plan = s.plan
    val mode = page.reg(0x004, "mode", "What the next test does")
    s.generate := page.rw(mode, 0, "generate", Bool(), "send frames by the port")
    s.check := page.rw(mode, 1, "check", Bool(), "take received frames of the label out of the stream, and check them")
    s.force := page.rw(
      mode,
      2,
      "force",
      Bool(),
      "start although the port carries traffic of host or PS, or has no link"
    )
    s.delay := page.rw(
      mode,
      3,
      "delay",
      Bool(),
      "the generator begins 32768 cycles of the PS's clock (131 us) behind the checker, so that both ends of a cable can be armed before a frame goes"
    )
    val size = page.reg(0x008, "size", "Sizes of frames; bytes without FCS, from 60 to max_frame")
    plan.sizeFirst := page.rw(
      size,
      0,
      "first",
      UInt(16 bits),
      "of the first frame, and of the one behind the last size"
    )
    plan.sizeLast := page.rw(size, 16, "last", UInt(16 bits), "that no frame exceeds; first, for frames of one size")
    plan.sizeStep := page.rw(
      page.reg(0x00c, "size_step", "From frame to frame"),
      0,
      "bytes",
      UInt(16 bits),
      "not 0 unless first is last"
    )
    plan.interval := page.rw(
      page.reg(0x010, "interval", "Least cycles of the MAC from the beginning of a frame to that of the next"),
      0,
      "value",
      UInt(32 bits),
      "of 2.56 ns at 25 Gb/s, 6.4 ns at 10 Gb/s; a second at most. 0: line rate"
    )
    plan.rate := page.rw(
      page.reg(0x024, "rate", "Rate that frames do not exceed, without FCS, preamble and gap"),
      0,
      "rate",
      UInt(Pacing.rateBits bits),
      "bytes in 2^20 cycles of the MAC, as interval has them; 0: no bound"
    )
    plan.burst := page.rw(
      page.reg(0x028, "burst", "What the rate may catch up with"),
      0,
      "bytes",
      UInt(16 bits),
      "bytes that the credit grows to at most while no frame can begin"
    )
    plan.frames := page.rw(
      page.reg(0x014, "frames", "Frames that end the test"),
      0,
      "value",
      UInt(32 bits),
      "0: only a stop does"
    )
    val run = page.reg(0x018, "run", "What frames belong to the test, and how long they are waited for")
    plan.label := page.rw(
      run,
      0,
      "label",
      Bits(16 bits),
      "frames carry it, and the checker takes those that carry it: another one for each test, the same at both ends of a cable"
    )
    s.patience := page.rw(
      run,
      16,
      "patience",
      UInt(16 bits),
      "us that the checker goes on behind the end of the generator",
      100
    )
    private val address = "Destination address of the frames"
    plan.destination := page
      .rw(
        page.reg(0x020, "destination_high", s"$address, last two bytes on the wire"),
        0,
        "address",
        Bits(16 bits),
        "fifth byte on the wire in 7:0"
      ) ##
      page.rw(
        page.reg(0x01c, "destination_low", s"$address, first four bytes on the wire"),
        0,
        "address",
        Bits(32 bits),
        "first byte on the wire in 7:0; the source is 02-4D-52-44-4E and the number of the port"
      )
  }

  val state = new Area {
    val status = page.reg(0x040, "status", "What the test does, and why not")
    page.show(
      status,
      0,
      "state",
      port.state.asBits,
      "what the test does: see PORT_TEST_STATE; 5: the checker is armed, and the generator begins after the delay"
    )
    page.show(status, 8, "refusal", port.refusal.asBits, "why the last start was refused: see PORT_TEST_REFUSAL")
    page.show(status, 16, "end", port.end.asBits, "what ended the last test that had begun: see PORT_TEST_END")
    page.word(
      0x044,
      "cut",
      port.cut.asBits,
      "frames that the last test was to send and did not; 0 while it is under way, and if it had no number of frames"
    )
    page.word(
      0x048,
      "latency_least",
      port.least.resize(32).asBits,
      "ns, least of the frames that are timed; 0 without one"
    )
    page.word(0x04c, "latency_most", port.most.resize(32).asBits, "ns, largest of the frames that are timed")
  }

  val counters = new Area {
    val window = page.counters(PortTestRegs.counters, 8 * PortJudge.entries, PortTestRegs.names)
    val command = io.bus.cmd
    port.question.valid := command.valid
    port.question.payload := (command.address - PortTestRegs.counters)(3, PortJudge.indexBits bits)
    val highs = Vec.fill(CounterReader.count)(Reg(Bits(32 bits)) init 0)
    val high = highs(CounterReader.of(command.payload))
    when(window.hitDoRead && !command.address(2))(high := port.answer(63 downto 32).asBits)
    window.bus.rdat := RegNext(command.address(2) ? high | port.answer(31 downto 0).asBits)
  }
}
