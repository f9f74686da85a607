// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.BoxModule
import org.scalatest.funsuite.AnyFunSuite

import java.io.File
import java.nio.file.Files

/** What files of boxes leave to one another when a compiler is given all of them. */
class BoxFolderTest extends AnyFunSuite with BoxFiles {
  private def bits(module: BoxModule, port: String): Int = module.ports.find(_.name == port).get.width
  private def text(file: File): String = Files.readString(file.toPath)

  private val left = "`define WIDTH 4\nmodule left(input [`WIDTH-1:0] a);\nendmodule\n"
  private val right = "`ifndef WIDTH\n`define WIDTH 8\n`endif\nmodule right(input [`WIDTH-1:0] a);\nendmodule"

  test("a macro of one box ends with it, if it would change the other") {
    val files = written(read(file("left.v", left)), read(file("right.v", right)))
    assert(bits(together(files, "left"), "a") == 4 && bits(together(files, "right"), "a") == 8)
    assert(text(files("00_left.v")).endsWith("\n`undef WIDTH\n") && text(files("01_right.v")) == right)
  }

  test("a macro that only synthesis defines ends with its box, too") {
    val fast = "`ifdef SYNTHESIS\n`define FAST\n`endif\nmodule left(input a);\nendmodule"
    val ifFast = "module right(\n`ifdef FAST\n  input b,\n`endif\n  input a);\nendmodule\n"
    val files = written(read(file("left.v", fast)), read(file("right.v", ifFast)))
    assert(text(files("00_left.v")).endsWith("\n`undef FAST\n"))
  }

  test("macros that change nothing stay, and so does each file") {
    val other = right.replace("`ifndef WIDTH\n", "").replace("`endif\n", "")
    val files = written(read(file("left.v", left)), read(file("right.v", other)))
    assert(text(files("00_left.v")) == left && bits(together(files, "right"), "a") == 8)
  }

  test("macros go on within a box, and a header of both boxes is read once by its guard") {
    val names = file("names.v", "`define WIDTH 4\n")
    val header = file("fifo.vh", "`ifndef FIFO_VH\n`define FIFO_VH\nmodule fifo(input c);\nendmodule\n`endif\n")
    val include = "`include \"fifo.vh\"\n"
    val user = file("left.v", include + left.replace("`define WIDTH 4\n", ""))
    val ours = BoxReader.read(Seq(header, names, user), Some("left"), 32)
    assert(bits(ours, "a") == 4)
    val files = written(ours, read(header, file("right.v", include + right)))
    val its = together(files, "right")
    assert(bits(its, "a") == 8 && its.modules.keySet == Set("left", "right", "fifo"))
    assert(!files.values.exists(text(_).contains("`undef FIFO_VH")))
  }

  test("names behind the ends of modules, and statements outside of them, are no clash") {
    def sv(name: String) =
      read(file(s"$name.sv", s"typedef logic ${name}_t;\nmodule $name(input ${name}_t a);\nendmodule : $name"))
    assert(written(sv("left"), sv("right")).size == 2)
  }

  test("a file of both boxes that macros make another module in each is refused") {
    val shared = file("shared.v", "module shared(input [`WIDTH-1:0] a);\nendmodule\n")
    def user(name: String, width: Int) = BoxReader.read(
      Seq(
        apart("names.v", s"`define WIDTH $width\n"),
        shared,
        file(s"$name.v", s"module $name(input a);\nendmodule\n")
      ),
      Some(name),
      32
    )
    val told = refused(written(user("left", 4), user("right", 8)))
    assert(told.contains("the boxes left and right change one another"), told)
    assert(written(user("left", 4), user("right", 4)).size == 4)
  }

  test("a module of a header without a guard that both boxes read is refused") {
    val header = file("open.vh", "module open(input c);\nendmodule\n")
    def user(name: String) =
      read(header, file(s"$name.v", s"`include \"open.vh\"\nmodule $name(input a);\nendmodule\n"))
    assert(refused(written(user("left"), user("right"))).contains("change one another"))
  }

  test("directives that a file leaves on end with it, as Vivado goes on with them and Verilator does not") {
    val strict =
      "`default_nettype none\n`celldefine\n`begin_keywords \"1364-2005\"\nmodule strict(input wire a);\nendmodule"
    val files = written(read(file("strict.v", strict)))
    val copy = text(files("00_strict.v"))
    assert(copy.startsWith(strict) && copy.endsWith("`endcelldefine\n`default_nettype wire\n"), copy)
    assert(copy.contains("\n`end_keywords\n"))
    val ended = "`default_nettype none\nmodule ended(input wire a);\nendmodule\n`default_nettype wire\n"
    assert(text(written(read(file("ended.v", ended)))("00_ended.v")) == ended)
    val reset = ended.replace("default_nettype wire", "resetall")
    assert(text(written(read(file("ended.v", reset)))("00_ended.v")) == reset)
  }

  test("a directive in a header ends with the file that reads it") {
    val header = file("strict.vh", "`default_nettype none\n")
    val files = written(read(header, file("user.v", "`include \"strict.vh\"\nmodule user(input wire a);\nendmodule\n")))
    assert(text(files("strict.vh")) == text(header) && text(files("00_user.v")).endsWith("`default_nettype wire\n"))
  }

  test("names of what a board has around the shell are refused") {
    for (name <- Seq("reset_sync", "IBUFDS_GTE4")) {
      val mine = file("mine.v", s"module mine(input a);\nendmodule\nmodule $name(input a);\nendmodule\n")
      assert(refused(written(read(mine))).contains(s"the box mine declares $name, which the build of a board has"))
    }
  }

  test("without boxes there is no folder, and none is left of those before") {
    val output = Files.createTempDirectory("output").toFile
    val folder = new File(output, "box")
    BoxFolder.write(Seq(read(file("left.v", left))), output)
    assert(folder.list.toSeq == Seq("00_left.v"))
    BoxFolder.write(Nil, output)
    assert(!folder.exists && output.exists)
  }
}
