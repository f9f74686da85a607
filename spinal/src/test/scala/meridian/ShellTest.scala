// SPDX-License-Identifier: Apache-2.0
package meridian

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.SpinalConfig

import java.nio.file.Files

/** The corners of the parameter space elaborate; what the shell does is tested on the Verilated whole. */
class ShellTest extends AnyFunSuite {
  private def elaborate(p: ShellParam): Unit = {
    val folder = Files.createTempDirectory("shell")
    SpinalConfig(targetDirectory = folder.toString, inlineRom = true).generateVerilog(new Shell(p))
    folder.toFile.listFiles.foreach(_.delete())
    Files.delete(folder)
  }

  test("the largest shell") {
    elaborate(ShellParam(ports = 4, hostBytes = 64, functions = 256, queues = 2048, groups = 256, psAddresses = 16))
  }

  test("the smallest shell") {
    elaborate(ShellParam(lineRate = 10, functions = 4, queues = 16, macEntries = 16, groups = 2, psAddresses = 1, maxFrame = 1518))
  }

  test("parameters that cannot be are refused in words") {
    for (wrong <- Seq[() => ShellParam](() => ShellParam(ports = 5), () => ShellParam(hostBytes = 16), () => ShellParam(queues = 100)))
      assert(intercept[IllegalArgumentException](wrong()).getMessage.contains("choose"))
  }
}
