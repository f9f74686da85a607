// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.{BoxModule, BoxPort, BoxSource}
import java.io.{File, IOException}
import java.nio.file.{Files, Path}
import javax.xml.parsers.DocumentBuilderFactory
import org.w3c.dom.{Element, NodeList}
import org.xml.sax.SAXException

/** Reads the header of a user's module by Verilator, which resolves parameters, types and includes. */
object BoxReader {

  /** The module of a file, or of several: it has the name of the first, or the one given. Raises
    * IllegalArgumentException with a sentence.
    */
  def read(files: Seq[File], module: Option[String], hostBytes: Int): BoxModule = {
    val chosen = BoxTranslation.nameOf(files, module)
    val source = BoxTranslation(files, chosen, hostBytes)
    val name = chosen.split('.').last
    // Only what was named is there later, too.
    val headers = BoxFolder.ofHeaders(source.headers)
    val declared = elaborate(source, headers, name, Map.empty)
    val width = Map(BoxModule.dataBits -> BigInt(8 * hostBytes))
    val fitting =
      if (!declared.set(BoxModule.dataBits)) declared.copy(set = Set.empty)
      else elaborate(source, headers, name, width).copy(set = Set(BoxModule.dataBits))
    require(name.matches(plain), s"the module $name has a name that needs a backslash: give it a plain one")
    val units = BoxText.read(source.verilog, headers).units
    fitting.copy(modules = units.map(unit => unit.name -> unit.file).toMap)
  }

  /** As Verilator sees it; set has the parameters that an instance may set. */
  private def elaborate(source: BoxSource, headers: Path, name: String, set: Map[String, BigInt]): BoxModule = {
    val files = source.verilog
    val xml = Files.createTempFile("box", ".xml")
    try {
      val values = set.map { case (key, value) => s"-G$key=$value" }
      val options = Seq("--xml-only", "--xml-output", xml.toString, "-Wno-lint", "-Wno-style") ++ BoxText.options ++
        Seq("--no-timing") ++ values ++ // synthesis does not see delays, either
        Seq(s"-I$headers", "--top-module", name) ++ files.map(_.getPath)
      try BoxText.verilator(options, files)
      catch {
        case error: IllegalArgumentException
            if error.getMessage.contains(s"Specified --top-module '$name' was not found") =>
          throw new IllegalArgumentException(
            s"${files.map(_.getName).mkString(", ")} has no module $name: rename it, or give its name by --box-module"
          )
      }
      parse(description(xml, files), name, source)
    } finally Files.delete(xml)
  }

  private def description(xml: Path, files: Seq[File]): Element = {
    val builder = DocumentBuilderFactory.newInstance.newDocumentBuilder
    builder.setErrorHandler(null) // it would print what is told here
    try builder.parse(xml.toFile).getDocumentElement
    catch {
      case error @ (_: SAXException | _: IOException) =>
        throw new IllegalArgumentException(
          s"Verilator's description of ${files.mkString(", ")} cannot be read: a string or a name in it has a character " +
            s"that is no plain text (${error.getMessage})"
        )
    }
  }

  private def elements(list: NodeList): Seq[Element] =
    (0 until list.getLength).map(list.item).collect { case element: Element => element }

  private def parse(root: Element, name: String, source: BoxSource): BoxModule = {
    val types = elements(root.getElementsByTagName("typetable")).flatMap(table => elements(table.getChildNodes))
    val byId = types.map(kind => kind.getAttribute("id") -> kind).toMap
    def width(id: String): Int = {
      val kind = byId(id)
      def among(a: Int, b: Int) = (a - b).abs + 1
      kind.getTagName match {
        case "basicdtype" if kind.hasAttribute("left") =>
          among(kind.getAttribute("left").toInt, kind.getAttribute("right").toInt)
        case "basicdtype" => if (noBits(kind.getAttribute("name"))) 0 else 1
        case "packarraydtype" =>
          val ends = elements(kind.getElementsByTagName("const")).map(number)
          among(ends(0).toInt, ends(1).toInt) * width(kind.getAttribute("sub_dtype_id"))
        case "refdtype" | "enumdtype" => width(kind.getAttribute("sub_dtype_id"))
        case "structdtype"            => members(kind).sum
        case "uniondtype"             => members(kind).max
        case _                        => 0
      }
    }
    def members(kind: Element): Seq[Int] =
      elements(kind.getChildNodes)
        .filter(_.getTagName == "memberdtype")
        .map(is => width(is.getAttribute("sub_dtype_id")))
    def number(const: Element): BigInt = const.getAttribute("name") match {
      case literal(base, digits) => BigInt(digits, if (base == "h") 16 else 10)
      case _                     => 0
    }
    val top = elements(root.getElementsByTagName("module")).find(_.getAttribute("topModule") == "1").get
    val variables = elements(top.getChildNodes).filter(_.getTagName == "var")
    val (ports, others) = variables.partition(_.hasAttribute("dir"))
    for (port <- ports) refuseOdd(name, port, width(port.getAttribute("dtype_id")))
    val parameters = others.filter(v => v.hasAttribute("param") || v.hasAttribute("localparam"))
    val values = parameters.flatMap { parameter =>
      val values = elements(parameter.getChildNodes).filter(_.getTagName == "const")
      values.headOption.map(value => parameter.getAttribute("origName") -> number(value))
    }.toMap ++ source.values
    for (known <- Seq(BoxModule.id, BoxModule.version); value <- values.get(known) if value.bitLength > 32)
      throw new IllegalArgumentException(
        s"$known of $name is ${value.toString(16)} (hexadecimal): its register has 32 bits"
      )
    BoxModule(
      name,
      source,
      ports.map { port =>
        BoxPort(
          port.getAttribute("origName"),
          port.getAttribute("dir") == "input",
          width(port.getAttribute("dtype_id"))
        )
      },
      values,
      others.filter(_.hasAttribute("param")).map(_.getAttribute("origName")).toSet
    )
  }

  private val plain = "[A-Za-z_]\\w*"
  private val noBits = Set("real", "string", "event", "chandle")

  /** The shell's Verilog cannot connect every port that a module may have. */
  private def refuseOdd(module: String, port: Element, width: Int): Unit = {
    val name = port.getAttribute("name")
    val reason =
      if (!name.matches(plain)) Some("has a name that needs a backslash: give it a plain one")
      else if (port.getAttribute("dir") == "inout") Some("is an inout, which nothing inside a chip can be")
      else if (width == 0) Some("has a type that is no vector of bits: an array, a real number or an interface")
      else None
    for (said <- reason) throw new IllegalArgumentException(s"the port $name of $module $said")
  }

  private val literal = """\d+'s?([hd])([0-9a-f]+)""".r
}
