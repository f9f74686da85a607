// SPDX-License-Identifier: Apache-2.0
package meridian.regs.reference

import meridian.regs._

import java.nio.file.{Files, Path, Paths}

/** Writes what others need of the register map: host-driver/include/meridian_regs.h and docs/registers.md.
  *
  * Argument: the root of the repository (default: the folder above).
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
    require(arguments.length <= 1 && !arguments.exists(_.startsWith("-")), "usage: GenerateRegisters [root]")
    val root = Paths.get(arguments.headOption.getOrElse(".."))
    for ((name, text) <- files()) {
      Files.createDirectories(root.resolve(name).getParent)
      Files.writeString(root.resolve(name), text)
    }
  }
}
