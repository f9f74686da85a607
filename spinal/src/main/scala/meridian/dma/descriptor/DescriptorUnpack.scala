// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.DmaParam
import meridian.dma.pcie.ReadBeat
import spinal.core._
import spinal.lib._

/** An H2C descriptor: 16 bytes in the host's memory, the first ones of those that it has there. */
case class H2cDescriptor() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val failed = Bool() // it could not be fetched, and what follows is nothing
  val metadata = Bits(32 bits)
  val length = UInt(16 bits)
  val address = UInt(64 bits)
}

/** Takes what was fetched apart: a descriptor a cycle of those of 16 and of 32 bytes, one in two cycles of those of 64. A
  * fetch that failed gives one descriptor that says so, behind those that came before.
  */
class DescriptorUnpack extends Component {
  val io = new Bundle {
    val fetch = slave(Stream(DescriptorFetch()))
    val beat = slave(Stream(Fragment(ReadBeat())))
    val descriptor = master(Stream(H2cDescriptor()))
  }

  val taken = Reg(UInt(5 bits)) init 0 // of this fetch
  val inSecond = RegInit(False) // in the second half of a descriptor of 64 bytes
  val isHalf = io.fetch.stride === 0
  val words = io.beat.data.subdivideIn(128 bits)((taken(0) && isHalf).asUInt)
  val ends = io.beat.failed || taken + 1 === io.fetch.count
  val needsMore = io.fetch.stride === 2 && !io.beat.failed
  io.descriptor.valid := io.fetch.valid && io.beat.valid && (!inSecond || io.beat.failed)
  io.descriptor.payload.queue := io.fetch.payload.queue
  io.descriptor.epoch := io.fetch.epoch
  io.descriptor.function := io.fetch.function
  io.descriptor.failed := io.beat.failed
  io.descriptor.metadata := words(31 downto 0)
  io.descriptor.length := words(47 downto 32).asUInt
  io.descriptor.address := words(127 downto 64).asUInt
  val passes = io.fetch.valid && io.beat.valid && inSecond && !io.beat.failed
  io.fetch.ready := ends && (passes || (io.descriptor.fire && !needsMore))
  io.beat.ready := passes || (io.descriptor.fire && (!isHalf || ends || taken(0)))
  when(io.descriptor.fire && needsMore)(inSecond := True)
  when(passes || (io.descriptor.fire && !needsMore))(inSecond := False)
  when(passes || (io.descriptor.fire && !needsMore))(taken := ends ? U(0, 5 bits) | taken + 1)
}
