// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.{BoxPins, LongTest, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._

import java.nio.file.{Files, Paths}

/** The ends of the parameter space elaborate: widths that only just hold a size, and sizes that fill a width. */
class ShellElaborationTest extends AnyFunSuite {
  private def elaborate(param: ShellParam): SpinalReport[Shell] =
    SpinalConfig(targetDirectory = "tmp", netlistFileName = "ShellElaboration.v").generateVerilog(new Shell(param))

  /** Packages of all components. */
  private def packages(shell: Shell): Set[String] = {
    var found = Set.empty[String]
    shell.walkComponents(component => found += component.getClass.getPackageName)
    found
  }
  private def has(shell: Shell, option: String): Boolean =
    packages(shell).exists(name => s"$name.".startsWith(s"meridian.$option."))

  test("the smallest shell has no trace of a user's module, a self-test or egress queues") {
    val report = elaborate(
      ShellParam(
        functions = 4,
        queues = 16,
        macEntries = 16,
        groups = 2,
        psAddresses = 1,
        rxBufferBytes = 4096,
        txBufferBytes = 4096,
        psBufferBytes = 4096,
        copyBufferBytes = 4096,
        vebBufferBytes = 4096,
        maxFrame = 1518
      )
    )
    val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    assert(!verilog.toLowerCase.contains("box") && report.toplevel.host.box.isEmpty)
    for (trace <- egressTraces ++ poolTraces ++ dmaTraces) assert(!verilog.contains(trace), trace)
    assert(report.toplevel.host.hostBox.isEmpty)
    for (part <- Seq("selftest", "self_test", "porttest", "port_test", "oftest", "frametaker", "testmerge", "macloop"))
      assert(!verilog.toLowerCase.contains(part), part)
    for (option <- Seq("box", "selftest", "transceiver", "egress", "mac.pause", "dma", "host.tunnel"))
      assert(!has(report.toplevel, option), s"a component of $option")
  }

  test("a shell with all options that go together has the components of each", LongTest) {
    val param = ShellParam(functions = 4, queues = 16, selfTest = true, ownDma = true, segmentation = true)
    val shell = elaborate(param.copy(box = Some(BoxPins.whole(param)))).toplevel
    for (option <- Seq("box", "selftest", "transceiver", "dma", "host.tunnel")) assert(has(shell, option), option)
  }

  test("a shell has a user's module at each of two ports, with its clock crossings", LongTest) {
    val sizes = ShellParam(ports = 2, lineRate = 10, hostMhz = 125)
    val shell = elaborate(sizes.copy(box = Some(BoxPins.whole(sizes)))).toplevel
    val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    assert("\\n  user_box box\\d ".r.findAllIn(verilog).size == 2)
    val crossings = Shell.crossings(shell).crossings
    assert(crossings.exists(c => c.kind == "memory" && c.toClock == "axi_aclk" && c.to.contains("hostBuffer")))
    // Synthesis removes a register that is constant, and one that nobody reads: a crossing must name neither.
    val access = crossings.filter(c => (c.from :+ c.to).exists(_.startsWith("boxCrossing/")))
    assert(access.nonEmpty && !access.exists(_.from.exists(_.endsWith("_function"))))
    assert(access.exists(c => c.from.exists(_.endsWith("answer_unmapped")) && c.to.endsWith("boxUnmapped")))
    assert(verilog.contains("module BoxTime") && verilog.contains("sim_skip_host"))
    // A module without the port for the time gets no clock crossing for it.
    val ports = BoxPins.whole(sizes).ports.filterNot(_.name.startsWith("phc_"))
    elaborate(sizes.copy(box = Some(BoxPins.whole(sizes).copy(ports = ports))))
    val without = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    assert(!without.contains("BoxTime") && !without.contains("boxTime") && !without.contains("sim_skip_host"))
  }

  /** Modules, signals and registers that only the option has; the module C2hEgress is of the receive side. */
  private def egressTraces =
    Seq(
      "EgressQueues",
      "EgressAdmission",
      "io_queueFull",
      "txLost",
      "highFirst",
      "pcp",
      "tx_lower_full",
      "Pause",
      "FrameGate",
      "flow_control"
    )

  /** The same of a pool. */
  private def poolTraces = Seq("EgressPool", "CellFifo", "HostPool", "hostCut", "egress_thresholds")

  test("shells with egress queues at the ends of their sizes have the clock crossings of these", LongTest) {
    val small =
      ShellParam(functions = 4, queues = 16, txBufferBytes = 4096, maxFrame = 1518, egress = true, selfTest = true)
    elaborate(small)
    val shell = elaborate(ShellParam(ports = 4, hostBytes = 64, functions = 256, queues = 2048, egress = true)).toplevel
    val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    for (trace <- egressTraces) assert(verilog.contains(trace), trace)
    for (option <- Seq("egress", "mac.pause")) assert(has(shell, option), option)
    val crossings = Shell.crossings(shell).crossings
    for (port <- 0 until 4; queue <- Seq("buffers_0", "buffers_1"))
      assert(
        crossings.exists(c => c.kind == "memory" && c.to.contains(s"port${port}_tx/queues/$queue")),
        s"$port $queue"
      )
    for (port <- 0 until 4) {
      val flow = crossings.filter(_.to.startsWith(s"flow${port}_pause/"))
      assert(flow.exists(c => c.kind == "memory" && c.from.head.contains("crossing/")), s"times of port $port")
      assert(flow.exists(c => c.kind == "held" && c.reason.contains("flow control is off")), s"address of port $port")
    }
    val atHost = small.copy(hostBox = Some(BoxPins.whole(small, atHost = true)))
    for (param <- Seq(small.copy(box = Some(BoxPins.whole(small))), atHost)) {
      val both = intercept[IllegalArgumentException](Together(param))
      assert(both.getMessage.contains("leave one of the two out"))
    }
  }

  test("shells with a pool of cells at the ends of its sizes have its clock crossings", LongTest) {
    val small =
      Together(
        ShellParam(functions = 4, queues = 16, txBufferBytes = 4096, maxFrame = 1518, egress = true, pool = true)
      )
    elaborate(small)
    val large =
      Together(ShellParam(ports = 4, hostBytes = 64, functions = 256, queues = 2048, egress = true, pool = true))
    val shell = elaborate(large).toplevel
    val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    for (trace <- poolTraces ++ Seq("io_queueFull", "Pause", "FrameGate", "flow_control"))
      assert(verilog.contains(trace), trace)
    for (trace <- Seq("EgressQueues", "EgressAdmission", "highFirst", "tx_lower_full"))
      assert(!verilog.contains(trace), trace)
    val crossings = Shell.crossings(shell).crossings
    for (port <- 0 until 4) {
      assert(
        crossings.exists(c => c.kind == "memory" && c.to.contains(s"port${port}_tx/cells/")),
        s"cells of port $port"
      )
      assert(
        crossings.exists(c => c.toClock == "axi_aclk" && c.from.exists(_.contains("held"))),
        s"pauses of port $port"
      )
    }
    for (
      (param, why) <- Seq(
        small.copy(selfTest = true) -> "leave one of the two out",
        small.copy(box = Some(BoxPins.whole(small))) -> "leave one of the two out",
        small.copy(egress = false) -> "set egress",
        large.copy(hostBytes = 32) -> "choose host-bytes 64",
        small.copy(ports = 2, hostMhz = 125) -> "choose host-bytes 64 and host-mhz 250"
      )
    ) {
      val refused = intercept[IllegalArgumentException](Together(param))
      assert(refused.getMessage.contains(why))
    }
  }

  /** The same of the DMA engine of our own, and what a shell at the QDMA IP has instead. */
  private def dmaTraces = Seq("DmaEngine", "m_axis_cq_tdata", "cfg_flr_in_process")
  private def qdmaTraces = Seq("m_axil_", "m_axis_h2c_tdata,", "usr_flr_set,", "tm_dsc_sts_vld,")

  /** A module at the host that reads and writes host memory. */
  private def asking(p: ShellParam) = BoxPins.whole(p, atHost = true, commands = true)

  private def checkDma(param: ShellParam): Unit = {
    val shell = elaborate(Together(param)).toplevel
    val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    for (trace <- dmaTraces) assert(verilog.contains(trace), trace)
    for (trace <- qdmaTraces) assert(!verilog.split("\n\\);").head.contains(trace), trace)
    // All pins of the block are of the clock of the host side.
    val crossings = Shell.crossings(shell).crossings
    assert(crossings.nonEmpty && !crossings.exists(c => (c.from :+ c.to).exists(_.startsWith("dma/"))))
    assert(Seq("m_axis", "s_axis", "cfg_").forall(pins => !crossings.exists(_.from.exists(_.startsWith(pins)))))
  }

  test("shells with the DMA engine of our own, small and with the usual sizes, have its clock crossings", LongTest) {
    checkDma(ShellParam(functions = 4, queues = 16, maxFrame = 1518, ownDma = true, selfTest = true))
    checkDma(ShellParam(ownDma = true))
  }

  test("a shell with the DMA engine of our own, VFs of three PFs and egress queues has its clock crossings") {
    val two = ShellParam(ports = 2, functions = 20, queues = 128, ownDma = true)
    checkDma(two.copy(vfs = Seq(4, 4, 0, 8), egress = true))
    val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    for (trace <- egressTraces) assert(verilog.contains(trace), trace)
    assert(ShellParam(functions = 20, ownDma = true).dmaParam.vfs == Seq(16, 0, 0, 0))
    assert(two.copy(vfs = Seq(4, 4, 0, 8)).dmaParam.vfsOf(3) == (12 until 20))
    for (
      (param, why) <- Seq(
        two.copy(hostBytes = 64) -> "choose hostBytes 32",
        two.copy(hostMhz = 125) -> "hostMhz 250",
        two.copy(vfs = Seq(4, 4)) -> "name those of 4 PFs, 16 together",
        two.copy(vfs = Seq(4, 4, 4, 5)) -> "name those of 4 PFs, 16 together",
        two.copy(ownDma = false, vfs = Seq(16, 0, 0, 0)) -> "choose the DMA engine meridian",
        two.copy(ownDma = false, extendedTags = true) -> "choose the DMA engine meridian",
        two.copy(ownDma = false, memory = true) -> "choose the DMA engine meridian",
        two.copy(ownDma = false, hostBox = Some(asking(two))) -> "choose the DMA engine meridian",
        two.copy(memory = true, hostBox = Some(asking(two))) -> "choose extended tags"
      )
    ) assert(intercept[IllegalArgumentException](Together(param)).getMessage.contains(why), why)
  }

  test("a shell with the DMA engine of our own sends interrupts of users' modules, and has its clock crossings") {
    val two = ShellParam(ports = 2, functions = 20, queues = 128, ownDma = true, segmentation = true)
    checkDma(two.copy(box = Some(BoxPins.whole(two)), hostBox = Some(BoxPins.whole(two, atHost = true))))
    val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    assert(verilog.contains("module UserInterruptPort") && !verilog.contains("module CommandEngine"))
    checkDma(two.copy(hostBox = Some(asking(two))))
    val asked = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    assert(asked.contains("module CommandEngine") && asked.contains(".m_axis_dma_read_tuser_address"))
    checkDma(two)
    val plain = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    assert(!plain.contains("UserInterruptPort") && !plain.contains("CommandQueues"))
  }

  /** Blocks on the way of a received frame to a module at the host, and what the buffer of its port has. */
  private val stampTraces = Seq("VebSwitch", "RxFilter", "RxSplit", "Replicator", "VlanStrip", "HostGuard")
  private val kept = "hostBuffer_io_pop_payload_fragment_meta_stamp"
  private def ofModule(verilog: String, name: String): String =
    s"(?s)\nmodule $name \\(.*?\nendmodule".r.findFirstIn(verilog).getOrElse(fail(s"there is no module $name"))

  test("a shell has a user's module at the host, alone, and beside those at the wire", LongTest) {
    val sizes = ShellParam(ports = 2, functions = 33, queues = 64, selfTest = true)
    val alone = sizes.copy(hostBox = Some(BoxPins.whole(sizes, atHost = true)))
    for (param <- Seq(alone, alone.copy(box = Some(BoxPins.whole(sizes))))) {
      elaborate(param)
      val verilog = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
      assert("\\n  host_box boxAtHost ".r.findAllIn(verilog).size == 1)
      assert("\\n  user_box box\\d ".r.findAllIn(verilog).size == (if (param.box.isEmpty) 0 else 2))
      for (block <- stampTraces) assert(ofModule(verilog, block).contains("stamp"), block)
      assert(verilog.contains(kept))
    }
    // A module at the host without the ports for the time of arrival costs no memory for it, on no way to it.
    val untimed = BoxPins.whole(sizes, atHost = true)
    val ports = untimed.ports.filterNot(_.name.startsWith("s_axis_rx_tuser_time"))
    elaborate(alone.copy(hostBox = Some(untimed.copy(ports = ports))))
    val without = Files.readString(Paths.get("tmp", "ShellElaboration.v"))
    for (block <- stampTraces) assert(!ofModule(without, block).contains("stamp"), block)
    assert(!without.contains(kept))
  }

  test("a shell of the largest sizes is elaborated") {
    elaborate(
      ShellParam(
        ports = 4,
        hostBytes = 64,
        functions = 256,
        queues = 2048,
        macEntries = 16384,
        groups = 256,
        psAddresses = 16,
        maxFrame = 16000
      )
    )
  }

  test("a shell of odd sizes is elaborated", LongTest) {
    elaborate(ShellParam(ports = 3, lineRate = 10, functions = 33, queues = 64, maxFrame = 2000))
  }

  test("shells with the self-test at the ends of their sizes have its clock crossings", LongTest) {
    elaborate(ShellParam(functions = 4, queues = 16, maxFrame = 1518, selfTest = true))
    elaborate(
      ShellParam(hostBytes = 64, hostMhz = 125, functions = 256, queues = 2048, maxFrame = 16000, selfTest = true)
    )
    val shell = elaborate(ShellParam(ports = 2, lineRate = 10, selfTest = true)).toplevel
    val crossings = Shell.crossings(shell).crossings
    for (i <- 0 until 2) {
      val held = crossings.filter(c => c.kind == "held" && c.from.forall(_.startsWith(s"ps/portTests_${i}_test/")))
      assert(held.exists(_.to.startsWith(s"port${i}_tx/")) && held.exists(_.to.startsWith(s"port${i}_rx/")))
    }
  }

  test("parameters that cannot be are refused in words") {
    val wrong = Seq(() => ShellParam(ports = 5), () => ShellParam(hostBytes = 16), () => ShellParam(queues = 100))
    for (make <- wrong) assert(intercept[IllegalArgumentException](make()).getMessage.contains("choose"))
  }
}
