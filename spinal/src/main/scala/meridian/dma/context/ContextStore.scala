// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.DmaParam
import meridian.dma.c2h.PrefetchWrite
import spinal.core._
import spinal.lib._

/** The contexts of all kinds, a memory each, and one row of each at a time.
  *
  * Rows are there 2 cycles after their address; a kind that has no such row gives zeros and takes no write. A write goes to
  * the address of the cycle: either the row given, or the one read with some of its bits taken away. After reset `busy`
  * holds until every row is zero, as many cycles as the largest kind has rows.
  */
class ContextStore(p: DmaParam) extends Component {
  val kinds = ContextKind.all(p)

  val io = new Bundle {
    val index = in UInt (13 bits) // steady until the rows are there, and for the write
    val rows = out Vec (Bits(256 bits), kinds.size)
    val write = in Bits (kinds.size bits)
    val invalidate = in Bool ()
    val row = in Bits (256 bits)
    val busy = out Bool ()
    val map = master(Flow(FunctionMapWrite()))
    val prefetch = master(Flow(PrefetchWrite()))
  }

  val filled = RegInit(U(0, log2Up(p.queues max DmaParam.rings) + 1 bits))
  io.busy := !filled.msb
  when(io.busy)(filled := filled + 1)

  for ((kind, i) <- kinds.zipWithIndex) {
    val width = 32 * kind.words
    val memory = Mem(Bits(width bits), kind.rows).setName(s"${kind.name}Rows")
    val bits = log2Up(kind.rows)
    val present = RegNext(io.index < kind.rows)
    val row = RegNext(memory.readSync(io.index(bits - 1 downto 0)))
    io.rows(i) := (RegNext(present) ? row | B(0, width bits)).resized
    def without(from: Bits, some: Seq[Int]): Bits = {
      val mask = some.foldLeft((BigInt(1) << width) - 1)((m, bit) => m.clearBit(bit))
      from & B(mask, width bits)
    }
    val written = io.invalidate ? without(row, kind.valid) | io.row(width - 1 downto 0)
    val kept = io.busy ? B(0, width bits) | without(written, kind.engines)
    val writes = io.busy || (io.write(i) && present)
    memory.write(
      address = io.busy ? filled(bits - 1 downto 0) | io.index(bits - 1 downto 0),
      data = kept,
      enable = writes
    )
    if (i == ContextKind.map) {
      io.map.valid := writes
      io.map.function := io.busy ? filled(7 downto 0) | io.index(7 downto 0)
      io.map.base := kept(ContextKind.mapBase._1, ContextKind.mapBase._2 bits).asUInt
      io.map.count := kept(ContextKind.mapCount._1, ContextKind.mapCount._2 bits).asUInt
    }
    if (i == ContextKind.prefetch) {
      io.prefetch.valid := writes
      io.prefetch.payload.queue := (io.busy ? filled(bits - 1 downto 0) | io.index(bits - 1 downto 0)).resized
      io.prefetch.context.valid := kept(ContextKind.prefetchValid)
      io.prefetch.context.size := kept(ContextKind.prefetchSize._1, ContextKind.prefetchSize._2 bits).asUInt
    }
  }
}
