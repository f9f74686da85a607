// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import spinal.core._

import java.io.File

/** Writes the Verilog of the self-test alone, for the estimate of what it takes: SelfTest.v in a folder.
  *
  * Arguments: the folder, bytes in a beat, and functions.
  */
object GenerateSelfTest {
  def main(arguments: Array[String]): Unit = {
    require(arguments.length == 3, "usage: GenerateSelfTest FOLDER HOST_BYTES FUNCTIONS")
    val Array(output, bytes, functions) = arguments
    new File(output).mkdirs()
    val param = ShellParam(hostBytes = bytes.toInt, functions = functions.toInt, selfTest = true)
    SpinalConfig(targetDirectory = output, headerWithDate = false, headerWithRepoHash = false)
      .generateVerilog(new SelfTest(param))
  }
}
