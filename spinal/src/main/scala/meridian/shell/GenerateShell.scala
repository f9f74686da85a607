// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.{BoxModule, ShellParam}
import meridian.box.UserBox
import meridian.box.source.{BoxFolder, BoxReader}
import meridian.crossing.CrossingWriter
import scopt.OParser
import spinal.core._

import java.io.File
import scala.collection.mutable

/** Writes the Verilog of the shell, the same file for synthesis and for simulation, and beside it its clock crossings. */
object GenerateShell {

  /** What was given; a size is only checked together with all others. */
  private case class Options(
      output: File = new File("build/rtl"),
      sizes: Map[String, Int] = Map.empty,
      selfTest: Boolean = ShellParam().selfTest,
      egress: String = "false",
      ownDma: Boolean = false,
      vfs: Seq[Int] = Nil,
      extendedTags: Boolean = false,
      memory: Boolean = false,
      segmentation: Option[Boolean] = None,
      box: Seq[File] = Nil,
      boxModule: Option[String] = None,
      hostBox: Seq[File] = Nil,
      hostBoxModule: Option[String] = None
  ) {
    private def cuts = segmentation.getOrElse(ownDma && egress != "pool")

    def param: ShellParam = {
      val default = ShellParam()
      val bytes = sizes.getOrElse("host-bytes", default.hostBytes)
      Together(
        ShellParam(
          ports = sizes.getOrElse("ports", default.ports),
          lineRate = sizes.getOrElse("line-rate", default.lineRate),
          hostBytes = bytes,
          functions = sizes.getOrElse("functions", default.functions),
          queues = sizes.getOrElse("queues", default.queues),
          macEntries = sizes.getOrElse("mac-entries", default.macEntries),
          groups = sizes.getOrElse("groups", default.groups),
          hostMhz = sizes.getOrElse("host-mhz", default.hostMhz),
          psAddresses = sizes.getOrElse("ps-addresses", default.psAddresses),
          rxBufferBytes = sizes
            .getOrElse("rx-buffer", if (egress == "pool") ShellParam.pausingRxBuffer(bytes) else default.rxBufferBytes),
          txBufferBytes =
            sizes.getOrElse("tx-buffer", if (cuts) ShellParam.segmentedTxBuffer else default.txBufferBytes),
          psBufferBytes = sizes.getOrElse("ps-buffer", default.psBufferBytes),
          copyBufferBytes = sizes.getOrElse("copy-buffer", default.copyBufferBytes),
          vebBufferBytes = sizes.getOrElse("veb-buffer", default.vebBufferBytes),
          maxFrame = sizes.getOrElse("max-frame", default.maxFrame),
          selfTest = selfTest,
          egress = egress != "false",
          pool = egress == "pool",
          ownDma = ownDma,
          vfs = vfs,
          extendedTags = extendedTags,
          memory = memory,
          segmentation = cuts,
          box = module(box, boxModule),
          hostBox = module(hostBox, hostBoxModule)
        )
      )
    }

    private def module(files: Seq[File], name: Option[String]): Option[BoxModule] = Option.when(files.nonEmpty)(
      BoxReader.read(files.map(resolved), name, sizes.getOrElse("host-bytes", ShellParam().hostBytes))
    )
  }

  /** A file as the caller of scripts/sbt named it. */
  private def resolved(file: File): File =
    if (file.isAbsolute) file else new File(sys.env.getOrElse("MERIDIAN_CALLER", "."), file.getPath)

  private val parser = {
    val builder = OParser.builder[Options]
    import builder._
    def size(name: String, text: String) =
      opt[Int](name).text(text).action((value, o) => o.copy(sizes = o.sizes + (name -> value)))
    OParser.sequence(
      programName("GenerateShell"),
      help("help").text("this text"),
      opt[File]("output")
        .text("folder for Shell.v and Shell.crossings.tcl (default build/rtl)")
        .action((file, o) => o.copy(output = file)),
      size("ports", "Ethernet ports, 1 to 4"),
      size("line-rate", "Gb/s of a port: 25 or 10"),
      size("host-bytes", "bytes in a beat towards QDMA: 32 or 64"),
      size("host-mhz", "clock of the QDMA streams: 250 or 125"),
      size("functions", "PCIe functions, 4 (PFs) to 256"),
      size("queues", "QDMA queues, a power of two to 2048"),
      size("mac-entries", "entries of the MAC table"),
      size("groups", "multicast groups"),
      size("ps-addresses", "addresses of the PS, a port"),
      size(
        "rx-buffer",
        "bytes of receive buffer, a port (default 32768; with a pool 65536, or 131072 with beats of 64 bytes)"
      ),
      size("tx-buffer", "bytes of transmit buffer, a port (default 32768, or 262144 with segmentation)"),
      size("ps-buffer", "bytes of the PS's buffers, a port and direction"),
      size("copy-buffer", "bytes for frames that wait to be copied"),
      size("veb-buffer", "bytes of each buffer for frames that stay inside the card"),
      size("max-frame", "largest frame in bytes without FCS"),
      opt[Boolean]("self-test")
        .text("true: with packet generator, checker and latency counters at the QDMA streams (default false)")
        .action((value, o) => o.copy(selfTest = value)),
      opt[String]("egress")
        .valueName("false|true|pool")
        .text(
          "transmit queues, so that no port holds up another: true, two a port; pool, eight classes a port in one memory " +
            "(default false)"
        )
        .validate(value =>
          if (Seq("false", "true", "pool").contains(value)) success
          else failure(s"--egress is $value: choose false, true or pool")
        )
        .action((value, o) => o.copy(egress = value)),
      opt[String]("dma")
        .valueName("qdma|meridian")
        .text(
          "the DMA engine: the QDMA IP, for whose pins the shell is made, or our own inside the shell, at the pins of the " +
            "integrated block for PCIe; see docs/dma.md (default qdma)"
        )
        .validate(value =>
          if (Seq("qdma", "meridian").contains(value)) success
          else failure(s"--dma is $value: choose qdma or meridian")
        )
        .action((value, o) => o.copy(ownDma = value == "meridian")),
      opt[Seq[Int]]("vfs")
        .valueName("A,B,C,D")
        .text(
          "with --dma meridian or --self-test: the VFs of PF 0 to 3, together as many as --functions has (default: all are PF 0's)"
        )
        .action((value, o) => o.copy(vfs = value)),
      opt[Boolean]("extended-tags")
        .valueName("true|false")
        .text(
          "with --dma meridian: more reads are under way, for hosts that enable Extended Tag of each PF (default false)"
        )
        .action((value, o) => o.copy(extendedTags = value)),
      opt[Boolean]("memory")
        .valueName("true|false")
        .text(
          "with --dma meridian: queues may be memory-mapped, onto a memory of 256 KiB in the shell; see docs/dma.md " +
            "(default false)"
        )
        .action((value, o) => o.copy(memory = value)),
      opt[Boolean]("segmentation")
        .valueName("true|false")
        .text(
          "large frames of TCP and UDP are cut into segments, if the host asks for it; drivers use it where frames may be " +
            "in pieces (default true with --dma meridian and no pool, else false)"
        )
        .action((value, o) => o.copy(segmentation = Some(value))),
      opt[Seq[File]]("box")
        .valueName("FILE[,FILE...]")
        .text("your own module at the wire, in Verilog, VHDL or SpinalHDL, an instance a port; see docs/user-logic.md")
        .action((files, o) => o.copy(box = files)),
      opt[String]("box-module")
        .text("its name (default: that of the first file, without its ending)")
        .action((name, o) => o.copy(boxModule = Some(name))),
      opt[Seq[File]]("host-box")
        .valueName("FILE[,FILE...]")
        .text(
          "your own module at the host, between filters and QDMA streams, one for all ports; --box may be there, too"
        )
        .action((files, o) => o.copy(hostBox = files)),
      opt[String]("host-box-module")
        .text("its name (default: that of the first file, without its ending)")
        .action((name, o) => o.copy(hostBoxModule = Some(name)))
    )
  }

  def main(args: Array[String]): Unit = {
    val options =
      try OParser.parse(parser, args, Options()).map(o => (o.output, o.param))
      catch {
        case error: IllegalArgumentException =>
          Console.err.println(s"GenerateShell: ${error.getMessage.stripPrefix("requirement failed: ")}")
          None
      }
    val (output, param) = options.getOrElse(sys.exit(2))
    output.mkdirs()
    try BoxFolder.write(param.box.toSeq ++ param.hostBox, output)
    catch {
      case error: IllegalArgumentException =>
        Console.err.println(s"GenerateShell: ${error.getMessage.stripPrefix("requirement failed: ")}")
        sys.exit(2)
    }
    val report = SpinalConfig(
      targetDirectory = output.getPath,
      headerWithDate = false,
      headerWithRepoHash = false,
      oneFilePerComponent = false,
      inlineRom = true
    ).generateVerilog(new Shell(param))
    for (module <- param.box ++ param.hostBox) {
      val ours = mutable.Set[String]()
      report.toplevel.walkComponents(c => if (!c.isInstanceOf[UserBox]) ours += c.definitionName)
      for (name <- (module.modules.keySet & ours.toSet).toSeq.sorted) {
        Console.err.println(s"GenerateShell: the shell has a module $name, too: give yours another name")
        sys.exit(2)
      }
    }
    try CrossingWriter(Shell.crossings(report.toplevel), report.toplevel, new File(output, "Shell.crossings.tcl"))
    catch {
      case error: IllegalArgumentException =>
        Console.err.println(s"GenerateShell: ${error.getMessage}")
        sys.exit(1)
    }
  }
}
