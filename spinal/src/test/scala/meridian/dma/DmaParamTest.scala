// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import meridian.dma.engine.DmaEngine
import java.nio.file.Files
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._

/** What the parameters allow can be built. */
class DmaParamTest extends AnyFunSuite {
  for (isLarge <- Seq(false, true)) test(s"the ${if (isLarge) "largest" else "smallest"} engine is one of Verilog") {
    val p = DmaParam(
      vfs = Seq.fill(4)(if (isLarge) DmaParam.maxVfs / 4 else 0),
      queues = if (isLarge) 2048 else 16,
      vectors = if (isLarge) 32 else 2,
      toldVectors = 2,
      pushSlots = if (isLarge) 64 else 0,
      userInterrupts = isLarge,
      extendedTags = isLarge,
      memory = isLarge,
      commands = isLarge
    )
    val folder = Files.createTempDirectory("dma").toFile
    SpinalConfig(targetDirectory = folder.getPath).generateVerilog(new DmaEngine(p))
    for (file <- folder.listFiles()) file.delete()
    assert(folder.delete())
  }
}
