// SPDX-License-Identifier: Apache-2.0
package meridian

import org.apache.commons.io.FileUtils
import spinal.core._
import spinal.core.formal._
import spinal.lib._

import java.nio.file.Files

/** SymbiYosys with synchronous resets, on Verilog of one clock without other files. What it has proved of a component it does
  * not prove again.
  */
class SymbiYosys(verdicts: Verdicts = Verdicts) extends SpinalFormalConfig {
  withSyncResetDefault

  override def doVerify[T <: Component](top: => T)(implicit className: String): Unit = {
    require(
      !_hasAsync && !_skipWireReduce && _additionalRtlPath.isEmpty && _additionalIncludeDir.isEmpty,
      "they would not count"
    )
    val work = Files.createTempDirectory("proof")
    val verilog =
      try Pdr.generate(work, top)
      finally FileUtils.deleteDirectory(work.toFile)
    val engines = _engines.collect { case engine: SbyEngine => engine.command }
    val question = (_modesWithDepths.toSeq.sorted ++ engines :+ _timeout).mkString("\n")
    if (!verdicts.know(verilog, question, "proved")) {
      super.doVerify(top)
      verdicts.keep(verilog, question, "proved")
    }
  }
}

/** What the proofs of streams and arbiters have in common. */
object Proof {

  /** Z3 with memories as registers and steps unrolled. */
  def apply(): SymbiYosys = new SymbiYosys().addEngin(
    SmtBmc(nomem = true, unroll = Some(true), nopresat = true, progress = false, solver = SmtBmcSolver.Z3)
  )

  /** What is offered stays offered, and the same, until it is taken. */
  def holds[T <: Data](stream: Stream[T]): Bool = {
    val stalled = RegNext(stream.isStall) init False
    !stalled || (stream.valid && stream.payload.asBits === RegNext(stream.payload.asBits))
  }

  /** A stream with anything on it that a stream may carry. */
  def drive[T <: Data](stream: Stream[T]): Unit = {
    anyseq(stream.valid)
    anyseq(stream.payload)
    assume(holds(stream))
  }

  /** The next beat is the first of a frame. */
  def starts[T <: Data](stream: Stream[Fragment[T]]): Bool = RegNextWhen(stream.last, stream.fire) init True

  /** Counts events up to limit, beyond which it stays; from 0 again after a cycle with clear. */
  def count(event: Bool, clear: Bool, limit: Int): UInt = {
    val counter = Reg(UInt(log2Up(limit + 1) bits)) init 0
    when(event && counter =/= limit)(counter := counter + 1)
    when(clear)(counter := 0)
    counter
  }
}
