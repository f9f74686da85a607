// SPDX-License-Identifier: Apache-2.0
package meridian.regs.reference

import meridian.regs._

import java.nio.file.{Files, Path, Paths}

/** Writes what others need of the register map: host-driver/include/meridian_regs.h and docs/registers.md.
  *
  * Arguments: the root of the repository (default: the folder above), and --check to write nothing and fail if a file
  * is not what would be written.
  */
object GenerateRegisters {

  def files(): Seq[(String, String)] = {
    val map = RegMap()
    Seq("host-driver/include/meridian_regs.h" -> HeaderWriter(map), "docs/registers.md" -> ReferenceWriter(map))
  }

  /** Those of the files that differ from what is there. */
  def stale(root: Path, files: Seq[(String, String)]): Seq[String] = files.collect {
    case (name, text) if !Files.exists(root.resolve(name)) || Files.readString(root.resolve(name)) != text => name
  }

  def main(arguments: Array[String]): Unit = {
    val (options, roots) = arguments.partition(_.startsWith("--"))
    require(options.forall(_ == "--check") && roots.length <= 1, "usage: GenerateRegisters [--check] [root]")
    val root = Paths.get(roots.headOption.getOrElse(".."))
    val all = files()
    val old = stale(root, all)
    if (options.nonEmpty) {
      old.foreach(name => System.err.println(s"$name is stale: run meridian.regs.reference.GenerateRegisters"))
      if (old.nonEmpty) sys.exit(1)
    } else
      for ((name, text) <- all) {
        Files.createDirectories(root.resolve(name).getParent)
        Files.writeString(root.resolve(name), text)
      }
  }
}
