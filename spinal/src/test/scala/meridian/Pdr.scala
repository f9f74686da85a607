// SPDX-License-Identifier: Apache-2.0
package meridian

import spinal.core._
import spinal.core.formal.SpinalFormalConfig

import java.nio.file.{Files, Path, Paths}
import scala.jdk.CollectionConverters._
import scala.sys.process._

/** Proofs by property directed reachability, for runs of any length, without invariants by hand, and by other engines of
  * ABC: Yosys makes an and-inverter graph of a component with its asserts and assumes, and ABC decides it. Memories have to be small.
  */
class Pdr(verdicts: Verdicts) {

  /** Fails unless every assert of the component holds in all cycles, and each cover can be reached.
    *
    * @param seconds of ABC's time, after which the proof has failed
    * @param reduce  registers that are always the same are merged first, which pays where there are many
    */
  def prove(top: => Component, seconds: Int = 300, reduce: Boolean = false): Unit =
    check(top, reduced(reduce) + s"pdr -T $seconds")

  /** The same for what is too large, by induction: the asserts hold in the first cycles, and in each cycle if all of them
    * hold in the `steps - 1` before it. So the asserts have to tell of all states that the component can be in.
    *
    * @param cycles in which each cover has to be reached
    */
  def induction(top: => Component, steps: Int, cycles: Int, seconds: Int = 300): Unit =
    check(
      top,
      s"bmc3 -F ${steps + 1} -T $seconds; orpos; scleanup; ind -F $steps -T $seconds",
      s"bmc3 -F $cycles -T $seconds"
    )

  /** The same in the first cycles after reset, for what is too large. */
  def bounded(top: => Component, cycles: Int, seconds: Int = 300, reduce: Boolean = false): Unit =
    check(top, reduced(reduce) + s"bmc3 -F $cycles -T $seconds")

  private def reduced(reduce: Boolean): String = if (reduce) "scleanup; scorr; dc2; " else ""

  /** Fails unless an assert does not hold any more once the one place in the Verilog that reads `from` reads `to`: what
    * the proof is worth.
    */
  def catches(top: => Component, from: String, to: String, cycles: Int = 60, seconds: Int = 300): Unit = within {
    work =>
      val verilog = generate(work, top)
      assert(verilog.split(java.util.regex.Pattern.quote(from), -1).length == 2, s"'$from' is not there once: $work")
      decide(
        work,
        "mutation",
        covers.replaceAllIn(verilog.replace(from, to), ""),
        s"bmc3 -F $cycles -T $seconds",
        reached
      ) match {
        case Known | Reached(_) =>
        case other              => throw new AssertionError(s"'$to' instead of '$from' is not noticed, $other: $work")
      }
  }

  private val covers = "(?m)^ *cover\\((.*)\\); //(.*)$".r
  private val asserts = "(?m)^ *assert\\(.*\\); //.*$".r

  /** A folder that stays if what is done in it fails. */
  private def within(action: Path => Unit): Unit = {
    val work = Files.createTempDirectory(Files.createDirectories(Paths.get("simWorkspace", "pdr")), "proof")
    action(work)
    Files.list(work).iterator.asScala.foreach(Files.delete)
    Files.delete(work)
  }

  /** The component as SystemVerilog, with its asserts, assumes and covers. */
  def generate(work: Path, top: => Component): String = {
    val config = new SpinalFormalConfig().withSyncResetDefault._spinalConfig.includeFormal
    val report = config.copy(targetDirectory = work.toString).generateSystemVerilog(top)
    Files.readString(work.resolve(s"${report.toplevelName}.sv")).replace("(* keep_hierarchy = \"TRUE\" *)", "")
  }

  private def check(top: => Component, engine: String): Unit = check(top, engine, engine.replace("pdr", "bmc3"))

  private def check(top: => Component, engine: String, coverEngine: String): Unit = within { work =>
    val verilog = generate(work, top)
    decide(work, "asserts", covers.replaceAllIn(verilog, ""), engine, proved) match {
      case Known | Proved =>
      case Reached(n)     => throw new AssertionError(s"an assert does not hold in cycle $n: $work")
      case Undecided      => throw new AssertionError(s"not decided by $engine: $work")
    }
    val noAsserts = asserts.replaceAllIn(verilog, ";")
    for ((cover, i) <- covers.findAllMatchIn(verilog).toSeq.zipWithIndex) {
      val text = noAsserts.replace(cover.matched, s"assert(!(${cover.group(1)})); //")
      decide(work, s"cover$i", covers.replaceAllIn(text, ""), coverEngine, reached) match {
        case Known | Reached(_) =>
        case other              => throw new AssertionError(s"a cover is not reached, $other,${cover.group(2)}: $work")
      }
    }
  }

  private val proved = "proved"
  private val reached = "reached"
  private sealed abstract class Result(val answer: String)
  private case object Known extends Result("")
  private case object Proved extends Result(proved)
  private case class Reached(cycle: Int) extends Result(reached)
  private case object Undecided extends Result("")

  /** Asks only if the answer is not known to be the one that the caller hopes for. */
  private def decide(work: Path, name: String, verilog: String, engine: String, hope: String): Result = {
    val question = s"${command("", engine)}\n${script("", "")}"
    if (verdicts.know(verilog, question, hope)) Known
    else {
      val result = ask(work, name, verilog, engine)
      if (result.answer == hope) verdicts.keep(verilog, question, hope)
      result
    }
  }

  private def command(name: String, engine: String) = s"read_aiger $name.aig; fold; strash; $engine"

  private def ask(work: Path, name: String, verilog: String, engine: String): Result = {
    Files.writeString(work.resolve(s"$name.sv"), verilog)
    Files.writeString(work.resolve(s"$name.ys"), script(name, "module (\\w+)".r.findFirstMatchIn(verilog).get.group(1)))
    run(work, Seq("yosys", "-q", s"$name.ys"))
    val said = run(work, Seq("berkeley-abc", "-c", command(name, engine)))
    Files.writeString(work.resolve(s"$name.log"), said)
    val failed = "asserted in frame (\\d+)".r.findFirstMatchIn(said).map(found => Reached(found.group(1).toInt))
    // A bounded check that ran out of time says how far it came.
    val cycles = "-F (\\d+)".r.findFirstMatchIn(engine).map(_.group(1))
    val bounded = cycles.exists(n => said.contains(s"No output asserted in $n frames"))
    val inductive = !engine.contains("ind ") || said.contains("Networks are equivalent")
    val held = said.contains("Property proved") || bounded && inductive
    failed.getOrElse(if (held) Proved else Undecided)
  }

  private def run(work: Path, command: Seq[String]): String = {
    val said = new StringBuilder
    val status = Process(command, work.toFile) ! ProcessLogger(line => said.append(line).append('\n'))
    if (status != 0) throw new AssertionError(s"${command.mkString(" ")} in $work: status $status\n$said")
    said.toString
  }

  private def script(name: String, top: String): String =
    s"""read -formal $name.sv
       |prep -flatten -top $top
       |memory_map
       |async2sync
       |chformal -assume -early
       |formalff -setundef -clk2ff -ff2anyinit -hierarchy
       |setundef -undriven -anyseq
       |formalff -assume
       |delete -output
       |opt -full
       |techmap
       |opt -fast
       |formalff -clk2ff -ff2anyinit
       |simplemap
       |dffunmap
       |aigmap
       |opt_clean
       |write_aiger -I -B -zinit -no-startoffset $name.aig
       |""".stripMargin
}

object Pdr extends Pdr(Verdicts)
