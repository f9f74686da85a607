// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import java.io.{File, IOException}
import java.nio.file.Path
import scala.collection.mutable
import scala.sys.process._

/** A module, package, interface and so on of a text.
  *
  * @param file that has it, which may be a header
  * @param text its words, without comments and with macros replaced
  */
case class BoxUnit(name: String, file: File, text: String)

/** Verilog as a compiler sees it behind the preprocessor.
  *
  * @param units  what is declared, used or not
  * @param others statements outside of them
  * @param open   what each of the files that were named would leave to the next one, as the directives that end it
  */
class BoxText(val units: Seq[BoxUnit], val others: Set[String], val open: Map[File, Seq[String]], defined: => String) {

  /** Those that are defined at the end, with their texts. */
  lazy val macros: Map[String, String] =
    """(?m)^`define ([A-Za-z_]\w*)(.*)$""".r.findAllMatchIn(defined).map(is => is.group(1) -> is.group(2)).toMap
}

object BoxText {

  /** What tells the shell's two readers apart: Verilator, and synthesis. */
  val readers: Seq[Seq[String]] = Seq(Nil, Seq("VERILATOR", "verilator").map(name => s"-U$name") :+ "-DSYNTHESIS")

  /** Options of Verilator: languages of files by their names, which are those of Vivado, and macros may be defined again. */
  val options: Seq[String] = Seq("+1364-2005ext+v", "-Wno-REDEFMACRO")

  /** What a directive opens until another ends it, though files end meanwhile. */
  private val ends = Map(
    "default_nettype" -> "`default_nettype wire",
    "celldefine" -> "`endcelldefine",
    "unconnected_drive" -> "`nounconnected_drive",
    "begin_keywords" -> "`end_keywords"
  )
  private val ended = Map(
    "endcelldefine" -> "celldefine",
    "nounconnected_drive" -> "unconnected_drive",
    "end_keywords" -> "begin_keywords"
  )
  private val arguments = Map("`line" -> 3, "`default_nettype" -> 1, "`unconnected_drive" -> 1, "`begin_keywords" -> 1)
  private val opening =
    Set("module", "macromodule", "package", "interface", "program", "primitive", "config", "checker")
  private val afterKind = Set("automatic", "static")

  /** Files in their order, as if a compiler was given all of them. Raises IllegalArgumentException with a sentence. */
  def read(files: Seq[File], headers: Path, reader: Seq[String] = Nil): BoxText = {
    val all = options ++ reader ++ Seq("-E", s"-I$headers") ++ files.map(_.getPath)
    val parser = new Parser(files, headers)
    for (word <- Words.of(verilator(all, files))) parser.take(word)
    parser.result(verilator("--dump-defines" +: all, files))
  }

  /** What Verilator writes. Raises IllegalArgumentException with what it says of the files, if it does not take them. */
  def verilator(options: Seq[String], files: Seq[File]): String = {
    val (written, said) = (new StringBuilder, new StringBuilder)
    val logger = ProcessLogger(line => written.append(line).append('\n'), line => said.append(line).append('\n'))
    val status =
      try Process("verilator" +: options) ! logger
      catch {
        case _: IOException =>
          throw new IllegalArgumentException("a box is read by Verilator, which is not installed: run scripts/setup")
      }
    if (status != 0)
      throw new IllegalArgumentException(s"Verilator does not read ${files.mkString(", ")}:\n$said")
    written.toString
  }

  private class Parser(files: Seq[File], headers: Path) {
    private val named = files.map(file => file.getPath -> file).toMap
    private val units = mutable.Buffer[BoxUnit]()
    private val others = mutable.Set[String]()
    private val open = mutable.LinkedHashMap[File, Set[String]]()
    private val words = mutable.Buffer[String]() // of what is under way
    private var (file, source, began) = (files.head, files.head, files.head)
    private var before = "" // the word before
    private var kind = "" // of the unit that is under way, and how many of this kind are open
    private var depth = 0
    private val rest = mutable.Buffer[String]() // of a directive
    private var missing = 0 // words of it

    def take(word: String): Unit =
      if (missing > 0 || word.startsWith("`")) {
        if (missing == 0) rest.clear()
        missing = if (missing == 0) arguments.getOrElse(word, 0) else missing - 1
        rest += word
        if (missing == 0) directive(rest.head.drop(1), rest.drop(1).toSeq)
      } else if (before.isEmpty && word == ":") before = ":" // the name behind the end of a unit says nothing
      else if (before == ":" && words.isEmpty) before = ";"
      else {
        words += word
        if (depth == 0 && starts(word)) {
          words.dropRightInPlace(1)
          finish()
          words += word
          kind = if (word == "macromodule") "module" else word
          depth = 1
          began = file
        } else if (depth == 1 && word == "class" && before == "interface") depth = 0 // a class without methods
        else if (depth == 0 && word == ";") finish()
        else if (depth > 0 && starts(word) && word == kind) depth += 1
        else if (depth > 0 && word == s"end$kind") {
          depth -= 1
          if (depth == 0) declare()
        }
        before = if (depth == 0 && words.isEmpty && word != ";") "" else word
      }

    /** Neither a variable nor a port of an interface, nor what is declared elsewhere, begins a declaration. */
    private def starts(word: String): Boolean = opening(word) && !Set("virtual", "extern", "(", ",", ".")(before)

    private def declare(): Unit = {
      val name = words.tail.find(word => !afterKind(word))
      for (name <- name if Words.isName(name)) units += BoxUnit(name.stripPrefix("\\"), began, words.mkString(" "))
      words.clear()
    }

    private def finish(): Unit = {
      if (words.nonEmpty) others += words.mkString(" ")
      words.clear()
    }

    private def directive(name: String, values: Seq[String]): Unit = {
      def now = open.getOrElse(source, Set.empty)
      name match {
        case "line" =>
          val path = values(1).stripPrefix("\"").stripSuffix("\"")
          for (is <- named.get(path) if is != source) {
            if (depth == 0) finish()
            source = is
          }
          // What the file itself says that it is may be nowhere.
          file = if (new File(path).getParentFile == headers.toFile) new File(path) else source
        case "resetall"                                 => open(source) = now & Set("begin_keywords")
        case "default_nettype" if values == Seq("wire") => open(source) = now - name
        case _ if ends.contains(name)                   => open(source) = now + name
        case _ if ended.contains(name)                  => open(source) = now - ended(name)
        case _                                          =>
      }
    }

    def result(defined: => String): BoxText = {
      finish()
      new BoxText(
        units.toSeq,
        others.toSet,
        open.map { case (file, names) => file -> names.toSeq.sorted.map(ends) }.filter(_._2.nonEmpty).toMap,
        defined
      )
    }
  }
}

/** The words of Verilog behind the preprocessor. */
private object Words {
  private def inName(c: Char) = c.isLetterOrDigit || c == '_' || c == '$'

  /** An escaped name begins with a backslash. */
  def isName(word: String): Boolean = word.headOption.exists(c => c == '\\' || c == '_' || c.isLetter)

  /** Names, numbers, strings, directives and characters, without comments. */
  def of(text: String): Iterator[String] = new Iterator[String] {
    private var at = 0
    private def here(start: String) = text.startsWith(start, at)
    private def to(end: Int): Int = if (end < 0) text.length else end
    private def skip(): Unit = {
      var from = -1
      while (from != at) {
        from = at
        while (at < text.length && text(at).isWhitespace) at += 1
        if (here("//")) at = to(text.indexOf('\n', at))
        else if (here("/*")) at = to(text.indexOf("*/", at + 2) match { case -1 => -1; case found => found + 2 })
      }
    }
    def hasNext: Boolean = { skip(); at < text.length }
    def next(): String = {
      skip()
      val from = at
      def while_(is: Char => Boolean): Unit = while (at < text.length && is(text(at))) at += 1
      text(at) match {
        case '"' =>
          at += 1
          while (at < text.length && text(at) != '"') at += (if (text(at) == '\\') 2 else 1)
          at = (at + 1) min text.length
        case '\\' => while_(!_.isWhitespace)
        case '`' =>
          at += 1
          while_(inName)
        case c if inName(c) => while_(inName)
        case _              => at += 1
      }
      text.substring(from, at)
    }
  }
}
