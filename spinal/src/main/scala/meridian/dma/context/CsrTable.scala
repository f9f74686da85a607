// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.DmaParam

/** The words of a PF's first 8 KiB, from which [[Csr]] is made. Whatever is not named here keeps what is written to it and
  * is 0 after reset, as the IP's tables and settings are. Names are those of the public drivers.
  */
object CsrTable {
  val bytes = 0x2000

  /** @param reset  its value after reset, and for ever if software cannot write it */
  case class Word(offset: Int, name: String, reset: Long = 0, written: Boolean = true)

  private def constant(offset: Int, name: String, value: Long = 0) = Word(offset, name, value, written = false)

  /** A field of 6 bits for each PF, a bitmap of BARs. */
  private def bars(p: DmaParam, bar: Int): Long = (0 until p.pfs).map(pf => (1L << bar) << 6 * pf).sum

  val timerTickAtReset = 25

  /** H2C and C2H, of streams alone or of memory-mapped queues, too. */
  private def channels(p: DmaParam): Long = if (p.memory) 0x30101L else 0x30000L

  def words(p: DmaParam): Seq[Word] = Seq(
    constant(0x000, "CFG_BLK_IDENTIFIER", 0x1fd30000L),
    constant(0x014, "CFG_BLK_MSIX_ENABLE"),
    constant(0x020, "CFG_BLK_MSI_ENABLE"),
    constant(0x0e4, "RAM_SBE_STS_1"),
    constant(0x0ec, "RAM_DBE_STS_1"),
    constant(0x0f4, "RAM_SBE_STS"),
    constant(0x0fc, "RAM_DBE_STS"),
    constant(0x100, "GLBL2_IDENTIFIER", 0x1fd70000L),
    constant(0x104, "GLBL2_PF_BARLITE_INT", bars(p, 0)),
    constant(0x108, "GLBL2_PF_VF_BARLITE_INT", bars(p, 0)),
    constant(0x10c, "GLBL2_PF_BARLITE_EXT", bars(p, 2)),
    constant(0x110, "GLBL2_PF_VF_BARLITE_EXT", bars(p, 2)),
    constant(0x114, "GLBL2_CHANNEL_INST", channels(p)),
    constant(0x118, "GLBL2_CHANNEL_MDMA", channels(p)),
    constant(0x11c, "GLBL2_CHANNEL_STRM", channels(p)),
    constant(0x120, "GLBL2_CHANNEL_CAP", p.queues),
    constant(0x124, "reserved"),
    constant(0x128, "GLBL2_CHANNEL_PASID_CAP"),
    constant(0x130, "GLBL2_SYSTEM_ID"),
    constant(0x134, "GLBL2_MISC_CAP", if (p.eqdma4) 0x01100003L else 0x02200003L),
    constant(0x318, "REQ_ERR_STS"),
    Word(timerTick, "C2H_INT_TIMER_TICK", timerTickAtReset),
    Word(0xbc4, "C2H_CMPT_FORMAT_0", 0x00020001L),
    constant(0xbe0, "C2H_PFCH_CACHE_DEPTH", 64),
    constant(0xbe4, "C2H_WRB_COAL_BUF_DEPTH", 32),
    constant(0x1014, "old VF_VERSION"),
    constant(0x1040, "C2H_MM_STATUS"),
    constant(0x1240, "H2C_MM_STATUS")
  ) ++ (0xa88 to 0xaac by 4).map(constant(_, "C2H_STAT"))

  val functionNumber = 0x12c // of who asks
  val ringSizes = 0x204 // 16 words
  val descriptorConfig = 0x250 // bits 2:0: frames between two status entries, 4 times two to the power of it
  val timers = 0xa00 // 16 words, of ticks
  val thresholds = 0xa40 // 16 words
  val bufferSizes = 0xab0 // 16 words
  val timerTick = 0xb0c // cycles
  val contextData = 0x804 // 8 words
  val contextMask = 0x824 // 8 words
  val contextCommand = 0x844

  /** Version and user BAR that a VF finds in its mailbox. */
  def vfVersion(p: DmaParam): Long = if (p.eqdma4) 0x1fd30110L else 0x1fd30220L
  val vfUserBar = 0x00104104L
}
