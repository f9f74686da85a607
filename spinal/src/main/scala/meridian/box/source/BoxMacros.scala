// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.BoxModule
import java.io.File
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}

/** Two modules that are compiled together are each what they are alone. */
private object BoxMacros {

  /** Lines that each file needs at its end, so that nothing of it reaches the next file which would change that. Raises
    * IllegalArgumentException with a sentence, if that is not enough.
    *
    * @param verilog files of all modules as they are compiled, those that are shared once
    */
  def ends(modules: Seq[BoxModule], verilog: Seq[File], headers: Seq[File]): Map[File, Seq[String]] = {
    val folder = BoxFolder.ofHeaders(headers)
    val alone =
      for (module <- modules)
        yield for (reader <- BoxText.readers) yield BoxText.read(module.source.verilog, folder, reader)
    val open = (for (texts <- alone; text <- texts; (file, lines) <- text.open.toSeq; line <- lines)
      yield file -> line).distinct.groupMap(_._1)(_._2)
    val undefined = modules match {
      case Seq(one, other) => between(one, other, alone, verilog, folder)
      case _               => Map.empty[File, Seq[String]]
    }
    (open.keySet ++ undefined.keySet)
      .map(file => file -> (open.getOrElse(file, Nil) ++ undefined.getOrElse(file, Nil)))
      .toMap
  }

  private def between(
      one: BoxModule,
      other: BoxModule,
      alone: Seq[Seq[BoxText]],
      verilog: Seq[File],
      headers: Path
  ): Map[File, Seq[String]] = {
    val Seq(ofOne, ofOther) = alone
    def fits(files: Seq[File]): Boolean = BoxText.readers.indices.forall { number =>
      val together = BoxText.read(files, headers, BoxText.readers(number))
      val known = together.units.map(unit => unit.name -> unit.text).toSet
      together.units.distinctBy(_.name).size == together.units.size && Seq(ofOne(number), ofOther(number)).forall {
        box =>
          box.units.forall(unit => known(unit.name -> unit.text)) && box.others.subsetOf(together.others)
      }
    }
    if (fits(verilog)) Map.empty
    else {
      val names = differing(ofOne, ofOther, other)
      val ending = names.map(name => s"`undef $name")
      val extra = Files.writeString(headers.resolve("between.v"), ending.mkString("", "\n", "\n")).toFile
      val last = verilog.lastIndexWhere(one.source.verilog.contains)
      require(
        names.nonEmpty && fits(verilog.patch(last + 1, Seq(extra), 0)),
        s"the boxes ${one.name} and ${other.name} change one another when they are compiled together" +
          (if (names.isEmpty) "" else s", by macros that they share: ${names.mkString(", ")}") +
          ": give macros, and modules in headers, names of their own in one of them"
      )
      Map(verilog(last) -> ending)
    }
  }

  /** Macros of one module that the other's sources have, as the rest cannot change it, and that the other ends otherwise
    * with: not what keeps a header of both from being read twice.
    */
  private def differing(ofOne: Seq[BoxText], ofOther: Seq[BoxText], other: BoxModule): Seq[String] = {
    val sources = other.source.files.map(file => Files.readString(file.toPath, ISO_8859_1))
    val words = sources.flatMap("""[A-Za-z_]\w*""".r.findAllIn(_)).toSet
    val names = ofOne.zip(ofOther).flatMap { case (mine, its) => mine.macros.toSet -- its.macros.toSet }.map(_._1)
    names.distinct.filter(words).filterNot(predefined).sorted
  }

  private lazy val predefined: Set[String] = {
    val nothing = Files.createTempFile("box", ".v")
    try BoxText.read(Seq(nothing.toFile), nothing.getParent).macros.keySet
    finally Files.delete(nothing)
  }
}
