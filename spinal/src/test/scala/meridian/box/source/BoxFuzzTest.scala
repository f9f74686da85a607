// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.{BoxPins, ShellParam}

import org.scalatest.funsuite.AnyFunSuite

import java.io.File
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import scala.util.Random

/** The examples, damaged at random: a box is read, or refused in a sentence, and nothing else happens. The variable
  * BOX_FUZZ_RUNS makes it longer, BOX_FUZZ_SEED begins elsewhere.
  */
class BoxFuzzTest extends AnyFunSuite with BoxFiles {
  private val runs = sys.env.getOrElse("BOX_FUZZ_RUNS", "40").toInt
  private val first = sys.env.getOrElse("BOX_FUZZ_SEED", "1").toInt
  private val examples = Path.of("..", "examples", "boxes")
  private val sources = Seq(
    Seq("packet_counter.v"),
    Seq("udp_echo.sv"),
    Seq("queue_steer.v"),
    Seq("frame_alarm.v"),
    Seq("time_stamp.vhd"),
    Seq("hls/hls_box.v", "hls/dscp_marker.v")
  )
  private val odd = Seq(
    "`define",
    "`undef",
    "`ifdef X",
    "`else",
    "`endif",
    "`include \"none.vh\"",
    "`default_nettype none",
    "`resetall",
    "`begin_keywords \"1364-1995\"",
    "`timescale 1ns/1ps",
    "`celldefine",
    "`line 7 \"else.v\" 1",
    "`",
    "\\",
    "\\esc[0] ",
    "\"",
    "/*",
    "*/",
    "//",
    "(* keep *)",
    "(*",
    "*)",
    "module",
    "endmodule",
    "package",
    "interface",
    "inout",
    "real",
    "[0:0]",
    "[-1:0]",
    "[1<<40:0]",
    "[DATA_BITS]",
    "#(",
    "parameter type DATA_BITS = logic,",
    "generate",
    "include",
    "\u0000",
    "\u00e9",
    "'",
    "64'hx",
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "=",
    "end",
    "begin",
    "entity",
    "generic",
    "port",
    "is",
    "\\ext\\"
  )

  private def damaged(text: String, random: Random): String = {
    val words = text.split("(?<=\\W)|(?=\\W)").toBuffer
    for (_ <- 0 to random.nextInt(4)) {
      val (at, from) = (random.nextInt(words.size), random.nextInt(words.size))
      random.nextInt(7) match {
        case 0 => words.remove(at, (1 + random.nextInt(4)) min (words.size - at))
        case 1 => words.insert(at, s" ${odd(random.nextInt(odd.size))} ")
        case 2 => words.insert(at, s"\n${odd(random.nextInt(odd.size))}\n")
        case 3 => words(at) = words(from)
        case 4 => words(at) = random.nextInt(1 << 20).toString
        case 5 => words.remove(at, if (random.nextInt(4) == 0) words.size - at else 1)
        case 6 => words(at) = words(at).map(c => (c ^ (1 << random.nextInt(8))).toChar)
      }
      if (words.isEmpty) words += ""
    }
    words.mkString
  }

  test("a damaged box is read, or refused in a sentence") {
    val p = ShellParam()
    var (good, bad) = (0, 0)
    for (seed <- first until first + runs) {
      val random = new Random(seed)
      val names = sources(seed % sources.size)
      val which = random.nextInt(names.size)
      val files = for ((name, number) <- names.zipWithIndex) yield {
        val text = Files.readString(examples.resolve(name), ISO_8859_1)
        Files
          .writeString(
            folder.resolve(new File(name).getName),
            if (number == which) damaged(text, random) else text,
            ISO_8859_1
          )
          .toFile
      }
      try {
        val module = BoxReader.read(files, None, 32)
        for (atHost <- Seq(false, true)) BoxPins.misfits(p, module, atHost)
        written(module)
        good += 1
      } catch {
        case error: IllegalArgumentException =>
          bad += 1
          assert(error.getMessage != null && error.getMessage.contains(" "), s"seed $seed")
        case error: Throwable => fail(s"seed $seed: $error", error)
      }
    }
    assert(runs < 20 || good > 0 && bad > 0, s"$good were read, $bad refused")
  }
}
