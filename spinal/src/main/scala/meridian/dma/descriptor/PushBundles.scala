// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** The window of pushed frames, BAR4 of a function: 512 bytes for each of its queues, by the number that the function has
  * for it. A frame is at byte 0. Its header is the 8 bytes at 256: metadata as in a descriptor at bits 31:0, length in bytes
  * at 47:32, the ring's index of the descriptor that is the same frame at 63:48. What is beyond is not looked at.
  *
  * Everything is written in words of 8 bytes, in any order and any pieces; what is written in parts of a word does not count.
  */
object PushWindow {
  val queueBytes = 512
  val longest = 256 // bytes of a frame
  val headerAt = 256
  val pfBytes = 0x40000
  val vfBytes = 0x8000
  val words = longest / 8
  def slotType(p: DmaParam) = UInt(log2Up(p.pushSlots) bits)
}

/** What has come of a write to the window. */
case class PushChunk() extends Bundle {
  val function = DmaParam.functionType()
  val place = UInt(15 bits) // of its first word in the window
  val words = Vec(Bits(64 bits), 4)
  val whole = Bits(4 bits) // these are there, with all bytes
}

/** The frame of a header. */
case class PushHeader() extends Bundle {
  val metadata = Bits(32 bits)
  val length = UInt(16 bits)
  val index = UInt(16 bits) // in the ring
}

/** What there is of a queue whose doorbell is looked at. */
case class PushOffer(p: DmaParam) extends Bundle {
  val complete = Bool() // header and all bytes of a frame
  val slot = PushWindow.slotType(p)
  val index = UInt(16 bits) // of the frame in the ring
}

/** A frame that is to be sent from a slot. */
case class PushStart(p: DmaParam) extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val slot = PushWindow.slotType(p)
}

/** A slot, kept for a queue (of all) that has no credit yet. */
case class PushKeep(p: DmaParam) extends Bundle {
  val queue = DmaParam.queueType()
  val slot = PushWindow.slotType(p)
}

/** What FetchEngine decides of slots. */
case class PushPort(p: DmaParam) extends Bundle with IMasterSlave {
  val offer = PushOffer(p) // of the doorbell's queue
  val keep = Flow(PushKeep(p)) // with the doorbell
  val kept = PushKeep(p)
  val isKept = Bool() // the slot is still this queue's, and as it was
  val claims = Bool() // what `kept` asks for is being decided, and the slot is not to change

  override def asMaster(): Unit = {
    master(keep)
    out(kept, claims)
    in(offer, isKept)
  }
}
