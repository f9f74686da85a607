// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import spinal.core._

import java.io.File

/** Writes the Verilog of a pool with its registers alone, for the estimate of what it takes: HostPool.v in a folder.
  *
  * Arguments: the folder, ports, and bytes in a beat.
  */
object GeneratePool {
  def main(arguments: Array[String]): Unit = {
    require(arguments.length == 3, "usage: GeneratePool FOLDER PORTS HOST_BYTES")
    val Array(output, ports, bytes) = arguments
    new File(output).mkdirs()
    val param = ShellParam(ports = ports.toInt, hostBytes = bytes.toInt, egress = true, pool = true)
    SpinalConfig(
      defaultConfigForClockDomains = ClockDomainConfig(resetKind = SYNC),
      targetDirectory = output,
      headerWithDate = false,
      headerWithRepoHash = false
    ).generateVerilog(new HostPool(param))
  }
}
