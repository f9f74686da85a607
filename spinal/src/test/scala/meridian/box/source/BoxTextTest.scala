// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.BoxPort
import org.scalatest.funsuite.AnyFunSuite

/** What the sources of a box declare, however odd they are written. */
class BoxTextTest extends AnyFunSuite with BoxFiles {
  private def units(name: String, text: String): Set[String] = {
    val source = file(name, text)
    BoxText.read(Seq(source), folder).units.map(_.name).toSet
  }

  test("escaped names are names, and hide neither words nor quotes") {
    val text = """module \fifo+1 (input a);
      |  wire \module ; wire \a"b ; wire \endmodule ;
      |endmodule
      |module \plain (input a); endmodule
      |module top(input a);
      |  \fifo+1 one(a);
      |  \module two(a);
      |endmodule
      |""".stripMargin
    assert(units("escaped.v", text) == Set("fifo+1", "plain", "top"))
  }

  test("what only looks like a declaration is none") {
    val text = """`celldefine
      |(* keep = "module attribute(" *) module top /* module comment( */ (input a); // module line(
      |  localparam string said = "\"module text(";
      |endmodule : top
      |`endcelldefine
      |extern module elsewhere(input a);
      |package automatic things; typedef int count; endpackage
      |interface class duck; pure virtual function void quack(); endclass
      |interface bus; logic a; modport user(input a); endinterface
      |module static user(interface port, bus.user other); virtual interface bus held; endmodule
      |macromodule old(input a); endmodule
      |primitive gate(output q, input a); table 0:1; 1:0; endtable endprimitive
      |program test; endprogram
      |module outer; module inner; endmodule inner one(); endmodule
      |""".stripMargin
    assert(units("odd.sv", text) == Set("top", "things", "bus", "user", "old", "gate", "test", "outer"))
  }

  test("a string of any length is read") {
    assert(units("long.sv", s"module long; localparam string s = \"${"\\\\x" * 50000}\"; endmodule") == Set("long"))
  }

  test("two boxes may not have one escaped name in files of their own") {
    def box(name: String) =
      read(
        file(s"$name.v", s"module $name(input a);\nendmodule\nmodule \\f+1 (input [${name.length}:0] b);\nendmodule\n")
      )
    assert(refused(written(box("left"), box("right"))).contains("the boxes left and right both declare f+1"))
  }

  test("attributes, comments, conditions and types of a header are read") {
    val text = """`define WIDE
      |module odd #(parameter type kind = logic [7:0], parameter int DATA_BITS = 8) (
      |  (* mark_debug = "true" *) input wire clk, // input wire no,
      |  /* output no, */
      |`ifdef WIDE
      |  input kind [1:0] wide,
      |`else
      |  input wire [2:0] narrow,
      |`endif
      |  input struct packed {logic a; logic [3:0] b;} pair,
      |  output enum logic [1:0] {IDLE, BUSY} state,
      |  input wire \rst
      |);
      |endmodule
      |""".stripMargin
    assert(
      read(file("odd.sv", text)).ports == Seq(
        BoxPort("clk", input = true, 1),
        BoxPort("wide", input = true, 16),
        BoxPort("pair", input = true, 5),
        BoxPort("state", input = false, 2),
        BoxPort("rst", input = true, 1)
      )
    )
  }

  test("a port that the shell cannot connect is refused with its name") {
    def told(port: String) = refused(read(file("odd.sv", s"module odd(input clk, $port);\nendmodule\n")))
    assert(told("output \\led[0] ") == "the port led[0] of odd has a name that needs a backslash: give it a plain one")
    assert(told("inout pad").contains("the port pad of odd is an inout"))
    assert(told("output real level").contains("the port level of odd has a type that is no vector of bits"))
    assert(told("output logic a[2]").contains("the port a of odd has a type"))
    assert(told("input string \\a ").contains("the port a of odd has a type"))
  }

  test("a module with an escaped name is refused") {
    val odd = file("odd.v", "module \\odd+1 (input a);\nendmodule\n")
    assert(refused(BoxReader.read(Seq(odd), Some("odd+1"), 32)).contains("odd+1"))
  }

  test("a file .v is Verilog of 2005, as Vivado reads it, and .sv is SystemVerilog") {
    val old = "module old(input do, input logic);\nendmodule\n"
    assert(read(file("old.v", old)).ports.map(_.name) == Seq("do", "logic"))
    assert(refused(read(file("old.sv", old))).contains("Verilator does not read"))
    val later = "module later(input logic a);\n  always_comb begin end\nendmodule\n"
    assert(read(file("later.sv", later)).ports.size == 1)
    assert(refused(read(file("later.v", later))).contains("Verilator does not read"))
  }

  test("a macro may be defined again") {
    assert(
      read(
        file("again.v", "`define A 1\n`define A 2\nmodule again(input [`A:0] a);\nendmodule\n")
      ).ports.head.width == 3
    )
  }

  test("a string that is no text is told") {
    val bad = file("bad.sv", "module bad #(parameter string S = \"a\\001\")(input a);\nendmodule\n")
    assert(refused(read(bad)).contains("a string or a name in it has a character that is no plain text"))
  }

  test("an identifier that is longer than its register is told") {
    val wide = file("wide.v", "module wide(input a);\n  localparam [39:0] BOX_ID = 40'h1234567890;\nendmodule\n")
    assert(refused(read(wide)) == "BOX_ID of wide is 1234567890 (hexadecimal): its register has 32 bits")
  }

  test("extended names of VHDL, and entities of other libraries, are refused") {
    def entity(name: String, port: String, body: String = "") = file(
      s"$name.vhd",
      s"""library ieee; use ieee.std_logic_1164.all;
         |entity $name is port (clk: in std_logic; $port: out std_logic); end;
         |architecture rtl of $name is begin $body end;
         |""".stripMargin
    )
    assert(refused(read(entity("odd", "\\and\\", "\\and\\ <= clk;"))).contains("has the extended name \\and\\"))
    assert(refused(read(entity("other", "q", "one: entity lib.fifo port map(clk, q);"))).contains("GHDL does not read"))
    val upper = BoxReader.read(Seq(entity("Upper", "Q", "q <= CLK;")), Some("UPPER"), 32)
    assert(upper.name == "UPPER" && upper.modules.keySet == Set("UPPER"))
    assert(refused(BoxReader.read(Seq(entity("own", "q")), Some("own(+"), 32)).contains("GHDL does not synthesise"))
  }
}
