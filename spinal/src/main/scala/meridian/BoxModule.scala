// SPDX-License-Identifier: Apache-2.0
package meridian

import java.io.File

/** Sources of a user's module. All of them become Verilog, and only that Verilog is simulated and built.
  *
  * @param verilog modules, in the order in which they are read
  * @param headers what these include
  * @param values  parameters that the Verilog does not have, as the source says
  */
case class BoxSource(verilog: Seq[File], headers: Seq[File], values: Map[String, BigInt] = Map.empty) {
  def files: Seq[File] = headers ++ verilog
}

/** A port of a user's module. */
case class BoxPort(name: String, input: Boolean, width: Int)

/** A user's module as its sources declare it.
  *
  * @param name       of the module
  * @param source     where it is declared
  * @param ports      in the order of the header
  * @param parameters integers, and local ones, with the values that they have in the shell
  * @param set        those of them that the shell sets
  * @param modules    all modules, packages and so on that the sources declare, used or not, and the file of each
  */
case class BoxModule(
    name: String,
    source: BoxSource,
    ports: Seq[BoxPort],
    parameters: Map[String, BigInt] = Map.empty,
    set: Set[String] = Set.empty,
    modules: Map[String, File] = Map.empty
) {
  def has(port: String): Boolean = ports.exists(_.name == port)
}

object BoxModule {

  /** A parameter of this name is set to the bits of a beat, so that one source fits each width. */
  val dataBits = "DATA_BITS"

  /** Parameters that the registers show. */
  val id = "BOX_ID"
  val version = "BOX_VERSION"
}
