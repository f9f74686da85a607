// SPDX-License-Identifier: Apache-2.0
package meridian.crossing

import spinal.core._

import java.io.{File, PrintWriter}

/** Writes the crossings of a design for vivado/tcl/crossings.tcl, a line each. */
object CrossingWriter {
  private def word(names: Seq[String]) = if (names.size == 1) names.head else names.mkString("{", " ", "}")

  def lines(crossings: Seq[Crossing]): Seq[String] =
    crossings.map { c =>
      val reason = if (c.reason.isEmpty) "" else s" {${c.reason}}"
      s"crossing ${c.kind} ${word(c.from)} ${c.fromClock} ${c.to} ${c.toClock}$reason"
    }

  /** Ends with what is wrong if a crossing is not safe. */
  def apply(finder: CrossingFinder, top: Component, file: File): Unit = {
    val found = lines(finder.crossings)
    val writer = new PrintWriter(file)
    writer.println("# SPDX-License-Identifier: Apache-2.0")
    writer.println(
      s"# Clock crossings of ${top.definitionName}, written with its Verilog: see vivado/tcl/crossings.tcl."
    )
    found.foreach(line => writer.println(line))
    writer.close()
  }
}
