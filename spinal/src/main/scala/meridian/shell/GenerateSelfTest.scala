// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.selftest.SelfTest
import meridian.selftest.port.{FrameTaker, PortTest, TestMerge}
import spinal.core._

import java.io.File

/** Writes the Verilog of the self-test alone, for the estimate of what it takes, into a folder: SelfTest.v at the host
  * streams, and what each port has: PortTest.v (ps clock), TestMerge.v (macTx) and FrameTaker.v (macRx).
  *
  * Arguments: the folder, bytes in a beat, and functions.
  */
object GenerateSelfTest {
  def main(arguments: Array[String]): Unit = {
    require(arguments.length == 3, "usage: GenerateSelfTest FOLDER HOST_BYTES FUNCTIONS")
    val Array(output, bytes, functions) = arguments
    new File(output).mkdirs()
    val param = ShellParam(hostBytes = bytes.toInt, functions = functions.toInt, selfTest = true)
    val config = SpinalConfig(targetDirectory = output, headerWithDate = false, headerWithRepoHash = false)
    config.generateVerilog(new SelfTest(param))
    config.generateVerilog(new PortTest(param))
    config.generateVerilog(new TestMerge(param, 0))
    config.generateVerilog(new FrameTaker(param))
  }
}
