// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.descriptor.{DescriptorFetch, RingEpoch}
import meridian.dma.pcie.ReadBeat
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4Config

/** Bytes that go from the host's memory to the card's or back. */
case class MemoryTransfer() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val failed = Bool() // there is no such transfer: its descriptor could not be fetched, or has no bytes
  val malformed = Bool() // it has none
  val length = UInt(28 bits)
  val host, card = UInt(64 bits) // addresses
}

object MemoryTransfer {

  /** The card's memory as the engine sees it: a beat of AXI4 is a row of 32 bytes. Bursts go upwards and end at a multiple
    * of 4 KiB. The other signals of the IP's master have no use here.
    */
  val axi = Axi4Config(
    addressWidth = 64,
    dataWidth = 256,
    useId = false,
    useRegion = false,
    useLock = false,
    useCache = false,
    useQos = false,
    useProt = false
  )
}

/** Takes what was fetched apart: a descriptor of 32 bytes a beat, which is a transfer. The source is at bits 63:0, the length
  * at 91:64 and the destination at 191:128; flags beside the length are not looked at, as the IP's internal mode has none.
  * A fetch that failed gives one transfer that says so. One a cycle, in the cycle of the beat.
  *
  * @param c2h  the source is the card's memory, else the host's
  */
class TransferUnpack(c2h: Boolean) extends Component {
  val io = new Bundle {
    val fetch = slave(Stream(DescriptorFetch()))
    val beat = slave(Stream(Fragment(ReadBeat())))
    val transfer = master(Stream(MemoryTransfer()))
    val missing = out UInt (5 bits) // with a transfer that failed: those behind it that will not come
  }

  val taken = Reg(UInt(5 bits)) init 0 // of this fetch
  val word = io.beat.data
  val source = word(63 downto 0).asUInt
  val destination = word(191 downto 128).asUInt
  val isFailed = io.beat.failed
  io.transfer.valid := io.fetch.valid && io.beat.valid
  io.transfer.payload.queue := io.fetch.payload.queue
  io.transfer.epoch := io.fetch.epoch
  io.transfer.function := io.fetch.function
  io.transfer.payload.length := word(91 downto 64).asUInt
  io.transfer.malformed := !isFailed && io.transfer.payload.length === 0
  io.transfer.failed := isFailed || io.transfer.malformed
  io.transfer.host := (if (c2h) destination else source)
  io.transfer.card := (if (c2h) source else destination)

  val left = io.fetch.count - taken
  val ends = isFailed || left === 1
  io.beat.ready := io.transfer.fire
  io.fetch.ready := io.transfer.fire && ends
  io.missing := (io.transfer.fire && isFailed) ? (left - 1) | U(0, 5 bits)
  when(io.transfer.fire)(taken := ends ? U(0, 5 bits) | (taken + 1))
}
