// SPDX-License-Identifier: Apache-2.0
package meridian

import spinal.core.Spinal

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path, Paths}
import java.security.MessageDigest
import scala.sys.process._

/** What solvers have decided, kept in a folder: a question with the same Verilog, engine and versions of the tools has the
  * same answer, and is not asked again. Callers keep the answers alone that let a test pass.
  *
  * @param folder if there is none, nothing is kept
  * @param tools  the versions of all tools that take part
  */
class Verdicts(folder: Option[Path], tools: => String) {

  /** Whether this was the answer before.
    *
    * @param verilog  with asserts and assumes; its comments do not count
    * @param question engine and bounds
    */
  def know(verilog: String, question: String, answer: String): Boolean =
    file(verilog, question).filter(Files.exists(_)).exists(Files.readString(_) == answer)

  /** Keeps an answer. Processes may do so at the same time. */
  def keep(verilog: String, question: String, answer: String): Unit =
    for (file <- file(verilog, question))
      try {
        val written = Files.createTempFile(Files.createDirectories(file.getParent), "answer", "")
        Files.move(Files.writeString(written, answer), file, ATOMIC_MOVE)
      } catch { case error: IOException => println(s"the answer of a solver is not kept: $error") }

  private lazy val versions = tools

  private def file(verilog: String, question: String): Option[Path] = folder.map { folder =>
    require(!verilog.contains("$readmem"), "the contents of memories would not count")
    val text = Seq(versions, question, verilog.replaceAll("(?m)//[^\"\n]*$", "")).mkString("\u0000")
    val digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8))
    folder.resolve(digest.take(16).map(byte => f"$byte%02x").mkString)
  }
}

/** Those in Meridian's cache, which scripts/sbt names. The virtual environment's name tells the versions of Yosys and
  * SymbiYosys. Raise the number at the end when [[Pdr]] or [[SymbiYosys]] ask in another way, or take another answer for a proof.
  */
object Verdicts
    extends Verdicts(
      sys.env.get("MERIDIAN_CACHE").map(Paths.get(_, "proofs")),
      Seq(
        Seq("z3", "--version").!!,
        Seq("berkeley-abc", "-c", "quit").!!,
        Paths.get(sys.env("VENV")).getFileName,
        Spinal.version,
        1
      ).mkString("\n")
    )
