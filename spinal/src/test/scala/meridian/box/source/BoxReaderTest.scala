// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.{BoxModule, BoxPins, BoxSource, ShellParam}

import org.scalatest.funsuite.AnyFunSuite

import java.io.File
import java.nio.file.Files

/** Headers of users' modules, read and compared with what the shell connects. */
class BoxReaderTest extends AnyFunSuite with BoxFiles {
  private val p = ShellParam()

  /** Verilog of a module with all ports, its beats as wide as the parameter says. */
  private def header(name: String, ports: Seq[BoxPins.Pin] = BoxPins.of(p)): String = {
    val lines = ports.map { pin =>
      val range = pin.width match {
        case 1                                => ""
        case w if w == 8 * p.hostBytes        => "[DATA_BITS-1:0] "
        case w if pin.name.endsWith("_tkeep") => "[DATA_BITS/8-1:0] "
        case w                                => s"[${w - 1}:0] "
      }
      s"  ${if (pin.toBox) "input" else "output"} wire $range${pin.name}"
    }
    s"module $name #(parameter DATA_BITS = 64, parameter [31:0] BOX_ID = 32'hC0FFEE00) (\n${lines.mkString(",\n")});\n" +
      "  localparam BOX_VERSION = 3;\nendmodule\n"
  }

  test("a module with all ports fits both widths, and its parameters are read") {
    for (bytes <- Seq(32, 64)) {
      val module = BoxReader.read(Seq(file("mine.v", header("mine"))), None, bytes)
      assert(BoxPins.misfits(p.copy(hostBytes = bytes), module).isEmpty)
      assert(module.set == Set("DATA_BITS") && module.parameters("DATA_BITS") == 8 * bytes)
      assert(module.parameters(BoxModule.id) == BigInt("C0FFEE00", 16) && module.parameters(BoxModule.version) == 3)
    }
  }

  test("optional ports may be missing, and outputs of the module's own may be there") {
    val ports = BoxPins.of(p).filter(pin => pin.needed && !BoxPins.registers.contains(pin)) :+
      BoxPins.Pin("led", toBox = false, 1, needed = false)
    val module = BoxReader.read(Seq(file("least.sv", header("least", ports))), None, p.hostBytes)
    assert(BoxPins.misfits(p, module).isEmpty)
  }

  test("what does not fit is told in sentences with port and width") {
    def misfits(change: BoxPins.Pin => Option[BoxPins.Pin]): Seq[String] = {
      val module =
        BoxReader.read(Seq(file("odd.v", header("odd", BoxPins.of(p).flatMap(change(_))))), None, p.hostBytes)
      val told = BoxPins.misfits(p, module)
      assert(
        told.isEmpty || refused(p.copy(box = Some(module))).contains(s"the module odd does not fit:\n  ${told.head}")
      )
      told
    }
    assert(
      misfits(pin => Option.when(pin.name != "m_axis_tx_tlast")(pin)) ==
        Seq("it has no port m_axis_tx_tlast, an output of 1 bit")
    )
    assert(
      misfits(pin => Some(if (pin.name == "s_axil_wdata") pin.copy(width = 64) else pin)) ==
        Seq("s_axil_wdata has 64 bits: the shell has 32 bits")
    )
    assert(
      misfits(pin => Some(if (pin.name == "irq") pin.copy(toBox = true) else pin)) ==
        Seq("irq is an input: it has to be an output")
    )
    assert(
      misfits(pin => Some(if (pin.name == "phc_time") pin.copy(width = 64) else pin)) ==
        Seq("phc_time has 64 bits: the shell has 80 bits")
    )
    assert(
      misfits(pin => Some(if (pin.name == "irq") pin.copy(name = "go", toBox = true) else pin)) ==
        Seq("nothing drives its input go: the shell knows no such port")
    )
    // Of registers a module has all or nothing.
    assert(
      misfits(pin => Option.when(!pin.name.startsWith("s_axil_r"))(pin)).forall(_.startsWith("it has no port s_axil_r"))
    )
  }

  test("a module of a fixed width is told of the parameter") {
    val fixed = header("fixed").replaceAll("DATA_BITS-1", "511").replaceAll("DATA_BITS/8-1", "63")
    val module = BoxReader.read(Seq(file("fixed.v", fixed)), None, p.hostBytes)
    assert(
      BoxPins.misfits(p, module).head ==
        "s_axis_rx_tdata has 512 bits: the shell has 256 bits; a parameter DATA_BITS fits each width"
    )
  }

  test("delays in the source are read as if they were not there") {
    val text = header("late").replace("endmodule", "  reg late;\n  always @(posedge clk) late <= #1 rst;\nendmodule")
    assert(BoxPins.misfits(p, BoxReader.read(Seq(file("late.v", text)), None, p.hostBytes)).isEmpty)
  }

  test("a module at the host has to say where its frames go, and one at the wire cannot") {
    val host = BoxPins.of(p, atHost = true)
    def read(name: String, ports: Seq[BoxPins.Pin]) =
      BoxReader.read(Seq(file(s"$name.v", header(name, ports))), None, p.hostBytes)
    assert(BoxPins.misfits(p, read("at_host", host), atHost = true).isEmpty)
    val wire = read("at_wire", BoxPins.of(p))
    val told = BoxPins.misfits(p, wire, atHost = true)
    assert(told.contains("it has no port m_axis_rx_tuser_queue, an output of 11 bits"))
    assert(told.contains("only a module at the wire has m_axis_rx_tuser_time, 80 bits: take it out"))
    assert(refused(p.copy(hostBox = Some(wire))).contains("the module at_wire does not fit at the host:"))
    assert(
      BoxPins.misfits(p, read("not_wire", host)).head ==
        "only a module at the host has s_axis_rx_tuser_function, 8 bits: take it out"
    )
    // Of commands on host memory it has those of a direction or none.
    val (reads, writes) = ("_dma_read", "_dma_write|_dma_written")
    def without(names: String) =
      BoxPins.misfits(p, read("some", host.filterNot(_.name.matches(s".*($names).*"))), atHost = true)
    for (names <- Seq(reads, writes, s"$reads|$writes", "_dma_.*_tuser_tag", "_dma_read_tkeep"))
      assert(without(names).isEmpty, names)
    assert(without("m_axis_dma_read").forall(_.startsWith("it has no port m_axis_dma_read_")))
    assert(
      without("s_axis_dma_written_tuser_error") == Seq(
        "it has no port s_axis_dma_written_tuser_error, an input of 1 bit"
      )
    )
    assert(
      BoxPins.misfits(p, read("asks", BoxPins.of(p) ++ BoxPins.reads)).head ==
        "only a module at the host has m_axis_dma_read_tvalid, 1 bit: take it out"
    )
    // At the wire it passes on the whole time of arrival or nothing of it.
    val half = read("half", BoxPins.of(p).filterNot(_.name == "m_axis_rx_tuser_time_valid"))
    assert(BoxPins.misfits(p, half) == Seq("it has no port m_axis_rx_tuser_time_valid, an output of 1 bit"))
    val turned = host.map { pin =>
      if (pin.name == "s_axis_rx_tuser_function") pin.copy(toBox = false)
      else if (pin.name == "m_axis_tx_tuser_request") pin.copy(width = 16)
      else pin
    }
    assert(
      BoxPins.misfits(p, read("turned", turned), atHost = true) == Seq(
        "s_axis_rx_tuser_function is an output: it has to be an input",
        "m_axis_tx_tuser_request has 16 bits: the shell has 32 bits"
      )
    )
  }

  test("two boxes are copied side by side, and may not have modules of one name") {
    val output = Files.createTempDirectory("output").toFile
    val (one, other) = (file("one.v", "one"), file("other.v", "other"))
    def module(file: File, modules: String*) =
      BoxModule(file.getName, BoxSource(Seq(file), Nil), Nil, modules = modules.map(_ -> file).toMap)
    BoxFolder.write(Seq(module(one, "one", "fifo"), module(other, "other")), output)
    assert(output.toPath.resolve("box").toFile.list.sorted.toSeq == Seq("00_one.v", "01_other.v"))
    BoxFolder.write(Seq(module(one, "one"), module(one, "one")), output)
    assert(output.toPath.resolve("box").toFile.list.toSeq == Seq("00_one.v"))
    assert(
      refused(BoxFolder.write(Seq(module(one, "one", "fifo"), module(other, "other", "fifo")), output))
        .contains("both declare fifo: rename it in one of them")
    )
  }

  test("two boxes that share a file may still not have modules of one name in files of their own") {
    def inFolder(name: String, text: String): File =
      Files.writeString(Files.createTempDirectory("own").resolve(name), text).toFile
    val shared = file("shared.v", "module shared(input clk);\nendmodule\n")
    def read(name: String, fifo: File): BoxModule = {
      val text = header(name).replace("endmodule", "  shared one(clk);\n  fifo two(clk);\nendmodule")
      BoxReader.read(Seq(file(s"$name.v", text), shared, fifo), None, p.hostBytes)
    }
    val (here, there) = (
      inFolder("fifo.v", "module fifo(input clk);\nendmodule\n"),
      inFolder("fifo.v", "module fifo(input clk); wire a;\nendmodule\n")
    )
    val output = Files.createTempDirectory("output").toFile
    assert(
      refused(BoxFolder.write(Seq(read("left", here), read("right", there)), output))
        .contains("the boxes left and right both declare fifo: rename it in one of them")
    )
    BoxFolder.write(Seq(read("left", here), read("right", here)), output)
    assert(new File(output, "box").list.sorted.toSeq == Seq("00_left.v", "01_shared.v", "02_fifo.v", "03_right.v"))
  }

  test("two boxes may share a file in copies, an entity of VHDL, and a header with a module") {
    def copied(name: String, text: String): File =
      Files.writeString(Files.createTempDirectory("own").resolve(name), text).toFile
    def boxes(text: String => Seq[File]) =
      Seq("left", "right").map(name => BoxReader.read(text(name), None, p.hostBytes))
    val output = Files.createTempDirectory("output").toFile
    def there: Seq[String] = new File(output, "box").list.sorted.toSeq
    val fifo = "module fifo(input clk);\nendmodule\n"
    def user(name: String): String = header(name).replace("endmodule", "  fifo one(clk);\nendmodule")

    BoxFolder.write(boxes(name => Seq(file(s"$name.v", user(name)), copied("fifo.v", fifo))), output)
    assert(there == Seq("00_left.v", "01_fifo.v", "02_right.v"))

    val guarded = copied("fifo.vh", s"`ifndef FIFO\n`define FIFO\n$fifo`endif\n")
    BoxFolder.write(boxes(name => Seq(file(s"$name.v", "`include \"fifo.vh\"\n" + user(name)), guarded)), output)
    assert(there == Seq("00_left.v", "01_right.v", "fifo.vh"))

    def entity(name: String, body: String): String =
      s"""library ieee; use ieee.std_logic_1164.all;
         |entity $name is port (clk: in std_logic; q: out std_logic); end;
         |architecture rtl of $name is begin $body end;
         |""".stripMargin
    val shared = copied("fifo.vhd", entity("fifo", "q <= clk;"))
    def vhdl(name: String) =
      Seq(shared, file(s"$name.vhd", entity(name, "one: entity work.fifo port map(clk => clk, q => q);")))
    BoxFolder.write(
      Seq("left", "right").map(name => BoxReader.read(vhdl(name), Some(name), p.hostBytes)),
      output
    )
    assert(there == Seq("00_fifo.v", "01_left.v", "02_right.v"))
  }

  test("two boxes may not have packages, interfaces or modules without use of one name in files of their own") {
    val uses = Seq("package" -> "wire [31:0] it = common::owner;", "interface" -> "common it();", "module" -> "")
    for ((kind, use) <- uses) {
      def read(name: String): BoxModule = {
        val text = s"$kind common; localparam [31:0] owner = ${name.length}; end$kind\n"
        val own = Files.writeString(Files.createTempDirectory("own").resolve("common.sv"), text).toFile
        val mine = header(name).replace("endmodule", s"  $use // module other;\nendmodule")
        BoxReader.read(Seq(own, file(s"$name.sv", mine)), Some(name), p.hostBytes)
      }
      val (left, right) = (read("left"), read("right"))
      assert(left.modules.keySet == Set("left", "common"))
      assert(
        refused(BoxFolder.write(Seq(left, right), Files.createTempDirectory("output").toFile))
          .contains("the boxes left and right both declare common: rename it in one of them")
      )
    }
  }

  test("files are copied in the order that they were named, and none of the user's is removed") {
    val output = Files.createTempDirectory("output").toFile
    val old = output.toPath.resolve("box")
    Files.createDirectory(old)
    Files.writeString(old.resolve("00_old.v"), "old")
    val files = Seq(file("z_pkg.sv", "package"), file("a_top.sv", "top"))
    BoxFolder.write(Seq(BoxModule("a_top", BoxSource(files, Nil), Nil)), output)
    assert(old.toFile.list.sorted.toSeq == Seq("00_z_pkg.sv", "01_a_top.sv"))
    assert(Files.readString(old.resolve("01_a_top.sv")) == "top")
    val mine = old.resolve("01_a_top.sv").toFile
    assert(
      refused(BoxFolder.write(Seq(BoxModule("a_top", BoxSource(Seq(mine), Nil), Nil)), output))
        .contains("move your source")
    )
    assert(mine.exists)
    BoxFolder.write(Nil, output)
    assert(!old.toFile.exists, "no empty folder stays")
  }

  test("two files of one name are refused") {
    val one = file("same.v", header("same"))
    val other = Files.writeString(Files.createTempDirectory("other").resolve("same.v"), "").toFile
    assert(refused(BoxReader.read(Seq(one, other), None, p.hostBytes)).contains("have one name, same.v"))
  }

  test("a missing file, a missing module and Verilog with an error are told") {
    assert(refused(BoxReader.read(Seq(new File("none.v")), None, 32)).contains("there is no file none.v"))
    assert(refused(BoxReader.read(Seq(file("x.py", "")), None, 32)).contains("ends in none of .v, .sv"))
    val other = file("other.v", header("mine"))
    assert(refused(BoxReader.read(Seq(other), None, 32)).contains("other.v has no module other"))
    assert(BoxReader.read(Seq(other), Some("mine"), 32).name == "mine")
    assert(
      refused(BoxReader.read(Seq(file("bad.v", "module bad(input clk;")), None, 32)).contains("Verilator does not read")
    )
  }
}
