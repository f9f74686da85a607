// SPDX-License-Identifier: Apache-2.0
package meridian.box.source

import meridian.BoxModule
import org.scalatest.Assertions._

import java.io.File
import java.nio.file.{Files, Path}

/** Sources of boxes for tests, in a folder of their own. */
trait BoxFiles {
  protected val folder: Path = Files.createTempDirectory("box")

  protected def file(name: String, text: String = ""): File = Files.writeString(folder.resolve(name), text).toFile

  /** In a folder of its own, so that several may have one name. */
  protected def apart(name: String, text: String): File =
    Files.writeString(Files.createTempDirectory("own").resolve(name), text).toFile

  protected def read(files: File*): BoxModule = BoxReader.read(files, None, 32)

  protected def refused(action: => Any): String = intercept[IllegalArgumentException](action).getMessage

  /** Writes boxes to a folder, and gives what is in it by name. */
  protected def written(modules: BoxModule*): Map[String, File] = {
    val output = Files.createTempDirectory("output").toFile
    BoxFolder.write(modules, output)
    new File(output, "box").listFiles.map(file => file.getName -> file).toMap
  }

  /** A module as a compiler sees it that is given all files of such a folder. */
  protected def together(files: Map[String, File], top: String): BoxModule =
    BoxReader.read(files.toSeq.sortBy(_._1).map(_._2), Some(top), 32)
}
