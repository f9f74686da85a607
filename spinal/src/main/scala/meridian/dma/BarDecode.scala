// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import meridian.dma.context.CsrTable
import meridian.dma.interrupt.MsixTable
import spinal.core._
import spinal.lib._

/** Sends each access of BAR0 to the block that has the place, and the values of reads on. What is nowhere reads 0 and takes
  * no write. One access at a time, 2 cycles and what the block takes.
  */
class BarDecode(p: DmaParam) extends Component {
  val io = new Bundle {
    val access = slave(Stream(BarAccess()))
    val csr, doorbells, mailbox, reset, msix = master(RegPort())
    val value = master(Stream(Bits(32 bits)))
  }

  case class Placed() extends Bundle {
    val access = BarAccess()
    val place = Bits(5 bits) // one of the ports, or none
  }

  val mailboxAt = (BarDecode.pfMailbox, BarDecode.vfMailbox)
  val taken = io.access.m2sPipe()
  val isPf = taken.function < DmaParam.firstVf
  private def within(from: Int, to: Int): Bool = taken.offset >= from && taken.offset < to
  val placed = taken
    .translateWith {
      val it = Placed()
      val inMailbox = isPf ?
        within(BarDecode.pfMailbox, BarDecode.pfMailbox + 0x1100) | within(
          BarDecode.vfMailbox,
          BarDecode.vfMailbox + 0xc80
        )
      val fromMailbox = taken.offset - (isPf ? U(BarDecode.pfMailbox, 18 bits) | U(BarDecode.vfMailbox, 18 bits))
      val isReset = fromMailbox === BarDecode.mailboxReset
      val inTable = isPf ? within(MsixTable.pfTable, MsixTable.pfTable + 16 * p.vectors) | within(
        MsixTable.vfTable,
        MsixTable.vfTable + 16 * p.vectors
      )
      val isPending = isPf ? within(MsixTable.pfPending, MsixTable.pfPending + MsixTable.pendingBytes) | within(
        MsixTable.vfPending,
        MsixTable.vfPending + MsixTable.pendingBytes
      )
      it.access := taken.payload
      when(inMailbox)(it.access.offset := fromMailbox)
      when(inTable)(it.access.offset := taken.offset(10 downto 0).resized)
      when(isPending)(it.access.offset := taken.offset(10 downto 0).resize(18 bits) + MsixTable.pendingAt)
      it.place(0) := isPf && taken.offset < CsrTable.bytes
      it.place(1) := isPf ? within(0x18000, 0x20000) | within(0x3000, 0x4000)
      it.place(2) := inMailbox && !isReset
      it.place(3) := inMailbox && isReset
      it.place(4) := inTable || isPending
      it
    }
    .m2sPipe()

  val ports = Seq(io.csr, io.doorbells, io.mailbox, io.reset, io.msix)
  val answer = Stream(Bits(32 bits))
  io.value << answer.m2sPipe()
  val goes = placed.valid && (placed.access.write || answer.ready)
  for ((port, i) <- ports.zipWithIndex) {
    port.access.valid := goes && placed.place(i)
    port.access.payload := placed.access
  }
  val done = ports.zipWithIndex.map { case (port, i) => port.access.ready && placed.place(i) }.orR || placed.place === 0
  placed.ready := goes && done
  answer.valid := goes && done && !placed.access.write
  answer.payload := ports.zipWithIndex
    .map { case (port, i) => port.value.andMask(placed.place(i)) }
    .reduceBalancedTree(_ | _)
}

object BarDecode {
  val pfMailbox = 0x22400
  val vfMailbox = 0x5000
  val mailboxReset = 0x100 // in the mailbox
}
