// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.bus._
import meridian.pacing.Pacing
import meridian.page.{CounterName, PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType._

object SelfTestRegs {
  val place = PagePlace(
    "SELF_TEST",
    0x117000,
    RegView.pf,
    "Packet generator, checker and latency counters at the host streams; in a build that has the capability"
  )

  /** Where its counters are. */
  val counters = 0x048
  val counterBytes = 0x0b8
  val names: Seq[CounterName] =
    FrameGenerator.counts.zipWithIndex.map { case ((name, doc), i) =>
      CounterName(counters + 8 * i, s"sent_$name", s"since the last test began: $doc")
    } ++ FrameChecker.counts.zipWithIndex.map { case ((name, doc), i) =>
      CounterName(0x080 + 8 * i, s"checked_$name", s"since the last test began: $doc")
    }

  /** Where the QDMA performance design has its latency counters (Xilinx AR 71453). */
  val latency = 0x100
  val histogram = 0x200
}

/** Registers of the self-test (host clock). Settings are taken over by a start; writes during a test are for the next.
  *
  * Latency: 2 cycles a register access.
  */
class SelfTestRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val port = master(SelfTestPort(p))
  }
  val page = new RegPage(SelfTestRegs.place)
  val port = io.port
  // A command stands for a cycle before it is done, in which the counter it may be for is chosen.
  val ready = RegInit(False)
  ready := io.bus.cmd.valid && !ready
  page.attach(io.bus, ready = ready)

  val commands = new Area {
    val command = page.reg(0x000, "command", "What is to be done; the lowest bit that is set counts")
    for (
      (name, i, doc) <- Seq(
        (
          "start",
          0,
          "start a test with the settings; status tells whether it was refused. The check of the last ends in any case"
        ),
        ("stop", 1, "no further frame is sent; the checker goes on for those under way"),
        ("off", 2, "the checker looks at no further frame, and takes none")
      )
    ) page.show(command, i, name, False, doc, W1P)
    val written = RegNext(page.bus.wdat(2 downto 0).andMask(command.hitDoWrite)) init 0
    port.by := RegNext(io.bus.cmd.function)
    port.start := written(0)
    port.stop := written(1 downto 0) === B"10"
    port.off := written === B"100"
  }

  val settings = new Area {
    val s = port.settings
    val mode = page.reg(0x004, "mode", "What the next test does")
    s.generate := page.rw(mode, 0, "generate", Bool(), "send frames to the queues")
    s.check := page.rw(mode, 1, "check", Bool(), "check the frames that the host sends by the queues")
    s.take := page.rw(
      mode,
      2,
      "take",
      Bool(),
      "these frames go no further than the checker, until off or the beginning of the next test"
    )
    s.force := page.rw(mode, 3, "force", Bool(), "start although function or port carry traffic")
    s.function := page.rw(
      page.reg(0x008, "function", "The function: the PF that starts the test, or a VF of its own"),
      0,
      "function",
      UInt(8 bits),
      "its number"
    )
    val queues = page.reg(0x00c, "queues", "Queues of the function, counted over all functions")
    s.first := page.rw(queues, 0, "first", UInt(11 bits), "the first")
    s.count := page.rw(queues, 16, "count", UInt(12 bits), "how many take turns")
    val size = page.reg(0x010, "size", "Sizes of frames; bytes without FCS")
    s.sizeFirst := page.rw(size, 0, "first", UInt(16 bits), "of the first frame, and of the one behind the last size")
    s.sizeLast := page.rw(size, 16, "last", UInt(16 bits), "that no frame exceeds; first, for frames of one size")
    s.sizeStep := page.rw(
      page.reg(0x014, "size_step", "From frame to frame"),
      0,
      "bytes",
      UInt(16 bits),
      "not 0 unless first is last"
    )
    s.interval := page.rw(
      page.reg(0x018, "interval", "Least cycles from the beginning of a frame to that of the next"),
      0,
      "value",
      UInt(32 bits),
      "0: no bound"
    )
    val rate = page.reg(0x01c, "rate", "Rate that frames do not exceed")
    s.rate := page.rw(rate, 0, "rate", UInt(Pacing.rateBits bits), "bytes in 2^20 cycles of 4 ns; 0: no bound")
    s.burst := page.rw(
      page.reg(0x020, "burst", "What the rate may catch up with"),
      0,
      "bytes",
      UInt(16 bits),
      "bytes that the credit grows to at most while no frame can begin"
    )
    s.frames := page.rw(
      page.reg(0x024, "frames", "Frames that end the test"),
      0,
      "value",
      UInt(32 bits),
      "0: only a stop does"
    )
    for ((to, at, name) <- Seq((s.destination, 0x028, "destination"), (s.source, 0x030, "source"))) {
      val low = page.rw(
        page.reg(at, s"${name}_low", s"$name address of the frames, first four bytes on the wire"),
        0,
        "address",
        Bits(32 bits),
        "first byte on the wire in 7:0"
      )
      val high = page.rw(
        page.reg(at + 4, s"${name}_high", s"$name address of the frames, last two bytes on the wire"),
        0,
        "address",
        Bits(16 bits),
        "fifth byte on the wire in 7:0"
      )
      to := high ## low
    }
  }

  val state = new Area {
    val status = page.reg(0x040, "status", "What the test does, and why not")
    page.show(status, 0, "state", port.state.asBits, "0 idle, 1 starting, 2 running, 3 ending")
    page.show(status, 4, "checks", port.checks, "frames from the host are checked")
    page.show(status, 5, "takes", port.takes, "frames from the host go no further than the checker")
    page.show(status, 8, "refusal", port.refusal.asBits, "why the last start was refused: see SELF_TEST_REFUSAL")
    page.show(
      status,
      12,
      "window",
      port.shown,
      "number of the latency window shown: if it is the same before and after, the results read are of one window"
    )
    page.show(status, 16, "end", port.end.asBits, "what ended the last test that had begun: see SELF_TEST_END")
    page.show(status, 24, "run", port.number, "number of the last test that had begun, which its frames carry")
  }

  val counters = new Area {
    import SelfTestRegs.{counterBytes, names, counters => base}
    val window = page.counters(base, counterBytes, names)
    val command = io.bus.cmd
    val values = names.map(name => (name.offset >> 3).toInt).zip(port.sent ++ port.checked).toMap
    val places = Vec((0 until 32).map(i => values.getOrElse(i, U(0, 64 bits))))
    val chosen = RegNext(places(command.address(7 downto 3)))
    val highs = Vec.fill(p.pfs)(Reg(Bits(32 bits)) init 0)
    val high = highs(command.function.resized)
    when(window.hitDoRead && !command.address(2))(high := chosen(63 downto 32).asBits)
    window.bus.rdat := RegNext(command.address(2) ? high | chosen(31 downto 0).asBits)
  }

  val latency = new Area {
    val at = SelfTestRegs.latency
    val window = "Cycles of a measurement window"
    port.window := (page.rw(
      page.reg(at + 4, "window_high", s"$window, high word"),
      0,
      "value",
      Bits(32 bits),
      "a new length holds from the next window on; write both words while control.reset is 1"
    ) ##
      page.rw(
        page.reg(at, "window_low", s"$window, low word"),
        0,
        "value",
        Bits(32 bits),
        "0 in both words: nothing is measured, and a start is refused",
        LatencyWindow.defaultCycles
      )).asUInt
    val control = page.reg(at + 8, "control", "Measurement of latency, from the generator to the checker")
    port.restart := page.rw(control, 0, "reset", Bool(), "1: results are 0, and nothing is measured")
    port.continuous := page.rw(control, 1, "mode", Bool(), "1: windows follow each other. 0: nothing is measured")
    val result = port.latency
    val words = Seq(
      ("max", result.max, "Largest latency of a good frame in the window shown, in cycles"),
      ("min", result.min, "Least latency of a good frame in the window shown, in cycles; 0 without a frame"),
      ("sum", result.sum, "Sum of the latencies of good frames in the window shown, in cycles"),
      ("frames", result.frames, "Good frames in the window shown")
    ).zipWithIndex.flatMap { case ((name, value, doc), i) =>
      for (high <- 0 to 1) yield {
        val half = if (high == 1) "high" else "low"
        val word = page.reg(at + 0xc + 8 * i + 4 * high, s"latency_${name}_$half", s"$doc; $half word")
        val note = "the next window is shown once all eight words have been read: read the histogram before"
        page.show(word, 0, "value", value(32 * high, 32 bits).asBits, note)
        word
      }
    }
    port.read := Vec(words.map(_.hitDoRead)).asBits
    val histogram = page.memory(
      SelfTestRegs.histogram,
      "histogram",
      4 * LatencyHistogram.bins,
      "Good frames of the window shown, by latency in cycles: word i below 4 for a latency of i; with n the place of the latency's highest bit, from 2 on, word 4 * (n - 1) and the two bits behind it; word 63 for all from 114688 on"
    )
    port.index := page.bus.addr(7 downto 2)
    histogram.bus.rdat := RegNext(port.count).asBits
  }
}
