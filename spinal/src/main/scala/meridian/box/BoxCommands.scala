// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.dma.{CommandPort, HostCommand}
import spinal.core._

/** Connects a module's commands on host memory with the DMA engine. What a module does not have is quiet. */
object BoxCommands {
  def apply(box: BoxInstance, port: CommandPort, reset: Bool): Unit = {
    port.reset := RegNext(reset) init True
    port.read.valid := box.bit("m_axis_dma_read_tvalid", False)
    command(box, "m_axis_dma_read", port.read.payload)
    box.drive("m_axis_dma_read_tready", port.read.ready)
    box.drive("s_axis_dma_read_tvalid", port.bytes.valid)
    box.drive("s_axis_dma_read_tdata", port.bytes.data)
    box.drive("s_axis_dma_read_tkeep", port.bytes.keep)
    box.drive("s_axis_dma_read_tlast", port.bytes.last)
    box.drive("s_axis_dma_read_tuser_tag", port.bytes.tag)
    box.drive("s_axis_dma_read_tuser_error", port.bytes.failed)
    port.bytes.ready := box.bit("s_axis_dma_read_tready", True)

    port.write.valid := box.bit("m_axis_dma_write_tvalid", False)
    port.write.data := box.bits("m_axis_dma_write_tdata", 256)
    port.write.last := box.bit("m_axis_dma_write_tlast", True)
    command(box, "m_axis_dma_write", port.write.command)
    box.drive("m_axis_dma_write_tready", port.write.ready)
    box.drive("s_axis_dma_written_tvalid", port.written.valid)
    box.drive("s_axis_dma_written_tuser_tag", port.written.tag)
    box.drive("s_axis_dma_written_tuser_error", port.written.failed)

    val (read, written) = (port.bytes.fire && port.bytes.last, port.written.valid)
    val ends = (written && port.written.failed) ## written ## (read && port.bytes.failed) ## read
    box.regs.io.commandsEnded := RegNext(ends) init 0
  }

  private def command(box: BoxInstance, name: String, to: HostCommand): Unit = {
    to.address := box.bits(s"${name}_tuser_address", 64).asUInt
    to.bytes := box.bits(s"${name}_tuser_bytes", 16).asUInt
    to.queue := box.bits(s"${name}_tuser_queue", 11).asUInt
    to.tag := box.bits(s"${name}_tuser_tag", CommandPort.tagBits)
  }
}
