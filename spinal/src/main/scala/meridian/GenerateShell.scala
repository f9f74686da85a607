// SPDX-License-Identifier: Apache-2.0
package meridian

import scopt.OParser
import spinal.core._

import java.io.File

/** Writes the Verilog of the shell: the same file for synthesis and for simulation. */
object GenerateShell {
  private case class Options(output: File = new File("build/rtl"), param: ShellParam = ShellParam())

  private val parser = {
    val builder = OParser.builder[Options]
    import builder._
    def size(name: String, text: String)(set: (ShellParam, Int) => ShellParam) =
      opt[Int](name).text(text).action((value, o) => o.copy(param = set(o.param, value)))
    OParser.sequence(
      programName("GenerateShell"),
      help("help").text("this text"),
      opt[File]("output").text("folder for Shell.v (default build/rtl)").action((file, o) => o.copy(output = file)),
      size("ports", "Ethernet ports, 1 to 4")((p, v) => p.copy(ports = v)),
      size("line-rate", "Gb/s of a port: 25 or 10")((p, v) => p.copy(lineRate = v)),
      size("host-bytes", "bytes in a beat towards QDMA: 32 or 64")((p, v) => p.copy(hostBytes = v)),
      size("functions", "PCIe functions, 4 (PFs) to 256")((p, v) => p.copy(functions = v)),
      size("queues", "QDMA queues, a power of two to 2048")((p, v) => p.copy(queues = v)),
      size("mac-entries", "entries of the MAC table")((p, v) => p.copy(macEntries = v)),
      size("groups", "multicast groups")((p, v) => p.copy(groups = v)),
      size("ps-addresses", "addresses of the PS, a port")((p, v) => p.copy(psAddresses = v)),
      size("rx-buffer", "bytes of receive buffer, a port")((p, v) => p.copy(rxBufferBytes = v)),
      size("tx-buffer", "bytes of transmit buffer, a port")((p, v) => p.copy(txBufferBytes = v)),
      size("ps-buffer", "bytes of the PS's buffers, a port and direction")((p, v) => p.copy(psBufferBytes = v)),
      size("copy-buffer", "bytes for frames that wait to be copied")((p, v) => p.copy(copyBufferBytes = v)),
      size("max-frame", "largest frame in bytes without FCS")((p, v) => p.copy(maxFrame = v))
    )
  }

  def main(args: Array[String]): Unit = {
    val options =
      try OParser.parse(parser, args, Options())
      catch {
        case error: IllegalArgumentException =>
          Console.err.println(s"GenerateShell: ${error.getMessage.stripPrefix("requirement failed: ")}")
          None
      }
    val Options(output, param) = options.getOrElse(sys.exit(2))
    output.mkdirs()
    SpinalConfig(
      targetDirectory = output.getPath,
      headerWithDate = false,
      headerWithRepoHash = false,
      oneFilePerComponent = false,
      inlineRom = true
    ).generateVerilog(new Shell(param))
  }
}
