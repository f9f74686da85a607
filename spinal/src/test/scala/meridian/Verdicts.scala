// SPDX-License-Identifier: Apache-2.0
package meridian

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path, Paths}
import java.security.MessageDigest
import scala.sys.process._

/** What solvers have decided, kept in a folder: a question with the same Verilog, engine and versions of the tools has the
  * same answer, and is not asked again. Only answers are kept; a proof that failed for time is tried again.
  *
  * @param folder if there is none, nothing is kept
  * @param tools  the versions of all tools that take part
  */
class Verdicts(folder: Option[Path], tools: => String) {

  /** The answer to a question that was asked before.
    *
    * @param verilog  with asserts and assumes; its comments do not count
    * @param question engine and bounds
    */
  def find(verilog: String, question: String): Option[String] =
    file(verilog, question).filter(Files.exists(_)).map(Files.readString)

  /** Keeps an answer. Processes may do so at the same time. */
  def keep(verilog: String, question: String, answer: String): Unit =
    for (file <- file(verilog, question)) {
      val written = Files.createTempFile(Files.createDirectories(file.getParent), "answer", "")
      Files.move(Files.writeString(written, answer), file, ATOMIC_MOVE)
    }

  private lazy val versions = tools

  private def file(verilog: String, question: String): Option[Path] = folder.map { folder =>
    val text = Seq(versions, question, verilog.replaceAll("//.*", "")).mkString("\u0000")
    val digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8))
    folder.resolve(digest.take(16).map(byte => f"$byte%02x").mkString)
  }
}

/** Those in Meridian's cache, which scripts/sbt names. The virtual environment's name tells the versions of Yosys and
  * SymbiYosys.
  */
object Verdicts
    extends Verdicts(
      sys.env.get("MERIDIAN_CACHE").map(Paths.get(_, "proofs")),
      Seq("dpkg-query", "-W", "-f", "${Package} ${Version}\n", "z3", "berkeley-abc").!! + Paths
        .get(sys.env("VENV"))
        .getFileName
    )
