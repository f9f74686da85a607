// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.dma.{BridgePort, DmaParam, HostAccess, RegPort}
import meridian.dma.context.CsrTable
import meridian.dma.interrupt.MsixTable
import spinal.core._
import spinal.lib._

/** Sends each access to the block that has the place in BAR0, or to the bridge to BAR2, and the values of reads on. What is
  * nowhere reads 0 and takes no write. One access at a time, 2 cycles and what the block takes.
  */
class BarDecode(p: DmaParam) extends Component {
  val io = new Bundle {
    val access = slave(Stream(HostAccess()))
    val csr, doorbells, mailbox, reset, msix = master(RegPort())
    val bar2 = master(BridgePort())
    val value = master(Stream(Bits(32 bits)))
    val busy = out Bool () // an access has been taken and is not done
  }

  case class Placed() extends Bundle {
    val access = HostAccess()
    val place = Bits(6 bits) // one of the ports, or none
  }

  val mailboxAt = (BarDecode.pfMailbox, BarDecode.vfMailbox)
  val asked = io.access.m2sPipe()
  val taken = asked.access
  val isPf = taken.function < DmaParam.firstVf
  private def within(from: Int, to: Int): Bool = taken.offset >= from && taken.offset < to
  val placed = asked
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
      it.access := asked.payload
      val offset = it.access.access.offset
      when(inMailbox)(offset := fromMailbox)
      when(inTable)(offset := taken.offset(10 downto 0).resized)
      when(isPending)(offset := taken.offset(10 downto 0).resize(18 bits) + MsixTable.pendingAt)
      it.place(0) := isPf && taken.offset < CsrTable.bytes
      it.place(1) := isPf ? within(0x18000, 0x20000) | within(0x3000, 0x4000)
      it.place(2) := inMailbox && !isReset
      it.place(3) := inMailbox && isReset
      it.place(4) := inTable || isPending
      it.place(5) := False
      when(asked.isBar2) {
        it.access := asked.payload
        it.place := B(1 << 5, 6 bits)
      }
      it
    }
    .m2sPipe()

  io.busy := asked.valid || placed.valid
  val ports = Seq(io.csr, io.doorbells, io.mailbox, io.reset, io.msix)
  val answer = Stream(Bits(32 bits))
  io.value << answer.m2sPipe()
  val write = placed.access.write
  val goes = placed.valid && (write || answer.ready)
  for ((port, i) <- ports.zipWithIndex) {
    port.access.valid := goes && placed.place(i)
    port.access.payload := placed.access.access
  }
  io.bar2.access.valid := goes && placed.place(5)
  io.bar2.access.payload := placed.access
  val readies = ports.map(_.access.ready) :+ io.bar2.access.ready
  val done = readies.zipWithIndex.map { case (ready, i) => ready && placed.place(i) }.orR || placed.place === 0
  placed.ready := goes && done
  answer.valid := goes && done && !write
  answer.payload := (ports.map(_.value) :+ io.bar2.value).zipWithIndex
    .map { case (value, i) => value.andMask(placed.place(i)) }
    .reduceBalancedTree(_ | _)
}

object BarDecode {
  val pfMailbox = 0x22400
  val vfMailbox = 0x5000
  val mailboxReset = 0x100 // in the mailbox
}
