// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import spinal.core._

import java.io.File

/** Writes the Verilog of the DMA engine alone, DmaEngine.v in a folder. Arguments: the folder, VFs of each PF, queues,
  * cycles until a read is given up, whether the host has set Extended Tag Enable, and whether queues may be memory-mapped.
  */
object GenerateDma {
  def main(arguments: Array[String]): Unit = {
    require(
      arguments.length == 6,
      "usage: GenerateDma FOLDER VFS_OF_A_PF QUEUES READ_TIME_OUT EXTENDED_TAGS MEMORY (true or false)"
    )
    val Array(output, vfs, queues, timeOut, extendedTags, memory) = arguments
    new File(output).mkdirs()
    val config = SpinalConfig(
      targetDirectory = output,
      headerWithDate = false,
      headerWithRepoHash = false,
      defaultConfigForClockDomains = ClockDomainConfig(resetKind = SYNC)
    )
    val p = DmaParam(
      vfs = Seq.fill(4)(vfs.toInt),
      queues = queues.toInt,
      readTimeOut = timeOut.toInt,
      extendedTags = extendedTags.toBoolean,
      memory = memory.toBoolean
    )
    config.generateVerilog(new DmaEngine(p))
  }
}
