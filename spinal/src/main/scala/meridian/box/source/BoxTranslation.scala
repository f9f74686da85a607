// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.{BoxModule, BoxSource}
import meridian.box.{BoxComponent, HostSpinalBox, SpinalBox, SpinalBoxTop}

import spinal.core._

import java.io.File
import java.lang.reflect.{InvocationTargetException, Modifier}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.util.Comparator
import java.util.regex.Pattern
import scala.sys.process._

/** Brings the sources of a user's module into Verilog. */
object BoxTranslation {
  private def ends(file: File, endings: String*): Boolean = endings.exists(file.getName.endsWith)
  private def isHeader(file: File): Boolean = ends(file, ".vh", ".svh")
  private def isVerilog(file: File): Boolean = ends(file, ".v", ".sv")
  private def isVhdl(file: File): Boolean = ends(file, ".vhd", ".vhdl")
  private def isScala(file: File): Boolean = ends(file, ".scala")

  /** The name of the module, which is that of the first file unless it is given. A class of Scala has its package. */
  def nameOf(files: Seq[File], chosen: Option[String]): String = {
    val first = files.find(!isHeader(_)).getOrElse(files.head)
    chosen.getOrElse(first.getName.replaceAll("\\.(s?vh?|vhdl?|scala)$", ""))
  }

  /** Checks the files, and translates those that are no Verilog. Raises IllegalArgumentException with a sentence. */
  def apply(files: Seq[File], module: String, hostBytes: Int): BoxSource = {
    for (file <- files) {
      require(file.isFile, s"there is no file $file: --box names the source of your module")
      require(
        isHeader(file) || isVerilog(file) || isVhdl(file) || isScala(file),
        s"$file ends in none of .v, .sv, .vh, .svh, .vhd, .vhdl and .scala: a box is Verilog, VHDL or SpinalHDL"
      )
    }
    for ((name, same) <- files.groupBy(_.getName) if same.size > 1)
      throw new IllegalArgumentException(s"${same.mkString(" and ")} have one name, $name: rename one of them")
    val (headers, sources) = files.partition(isHeader)
    require(sources.nonEmpty, s"${headers.mkString(" and ")} are headers only: name the source of your module, too")
    val kinds = Seq[(File => Boolean, Seq[File] => BoxSource)](
      (isVerilog, BoxSource(_, headers)),
      (isVhdl, vhdl(_, module, hostBytes)),
      (isScala, _ => scala(module, hostBytes))
    )
    val fitting = kinds.find { case (is, _) => sources.forall(is) }
    require(fitting.nonEmpty, s"${sources.mkString(", ")} are of more than one language: a box is of one")
    fitting.get._2(sources)
  }

  /** A folder that is there until the program ends. */
  def temporary(): Path = {
    val folder = Files.createTempDirectory("box")
    sys.addShutdownHook(Files.walk(folder).sorted(Comparator.reverseOrder[Path]()).forEach(Files.delete(_)))
    folder
  }

  /** A file of Verilog to be written, in such a folder. */
  private def created(module: String): Path =
    Files.createDirectories(temporary().resolve("verilog")).resolve(s"$module.v")

  /** By GHDL. Its Verilog has no parameters, so the width of a beat is set here. */
  private def vhdl(files: Seq[File], entity: String, hostBytes: Int): BoxSource = {
    val output = created(entity)
    val options = Seq("--std=08", s"--workdir=${output.getParent.getParent}")
    val said = new StringBuilder
    def run(command: Seq[String], output: Path): Boolean = {
      said.clear()
      val logger = ProcessLogger(_ => (), line => said.append(line).append('\n'))
      try (Process("ghdl" +: command) #> output.toFile ! logger) == 0
      catch {
        case _: java.io.IOException =>
          throw new IllegalArgumentException(
            "a box in VHDL is translated by GHDL, which is not installed: install Debian's package ghdl"
          )
      }
    }
    def synthesise(generics: String*): Boolean =
      run(Seq("synth") ++ options ++ generics ++ Seq("--out=verilog", entity), output)
    require(
      run(Seq("analyze") ++ options ++ files.map(_.getPath), output),
      s"GHDL does not read ${files.mkString(", ")}:\n$said"
    )
    val width = s"-g${BoxModule.dataBits}=${8 * hostBytes}"
    val made = synthesise(width) || said.toString.contains("no generic") && synthesise()
    require(made, s"GHDL does not synthesise the entity $entity:\n$said")
    val written = Files.readString(output, ISO_8859_1) // which VHDL is written in
    // GHDL writes them as they are in VHDL, which is no Verilog.
    for (name <- """\\[^\\\n]+\\""".r.findFirstIn(written))
      throw new IllegalArgumentException(
        s"${files.mkString(", ")} has the extended name $name, which GHDL does not translate: give it a plain one"
      )
    // VHDL does not tell upper from lower case, Verilog does.
    val text = written.replaceFirst(s"(?im)^module ${Pattern.quote(entity)}\\b", s"module $entity")
    // Each module has a file, so that an entity that two boxes share is there once.
    val modules = text.split("(?m)(?<=^endmodule$)").toSeq.map(_.strip).filter(_.nonEmpty)
    BoxSource(
      modules.map { module =>
        val name = """(?m)^module (\w+)""".r.findFirstMatchIn(module).fold(entity)(_.group(1))
        Files.writeString(output.resolveSibling(s"$name.v"), s"$module\n", ISO_8859_1).toFile
      },
      Nil
    )
  }

  /** A class of the shell's own compilation, as scripts/sbt adds the files of the user to it. */
  private def scala(name: String, hostBytes: Int): BoxSource = {
    val simple = name.split('.').last
    val output = created(simple)
    val kind =
      try Class.forName(name)
      catch {
        case _: ClassNotFoundException =>
          throw new IllegalArgumentException(
            s"there is no class $name: rename it, or give its name, with its package, by --box-module"
          )
        case error: LinkageError => throw new IllegalArgumentException(s"the class $name cannot be loaded: $error")
      }
    require(
      Seq(classOf[SpinalBox], classOf[HostSpinalBox]).exists(_.isAssignableFrom(kind)),
      s"the class $name does not extend meridian.box.SpinalBox, or HostSpinalBox for one at the host"
    )
    require(!Modifier.isAbstract(kind.getModifiers), s"the class $name is abstract: name the one that is to be built")
    val maker =
      try kind.getConstructor(classOf[Int])
      catch {
        case _: NoSuchMethodException =>
          throw new IllegalArgumentException(s"the class $name needs one parameter, hostBytes of type Int")
      }
    var values = Map.empty[String, BigInt]
    def make: BoxComponent = {
      val box =
        // SpinalHDL's compiler plug-in has no `new` here at which it could end the component.
        try maker.newInstance(Int.box(hostBytes)).asInstanceOf[BoxComponent].postInitCallback()
        catch { case error: InvocationTargetException => throw error.getCause }
      values = Map(BoxModule.id -> box.id, BoxModule.version -> box.version)
      box
    }
    SpinalConfig(
      targetDirectory = output.getParent.toString,
      netlistFileName = output.getFileName.toString,
      headerWithDate = false,
      headerWithRepoHash = false,
      privateNamespace = true // the shell may have components of the same names
    ).generateVerilog(new SpinalBoxTop(simple, hostBytes, make))
    BoxSource(Seq(output.toFile), Nil, values)
  }
}
