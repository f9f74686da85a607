// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.BoxModule
import java.io.File
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}

/** Writes the folder that has the sources of users' modules, beside the shell's Verilog. A compiler reads all of
  * these files in one run, after the shell's own. The order therefore matters: a macro or another compiler
  * directive stays in force in the files that follow.
  */
object BoxFolder {

  /** Names that a user's module must not have. They are the modules that a board's build instantiates around the
    * shell, the modules of its IP, and the primitives of the device that it instantiates. All of them are in the
    * same library as the user's modules.
    */
  val aroundShell: Set[String] = Set(
    "IBUFDS_GTE4",
    "clk_wiz_0",
    "ethernet_wrapper",
    "flag_sync",
    "link_state",
    "meridian_top",
    "pcie4_uscale_plus_0",
    "pcie_wrapper",
    "ps_wrapper",
    "qdma_0",
    "qdma_wrapper",
    "reset_sync",
    "xxv_ethernet_0",
    "zynq_ps",
    "zynq_ps_wrapper"
  )

  /** Copies the source files of modules to the folder `box` of the output, and removes what the folder had before.
    * If the modules have no files, the folder is not created.
    *
    * Each name except a header's gets a number as its prefix. A tool that reads the files in the order of their
    * names thus reads them in the caller's order, in which a package precedes the files that import it. Files with
    * the same contents are copied once, even if several modules have them in different folders. If a file leaves a
    * compiler directive in force, its copy gets lines that end it. The method raises IllegalArgumentException with
    * a sentence if it refuses the modules.
    */
  def write(modules: Seq[BoxModule], output: File): Unit = {
    val verilog = modules.flatMap(_.source.verilog).distinctBy(file => (ending(file), contents(file)))
    val headers = modules.flatMap(_.source.headers).distinctBy(file => (file.getName, contents(file)))
    for ((name, several) <- headers.groupBy(_.getName) if several.size > 1)
      throw new IllegalArgumentException(s"${several.mkString(" and ")} have one name, $name: rename one of them")
    for (module <- modules; name <- module.modules.keys.toSeq.sorted if aroundShell(name))
      throw new IllegalArgumentException(
        s"the box ${module.name} declares $name, which the build of a board has, too: give yours another name"
      )
    for (Seq(one, other) <- modules.combinations(2)) refuseSame(one, other)
    val files = headers ++ verilog
    for (file <- files)
      require(
        !file.getCanonicalFile.toPath.startsWith(output.getCanonicalFile.toPath),
        s"$file is below the folder of the output, $output, which is written anew: move your source elsewhere"
      )
    val more = BoxMacros.ends(modules, verilog, headers)
    val copies = files.map(file => contents(file).array ++ more.get(file).fold(Array.empty[Byte])(ended))
    val folder = new File(output, "box")
    Option(folder.listFiles).toSeq.flatten.foreach(_.delete())
    if (files.nonEmpty) folder.mkdirs() else folder.delete()
    val digits = 2 max (files.size - 1).toString.length
    for ((file, copy) <- files.zip(copies)) {
      val number = verilog.indexOf(file)
      val name = if (number < 0) file.getName else s"%0${digits}d_%s".format(number, file.getName)
      Files.write(folder.toPath.resolve(name), copy)
    }
  }

  private def refuseSame(one: BoxModule, other: BoxModule): Unit = {
    val same = for {
      (name, file) <- one.modules.toSeq.sortBy(_._1)
      another <- other.modules.get(name)
      if contents(another) != contents(file) || ending(another) != ending(file)
    } yield name
    require(
      same.isEmpty,
      s"the boxes ${one.name} and ${other.name} both declare ${same.mkString(", ")}: rename it in one of them"
    )
  }

  /** The lines that a copy gets at its end. They start with a blank line, as the last line of the file may be a
    * macro that a backslash continues.
    */
  private def ended(lines: Seq[String]): Array[Byte] =
    s"\n\n// The shell's generator has added what follows: it ends what this file leaves to the next one.\n${lines.mkString("", "\n", "\n")}"
      .getBytes(US_ASCII)

  private def ending(file: File): String = file.getName.split('.').last
  private def contents(file: File): ByteBuffer = ByteBuffer.wrap(Files.readAllBytes(file.toPath))

  /** Copies headers to a temporary folder that has no other files. */
  def ofHeaders(headers: Seq[File]): Path = {
    val folder = BoxTranslation.temporary()
    for (file <- headers) Files.copy(file.toPath, folder.resolve(file.getName))
    folder
  }
}
