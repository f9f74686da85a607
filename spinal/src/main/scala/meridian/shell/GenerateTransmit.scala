// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.host.{H2cIngress, Segmenter, TxOffload}
import meridian.host.tunnel.Tunnel
import meridian.meta.TxMeta
import meridian.qdma.H2cPins
import meridian.settings.QueueSwitchWrite
import spinal.core._
import spinal.lib._

import java.io.File

/** From the H2C stream to the transmit filter: what descriptors ask for is done. */
class HostTransmit(p: ShellParam) extends Component {
  val io = new Bundle {
    val h2c = slave(Stream(H2cPins(p.hostBytes)))
    val switches = slave(Flow(QueueSwitchWrite(p)))
    val frames = master(FrameStream(p.hostBytes, TxMeta(p)))
  }
  val ingress = new H2cIngress(p)
  val offload = new TxOffload(p)
  ingress.io.h2c << io.h2c
  offload.io.switches << io.switches
  offload.io.flush := False
  if (p.segmentation) {
    val segmenter = new Segmenter(p)
    ingress.io.switches << io.switches
    val tunnel = new Tunnel(p)
    tunnel.strip.io.h2c << ingress.io.frames
    tunnel.strip.io.flush := False
    segmenter.io.h2c << tunnel.strip.io.frames
    segmenter.io.flush := False
    offload.io.h2c << segmenter.io.frames
    tunnel.prepend.io.frames << offload.io.frames
    tunnel.prepend.io.flush := False
    io.frames << tunnel.prepend.io.whole
  } else {
    offload.io.h2c << ingress.io.frames
    io.frames << offload.io.frames
  }
}

/** Writes the Verilog of HostTransmit alone, for the estimate of what segmentation takes: HostTransmit.v in a folder.
  *
  * Arguments: the folder, bytes in a beat, and whether frames are cut into segments.
  */
object GenerateTransmit {
  def main(arguments: Array[String]): Unit = {
    require(arguments.length == 3, "usage: GenerateTransmit FOLDER HOST_BYTES true|false")
    val Array(output, bytes, segmentation) = arguments
    new File(output).mkdirs()
    val param = ShellParam(hostBytes = bytes.toInt, segmentation = segmentation.toBoolean)
    SpinalConfig(
      targetDirectory = output,
      headerWithDate = false,
      headerWithRepoHash = false,
      defaultConfigForClockDomains = ClockDomainConfig(resetKind = SYNC)
    ).generateVerilog(new HostTransmit(param).setDefinitionName("HostTransmit"))
  }
}
