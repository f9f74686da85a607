// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.page.{CounterHighs, CounterReader, PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._

object HostEvents {
  val place = PagePlace(
    "HOST_EVENTS",
    0x112000,
    RegView.pf,
    "Counters of the host side as a whole, and of accesses by BAR2"
  )

  val names = Seq(
    "c2h_drop" -> "frames that the DMA engine dropped after the shell had handed them over",
    "c2h_error" -> "frames that the DMA engine ended with an error",
    "reset_timeout" -> "function level resets that were ended by their time-out",
    "vf_write_refused" -> "writes by VFs: ignored, answered OKAY",
    "write_refused" -> "writes refused for their value, or by the card since only the PS may do them",
    "partial_write" -> "writes that were not of a whole word: refused",
    "unmapped" -> "accesses to Meridian's space where no register is: reads give 0",
    "card_timeout" -> "accesses to the card's bank that its clock did not answer in time"
  )
}

/** 64-bit counters of single events (host clock). The low word's read holds the high word, for each PF apart.
  *
  * Latency: 1 cycle a register access. One event of each kind a cycle.
  */
class HostEvents(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val c2hDrop, c2hError, resetTimeout, vfWriteRefused, writeRefused, partialWrite, unmapped, cardTimeout = in Bool ()
  }
  val page = new RegPage(HostEvents.place)
  page.attach(io.bus)
  val events = Seq(
    io.c2hDrop,
    io.c2hError,
    io.resetTimeout,
    io.vfWriteRefused,
    io.writeRefused,
    io.partialWrite,
    io.unmapped,
    io.cardTimeout
  )
  val counts = Vec.fill(events.size)(Reg(UInt(64 bits)) init 0)
  val highs = new CounterHighs(CounterReader.of(io.bus.cmd.payload))
  for (((event, (name, doc)), i) <- events.zip(HostEvents.names).zipWithIndex) {
    val count = counts(i)
    count := count + U(event)
    val lowWord = page.reg(8 * i, s"${name}_low", s"$doc; low word, to be read first")
    page.show(lowWord, 0, "count", count(31 downto 0).asBits, "bits 31 to 0")
    page.word(
      8 * i + 4,
      s"${name}_high",
      highs.of(lowWord, count),
      s"$doc; high word as of the same reader's read of the low word just before"
    )
  }
}
