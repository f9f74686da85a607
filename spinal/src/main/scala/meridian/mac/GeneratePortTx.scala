// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import spinal.core._

import java.io.File

/** Writes the Verilog of the transmit side of a port alone, for the estimate of what egress queues take: PortTx.v in a
  * folder.
  *
  * Arguments: the folder, bytes in a beat, and whether there are egress queues.
  */
object GeneratePortTx {
  def main(arguments: Array[String]): Unit = {
    require(arguments.length == 3, "usage: GeneratePortTx FOLDER HOST_BYTES true|false")
    val Array(output, bytes, egress) = arguments
    new File(output).mkdirs()
    val param = ShellParam(hostBytes = bytes.toInt, egress = egress.toBoolean)
    val config = ClockDomainConfig(resetKind = SYNC)
    SpinalConfig(targetDirectory = output, headerWithDate = false, headerWithRepoHash = false).generateVerilog {
      new PortTx(
        param,
        0,
        ClockDomain.external("axi_aclk", config),
        ClockDomain.external("ps_clk", config),
        ClockDomain.external("mac_tx_clk", config)
      )
    }
  }
}
