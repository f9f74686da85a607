// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import spinal.core._

import java.io.File

/** Writes the Verilog of the DMA engine alone, DmaEngine.v in a folder. Arguments: the folder, VFs of each PF, queues. */
object GenerateDma {
  def main(arguments: Array[String]): Unit = {
    require(arguments.length == 3, "usage: GenerateDma FOLDER VFS_OF_A_PF QUEUES")
    val Array(output, vfs, queues) = arguments
    new File(output).mkdirs()
    val config = SpinalConfig(
      targetDirectory = output,
      headerWithDate = false,
      headerWithRepoHash = false,
      defaultConfigForClockDomains = ClockDomainConfig(resetKind = SYNC)
    )
    config.generateVerilog(new DmaEngine(DmaParam(vfs = Seq.fill(4)(vfs.toInt), queues = queues.toInt)))
  }
}
