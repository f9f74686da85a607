// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** A beat of requester requests (PG213, s_axis_rq): 256 bit, aligned to double words, no straddling. */
case class RqBeat() extends Bundle {
  val data = Bits(256 bits)
  val keep = Bits(8 bits) // of double words
  val firstBe, lastBe = Bits(4 bits) // tuser 7:0; its other bits are 0
}

/** A beat of requester completions (PG213, m_axis_rc): 256 bit, aligned to double words, no straddling. */
case class RcBeat() extends Bundle {
  val data = Bits(256 bits)
  val keep = Bits(8 bits)
  val user = Bits(75 bits)

  def discontinue: Bool = user(42)
}

/** Fields of a completion's first 96 bits (PG213, "Requester Completion Descriptor Format"). */
case class CompletionDescriptor(bits: Bits) {
  def errorCode: Bits = bits(15 downto 12)
  def byteCount: UInt = bits(28 downto 16).asUInt // still to come, with those in this completion
  def requestCompleted: Bool = bits(30) // the tag is free
  def status: Bits = bits(45 downto 43)
  def poisoned: Bool = bits(46)
  def tag: UInt = bits(71 downto 64).asUInt

  /** The data cannot be used, or there are none. */
  def failed: Bool = errorCode =/= 0 || status =/= 0 || poisoned
}

object CompletionDescriptor {
  val noSuchTag = 6
  val reset = 8 // the function's reset has ended the request
  val timeOut = 9
}

/** A request of one beat, which is all that reads and short writes need. */
case class RqRequest() extends Bundle {
  val function = DmaParam.functionType()
  val address = UInt(64 bits) // of the first double word, bits 1:0 are not looked at
  val dwords = UInt(11 bits)
  val write = Bool()
  val tag = UInt(8 bits)
  val firstBe, lastBe = Bits(4 bits)
  val data = Bits(128 bits) // of a write, up to 4 double words

  /** Its beat. Tags are the engine's own, and the block fills in the bus number (PG213, "Requester Request Descriptor
    * Formats").
    */
  def beat: Fragment[RqBeat] = {
    val out = Fragment(RqBeat())
    val kind = write ? B(RequestKind.memoryWrite, 4 bits) | B(RequestKind.memoryRead, 4 bits)
    val descriptor = B(0, 24 bits) ## tag ## B(0, 8 bits) ## function ## B(0, 1 bits) ## kind ## dwords ##
      address(63 downto 2) ## B(0, 2 bits)
    out.data := data ## descriptor
    for (i <- 0 until 8) out.keep(i) := (if (i < 4) True else write && dwords > i - 4)
    out.firstBe := firstBe
    out.lastBe := lastBe
    out.last := True
    out
  }
}
