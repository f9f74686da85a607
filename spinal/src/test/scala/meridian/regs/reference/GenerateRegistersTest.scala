// SPDX-License-Identifier: Apache-2.0
package meridian.regs.reference

import org.scalatest.funsuite.AnyFunSuite

import java.nio.file.{Files, Paths}
import scala.sys.process._

/** The committed header and reference are those of the map, and C takes the header. */
class GenerateRegistersTest extends AnyFunSuite {
  lazy val files = GenerateRegisters.files()

  test("the committed files are not stale") {
    assert(GenerateRegisters.stale(Paths.get(".."), files).isEmpty, "run meridian.regs.reference.GenerateRegisters")
  }

  test("a file that was touched, or is not there, is stale") {
    val root = Files.createTempDirectory("registers")
    assert(GenerateRegisters.stale(root, files) == files.map(_._1))
    for ((name, text) <- files) {
      Files.createDirectories(root.resolve(name).getParent)
      Files.writeString(root.resolve(name), text)
    }
    assert(GenerateRegisters.stale(root, files).isEmpty)
    Files.writeString(root.resolve(files.head._1), files.head._2 + " ")
    assert(GenerateRegisters.stale(root, files) == Seq(files.head._1))
  }

  test("the header compiles without a warning, and says what the hardware is asked in the tests") {
    val facts = Seq(
      "MERIDIAN_PORT_BASE(1) + MERIDIAN_PORT_HOST_ENABLE" -> 0x103004,
      "MERIDIAN_PORT_PS_BASE(0) + MERIDIAN_PORT_PS_ADDRESS_HIGH(3)" -> 0x215c,
      "MERIDIAN_PORT_PS_ADDRESS_HIGH_VALID_SHIFT" -> 31,
      "MERIDIAN_FUNCTION_BASE(5) + MERIDIAN_FUNCTION_INDIRECTION(127)" -> (0x205400 + 4 * 127),
      "MERIDIAN_OPENNIC_FUNCTION_BASE(1) + MERIDIAN_OPENNIC_FUNCTION_HASH_KEY(9)" -> 0x2624,
      "MERIDIAN_FUNCTION_COUNTER_TX_SENT" -> 0x880,
      "MERIDIAN_CMAC_BASE(1) + MERIDIAN_CMAC_TICK" -> 0xc2b0,
      "MERIDIAN_CMAC_COUNTER_RX_FRAMES" -> 0x608,
      "MERIDIAN_FILTER_MAC_STATUS_RESULT_MASK" -> 0x30,
      "MERIDIAN_TX_VERDICT_SPOOF" -> 3,
      "MERIDIAN_QUEUE_BASE + MERIDIAN_QUEUE_SWITCHES(2047)" -> 0x121ffc,
      "MERIDIAN_QUEUE_SWITCHES_COMPLETION16_MASK" -> 1,
      "MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_MASK" -> 2,
      "MERIDIAN_FUNCTION_VLAN_INSERT_MASK" -> 0x10000,
      "MERIDIAN_H2C_REQUEST_L4_CHECKSUM_MASK" -> 0x40000,
      "MERIDIAN_COMPLETION_HASH_WORD" -> 2,
      "MERIDIAN_COMPLETION_HASH_TYPE_MASK" -> 0xf0000,
      "MERIDIAN_HASH_TYPE_IPV4_UDP" -> 3,
      "MERIDIAN_COMPLETION_L4_KIND_SHIFT" -> 25,
      "MERIDIAN_CHECKSUM_BAD" -> 2,
      "MERIDIAN_L4_KIND_UDP" -> 2,
      "MERIDIAN_SELF_TEST_BASE + MERIDIAN_SELF_TEST_WINDOW_LOW" -> 0x117100,
      "MERIDIAN_SELF_TEST_CONTROL" -> 0x108,
      "MERIDIAN_SELF_TEST_LATENCY_MAX_LOW" -> 0x10c,
      "MERIDIAN_SELF_TEST_LATENCY_MIN_LOW" -> 0x114,
      "MERIDIAN_SELF_TEST_LATENCY_SUM_HIGH" -> 0x120,
      "MERIDIAN_SELF_TEST_LATENCY_FRAMES_HIGH" -> 0x128,
      "MERIDIAN_SELF_TEST_HISTOGRAM(63)" -> 0x2fc,
      "MERIDIAN_SELF_TEST_REFUSAL_TRAFFIC" -> 10,
      "MERIDIAN_TRANSCEIVER_BASE(1) + MERIDIAN_TRANSCEIVER_DRP_STATUS" -> 0x107414,
      "MERIDIAN_TRANSCEIVER_REFUSAL_TRAFFIC" -> 4,
      "MERIDIAN_DRP_RESULT_TIMEOUT" -> 2,
      "MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_SHIFT" -> 19
    )
    val source = Files.createTempFile("registers", ".c")
    Files.writeString(
      source,
      "#include \"meridian_regs.h\"\n" + facts.map { case (c, v) => s"_Static_assert(($c) == $v, \"$c\");\n" }.mkString
    )
    val include = Files.createTempDirectory("registers")
    Files.writeString(include.resolve("meridian_regs.h"), files.head._2)
    assert(
      Seq(
        "gcc",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-fsyntax-only",
        s"-I$include",
        source.toString
      ).! == 0
    )
    val names = "#define ([A-Z0-9_]+)".r.findAllMatchIn(files.head._2).map(_.group(1)).toSeq
    assert(names.distinct.size == names.size, names.diff(names.distinct))
  }
}
