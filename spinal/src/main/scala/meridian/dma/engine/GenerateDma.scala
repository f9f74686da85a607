// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.dma.DmaParam
import spinal.core._

import java.io.File

/** Writes the Verilog of the DMA engine alone, DmaEngine.v in a folder. Arguments: the folder, VFs of each PF, queues,
  * cycles until a read is given up, whether the host has set Extended Tag Enable, whether queues may be memory-mapped, and
  * whether the card's own logic gives commands.
  */
object GenerateDma {
  def main(arguments: Array[String]): Unit = {
    require(
      arguments.length == 7,
      "usage: GenerateDma FOLDER VFS_OF_A_PF QUEUES READ_TIME_OUT EXTENDED_TAGS MEMORY COMMANDS (true or false)"
    )
    val Array(output, vfs, queues, timeOut, extendedTags, memory, commands) = arguments
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
      memory = memory.toBoolean,
      commands = commands.toBoolean
    )
    config.generateVerilog(new DmaEngine(p))
  }
}
