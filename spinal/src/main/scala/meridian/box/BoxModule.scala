// SPDX-License-Identifier: Apache-2.0
package meridian.box

import java.io.File
import java.nio.ByteBuffer
import java.nio.file.{Files, Path}
import javax.xml.parsers.DocumentBuilderFactory
import org.w3c.dom.{Element, NodeList}
import scala.sys.process._

/** A port of a user's module. */
case class BoxPort(name: String, input: Boolean, width: Int)

/** A user's module as its sources declare it.
  *
  * @param name       of the module
  * @param source     where it is declared
  * @param ports      in the order of the header
  * @param parameters integers, and local ones, with the values that they have in the shell
  * @param set        those of them that the shell sets
  * @param modules    all modules, packages and so on that the sources declare, used or not, and the file of each
  */
case class BoxModule(
    name: String,
    source: BoxSource,
    ports: Seq[BoxPort],
    parameters: Map[String, BigInt] = Map.empty,
    set: Set[String] = Set.empty,
    modules: Map[String, File] = Map.empty
) {
  def has(port: String): Boolean = ports.exists(_.name == port)
}

/** Reads the header of a user's module by Verilator, which resolves parameters, types and includes. */
object BoxModule {

  /** A parameter of this name is set to the bits of a beat, so that one source fits each width. */
  val dataBits = "DATA_BITS"

  /** Parameters that the registers show. */
  val id = "BOX_ID"
  val version = "BOX_VERSION"

  /** The module of a file, or of several: it has the name of the first, or the one given. Raises
    * IllegalArgumentException with a sentence.
    */
  def read(files: Seq[File], module: Option[String], hostBytes: Int): BoxModule = {
    val chosen = BoxSource.nameOf(files, module)
    val source = BoxSource(files, chosen, hostBytes)
    val name = chosen.split('.').last
    val declared = elaborate(source, name, Map.empty)
    val width = Map(dataBits -> BigInt(8 * hostBytes))
    if (!declared.set(dataBits)) declared.copy(set = Set.empty)
    else elaborate(source, name, width).copy(set = Set(dataBits))
  }

  /** Copies the files of modules to the folder `box` of the output, and removes what was there. The names of all but
    * headers get numbers in front, so that who reads them by name has the caller's order: a package comes before what
    * imports it. What two modules share is there once: files that have the same contents, wherever they are.
    */
  def copy(modules: Seq[BoxModule], output: File): Unit = {
    val verilog = modules.flatMap(_.source.verilog).distinctBy(contents)
    val headers = modules.flatMap(_.source.headers).distinctBy(file => (file.getName, contents(file)))
    for ((name, several) <- headers.groupBy(_.getName) if several.size > 1)
      throw new IllegalArgumentException(s"${several.mkString(" and ")} have one name, $name: rename one of them")
    for (Seq(one, other) <- modules.combinations(2)) {
      val same = for {
        (name, file) <- one.modules.toSeq.sortBy(_._1)
        another <- other.modules.get(name)
        if contents(another) != contents(file)
      } yield name
      require(
        same.isEmpty,
        s"the boxes ${one.name} and ${other.name} both declare ${same.mkString(", ")}: rename it in one of them"
      )
    }
    val files = headers ++ verilog
    for (file <- files)
      require(
        !file.getCanonicalFile.toPath.startsWith(output.getCanonicalFile.toPath),
        s"$file is below the folder of the output, $output, which is written anew: move your source elsewhere"
      )
    val copies = files.map(contents)
    val folder = new File(output, "box")
    Option(folder.listFiles).toSeq.flatten.foreach(_.delete())
    if (files.nonEmpty) folder.mkdirs()
    val digits = 2 max (files.size - 1).toString.length
    for ((file, copy) <- files.zip(copies)) {
      val number = verilog.indexOf(file)
      val name = if (number < 0) file.getName else s"%0${digits}d_%s".format(number, file.getName)
      Files.write(folder.toPath.resolve(name), copy.array)
    }
  }

  private def contents(file: File): ByteBuffer = ByteBuffer.wrap(Files.readAllBytes(file.toPath))

  /** As Verilator sees it; set has the parameters that an instance may set. */
  private def elaborate(source: BoxSource, name: String, set: Map[String, BigInt]): BoxModule = {
    val files = source.verilog
    val xml = Files.createTempFile("box", ".xml")
    // Only what was named is there later, too.
    val headers = BoxSource.temporary()
    for (file <- source.headers) Files.copy(file.toPath, headers.resolve(file.getName))
    try {
      val said = new StringBuilder
      val values = set.map { case (key, value) => s"-G$key=$value" }
      val command = Seq("verilator", "--xml-only", "--xml-output", xml.toString, "-Wno-lint", "-Wno-style") ++
        Seq("--no-timing") ++ values ++ // synthesis does not see delays, either
        Seq(s"-I$headers", "--top-module", name) ++ files.map(_.getPath)
      val status = Process(command) ! ProcessLogger(line => said.append(line).append('\n'))
      if (status != 0) {
        val text = said.toString
        val absent = text.contains(s"Specified --top-module '$name' was not found")
        require(
          !absent,
          s"${files.map(_.getName).mkString(", ")} has no module $name: rename it, or give its name by --box-module"
        )
        throw new IllegalArgumentException(s"Verilator does not read ${files.mkString(", ")}:\n$text")
      }
      val root = DocumentBuilderFactory.newInstance.newDocumentBuilder.parse(xml.toFile).getDocumentElement
      parse(root, name, source, declared(files, headers))
    } finally Files.delete(xml)
  }

  /** What the files declare, whether the module uses it or not, and the file of each. */
  private def declared(files: Seq[File], headers: Path): Map[String, File] = {
    val said = new StringBuilder
    Process(Seq("verilator", "-E", s"-I$headers") ++ files.map(_.getPath)) !
      ProcessLogger(line => said.append(line).append('\n'), _ => ())
    var file = files.head
    declaration
      .findAllMatchIn(said)
      .flatMap { found =>
        for (path <- Option(found.group(1))) file = new File(path)
        Option(found.group(2)).map(_ -> file)
      }
      .toMap
  }

  private def elements(list: NodeList): Seq[Element] =
    (0 until list.getLength).map(list.item).collect { case element: Element => element }

  private def parse(root: Element, name: String, source: BoxSource, modules: Map[String, File]): BoxModule = {
    val types = elements(root.getElementsByTagName("typetable")).flatMap(table => elements(table.getChildNodes))
    val byId = types.map(kind => kind.getAttribute("id") -> kind).toMap
    def width(id: String): Int = {
      val kind = byId(id)
      def among(a: Int, b: Int) = (a - b).abs + 1
      kind.getTagName match {
        case "basicdtype" if kind.hasAttribute("left") =>
          among(kind.getAttribute("left").toInt, kind.getAttribute("right").toInt)
        case "basicdtype" => 1
        case "packarraydtype" =>
          val ends = elements(kind.getElementsByTagName("const")).map(number)
          among(ends(0).toInt, ends(1).toInt) * width(kind.getAttribute("sub_dtype_id"))
        case "refdtype" => width(kind.getAttribute("sub_dtype_id"))
        case _          => 0 // no port of a box has it
      }
    }
    def number(const: Element): BigInt = const.getAttribute("name") match {
      case BoxModule.literal(base, digits) => BigInt(digits, if (base == "h") 16 else 10)
      case _                               => 0
    }
    val top = elements(root.getElementsByTagName("module")).find(_.getAttribute("topModule") == "1").get
    val variables = elements(top.getChildNodes).filter(_.getTagName == "var")
    val (ports, others) = variables.partition(_.hasAttribute("dir"))
    val parameters = others.filter(v => v.hasAttribute("param") || v.hasAttribute("localparam"))
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
      parameters.flatMap { parameter =>
        val values = elements(parameter.getChildNodes).filter(_.getTagName == "const")
        values.headOption.map(value => parameter.getAttribute("origName") -> number(value))
      }.toMap ++ source.values,
      others.filter(_.hasAttribute("param")).map(_.getAttribute("origName")).toSet,
      modules
    )
  }

  // The file that follows, a string, or the head of a declaration.
  private val declaration = ("(?m)^`line +\\d+ +\"([^\"]+)\"|\"(?:\\\\.|[^\"\\\\])*\"|" +
    "\\b(?:macro)?(?:module|package|interface|program|primitive)\\s+(?:(?:automatic|static)\\s+)?(\\w+)\\s*(?:[;#(]|import\\b)").r

  private val literal = """\d+'s?([hd])([0-9a-f]+)""".r
}
