// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.{BoxModule, BoxPins, ShellParam}
import meridian.box.{HostSpinalBox, SpinalBox}

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.AxiLite4SlaveFactory

import java.io.File
import java.nio.file.Files

/** Changes nothing, and has a register. */
class PassingBox(hostBytes: Int)
    extends SpinalBox(
      hostBytes,
      id = 0x1234,
      version = 5,
      interrupts = true,
      time = true,
      tellsReady = true,
      passesTime = true
    ) {
  io.ready := True
  io.rxOutStamp := io.rxStamp
  io.rxOut << io.rxIn
  io.txOut << io.txIn
  new AxiLite4SlaveFactory(io.axi).read(io.rxInfo.size, 0)
  io.irq := io.phcTime.valid && io.phcTime.time.nanoseconds === 0
}

/** The same at the host, with all that it may ask for. */
class PassingHostBox(hostBytes: Int)
    extends HostSpinalBox(
      hostBytes,
      id = 0x2345,
      version = 6,
      interrupts = true,
      time = true,
      tellsReady = true,
      arrival = true,
      reads = true,
      writes = true
    ) {
  io.rxOut << io.rxIn
  io.txOut << io.txIn
  io.rxOutTarget := io.rxTarget
  io.txOutRequest := io.txRequest
  io.ready := True
  io.irq := io.rxStamp.valid && io.phcTime.valid
  new AxiLite4SlaveFactory(io.axi).read(io.rxInfo.destination ## io.txInfo.destination, 0)
  io.write.valid := io.readBytes.valid
  io.write.data := io.readBytes.data
  io.write.last := io.readBytes.last
  io.write.command := io.read.payload
  io.readBytes.ready := io.write.ready
  io.read.valid := io.written.valid
  io.read.tag := io.written.tag
  io.read.payload.queue := io.txSender.queue
  io.read.address := 0
  io.read.bytes := 64
}

/** Asks for nothing. */
class BareHostBox(hostBytes: Int) extends HostSpinalBox(hostBytes, registers = false) {
  io.rxOut << io.rxIn
  io.txOut << io.txIn
  io.rxOutTarget := io.rxTarget
  io.txOutRequest := io.txRequest
}

/** Needs more than a box is given. */
class GreedyBox(hostBytes: Int, depth: Int) extends SpinalBox(hostBytes, registers = false) {
  io.rxOut << io.rxIn.queue(depth)
  io.txOut << io.txIn
}

/** Is to be extended. */
abstract class OpenBox(hostBytes: Int) extends SpinalBox(hostBytes)

/** Refuses one width, and has a component that the shell has, too. */
class NarrowBox(hostBytes: Int) extends SpinalBox(hostBytes, registers = false) {
  require(hostBytes == 32, "a NarrowBox has beats of 32 bytes")
  io.rxOut << io.rxIn.queue(4)
  io.txOut << io.txIn
}

/** Sources in other languages than plain Verilog become Verilog that fits. */
class BoxTranslationTest extends AnyFunSuite with BoxFiles {
  private val p = ShellParam()

  private val stream =
    for (way <- Seq("rx", "tx"); (end, in, out) <- Seq(("s", "in", "out"), ("m", "out", "in"))) yield {
      def port(name: String, mode: String, kind: String) = s"    ${end}_axis_${way}_$name : $mode $kind"
      Seq(
        port("tvalid", in, "std_logic"),
        port("tready", out, "std_logic"),
        port("tlast", in, "std_logic"),
        port("tdata", in, "std_logic_vector(DATA_BITS - 1 downto 0)"),
        port("tkeep", in, "std_logic_vector(DATA_BITS / 8 - 1 downto 0)")
      )
    }
  private def vhdl(name: String): String =
    s"""library ieee;
       |use ieee.std_logic_1164.all;
       |entity $name is
       |  generic (DATA_BITS : positive := 8);
       |  port (clk, rst : in std_logic;
       |${stream.flatten.mkString(";\n")});
       |end entity;
       |architecture rtl of $name is
       |begin
       |${Seq("rx", "tx")
        .flatMap { way =>
          Seq("tvalid", "tlast", "tdata", "tkeep").map(f => s"  m_axis_${way}_$f <= s_axis_${way}_$f;") :+
            s"  s_axis_${way}_tready <= m_axis_${way}_tready;"
        }
        .mkString("\n")}
       |end architecture;
       |""".stripMargin

  test("an entity of VHDL fits both widths, in either case of its name") {
    for (bytes <- Seq(32, 64)) {
      val module = BoxReader.read(Seq(file("Passing.vhd", vhdl("PASSING"))), None, bytes)
      assert(
        module.name == "Passing" && module.set.isEmpty && BoxPins.misfits(p.copy(hostBytes = bytes), module).isEmpty
      )
    }
  }

  test("VHDL that GHDL refuses is told with its line") {
    val bad = file("bad.vhd", vhdl("bad").replace("end architecture", "  clk <= nothing;\nend architecture"))
    val told = refused(BoxReader.read(Seq(bad), None, 32))
    assert(told.contains("GHDL does not read") && told.contains("bad.vhd:") && told.contains("nothing"))
    assert(refused(BoxReader.read(Seq(file("other.vhd", vhdl("mine"))), None, 32)).contains("the entity other"))
  }

  test("an entity that refuses a width tells its own reason") {
    val only =
      vhdl("only").replace("begin\n", "begin\n  assert DATA_BITS = 256 report \"256 only\" severity failure;\n")
    assert(BoxReader.read(Seq(file("only.vhd", only)), None, 32).name == "only")
    assert(
      refused(BoxReader.read(Seq(file("only.vhd", only)), None, 64)).contains("does not synthesise the entity only")
    )
  }

  test("a class of SpinalHDL fits both widths, and tells its id and version") {
    for (bytes <- Seq(32, 64)) {
      val module = BoxReader.read(Seq(file("PassingBox.scala")), Some("meridian.box.source.PassingBox"), bytes)
      assert(module.name == "PassingBox" && BoxPins.misfits(p.copy(hostBytes = bytes), module).isEmpty)
      assert(
        BoxPins
          .of(p)
          .forall(pin => module.has(pin.name) || pin.name.matches("m_.*_tuser_(dst|size|src)"))
      )
      assert(module.parameters(BoxModule.id) == 0x1234 && module.parameters(BoxModule.version) == 5)
    }
    val bare = BoxReader.read(Seq(file("NarrowBox.scala")), Some("meridian.box.source.NarrowBox"), 32)
    assert(BoxPins.misfits(p, bare).isEmpty && !bare.ports.exists(_.name.matches("(s_axil|irq|phc).*")))
    assert(bare.modules.size == 3 && bare.modules.keys.forall(_.startsWith("NarrowBox")), bare.modules)
  }

  test("a class of SpinalHDL at the host fits both widths, with all ports or with those that it needs") {
    for (bytes <- Seq(32, 64)) {
      val there = p.copy(hostBytes = bytes)
      def read(name: String) = BoxReader.read(Seq(file(s"$name.scala")), Some(s"meridian.box.source.$name"), bytes)
      val module = read("PassingHostBox")
      assert(BoxPins.misfits(there, module, atHost = true).isEmpty)
      val missing = BoxPins.of(there, atHost = true).map(_.name).filterNot(module.has)
      assert(missing.forall(_.matches("m_.*_tuser_(dst|size|src)")), missing)
      assert(module.parameters(BoxModule.id) == 0x2345 && module.parameters(BoxModule.version) == 6)
      assert(
        BoxPins.misfits(there, module).exists(_.startsWith("only a module at the host has s_axis_rx_tuser_function"))
      )
      val bare = read("BareHostBox")
      assert(BoxPins.misfits(there, bare, atHost = true).isEmpty)
      assert(!bare.ports.exists(_.name.matches("s_axil.*|.*dma.*|irq|phc.*|box_.*|.*_time.*")))
      assert(!there.copy(hostBox = Some(bare)).stampsAtHost && there.copy(hostBox = Some(module)).stampsAtHost)
    }
    val atWire = BoxReader.read(Seq(file("PassingBox.scala")), Some("meridian.box.source.PassingBox"), 32)
    assert(
      refused(p.copy(hostBox = Some(atWire))).contains("it has no port m_axis_rx_tuser_function, an output of 8 bits")
    )
  }

  test("a class that is no box is told what it lacks") {
    def read(name: String) = refused(BoxReader.read(Seq(file("X.scala")), Some(s"meridian.box.source.$name"), 64))
    assert(read("Missing").contains("there is no class meridian.box.source.Missing"))
    assert(read("BoxReaderTest").contains("does not extend meridian.box.SpinalBox, or HostSpinalBox"))
    assert(read("GreedyBox").contains("needs one parameter, hostBytes"))
    assert(read("NarrowBox").contains("beats of 32 bytes"))
    assert(read("OpenBox").contains("is abstract"))
  }

  test("headers are found by their names, and copied under them") {
    val header = file("names.vh", "`define PASS 1\n")
    val body = BoxPins.of(p).filter(_.needed).map { pin =>
      s"${if (pin.toBox) "input" else "output"} [${pin.width - 1}:0] ${pin.name}"
    }
    val top =
      file("top.v", s"`include \"names.vh\"\nmodule top (${body.mkString(", ")});\nwire x = `PASS;\nendmodule\n")
    assert(refused(BoxReader.read(Seq(top), None, 32)).contains("names.vh")) // it is beside it, but was not named
    file("more.vh", "`define MORE 1\n")
    val deep = file("deep.v", Files.readString(top.toPath).replace("module top", "`include \"more.vh\"\nmodule deep"))
    assert(refused(BoxReader.read(Seq(header, deep), None, 32)).contains("more.vh")) // beside a header that was named
    val module = BoxReader.read(Seq(header, top), None, 32)
    assert(module.name == "top" && BoxPins.misfits(p, module).isEmpty)
    val output = Files.createTempDirectory("output").toFile
    BoxFolder.write(Seq(module), output)
    assert(new File(output, "box").list.sorted.toSeq == Seq("00_top.v", "names.vh"))
    assert(refused(BoxReader.read(Seq(header), None, 32)).contains("headers only"))
  }

  test("one box is of one language") {
    val files = Seq(file("a.v"), file("b.vhd"))
    assert(refused(BoxReader.read(files, None, 32)).contains("of more than one language"))
  }

  test("the name of the module is that of the first source") {
    def name(files: String*) = BoxTranslation.nameOf(files.map(new File(_)), None)
    assert(name("a/one.v", "two.v") == "one" && name("x.svh", "two.sv") == "two" && name("Three.vhdl") == "Three")
    assert(name("Four.scala") == "Four" && BoxTranslation.nameOf(Seq(new File("a.v")), Some("b")) == "b")
  }
}
