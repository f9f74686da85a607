// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._
import spinal.lib._

/** One beat of a frame: byte 0 of the wire in data(7 downto 0). Streams of frames are Stream(Fragment(FrameWord)).
  *
  * @param bytes    bytes in a beat
  * @param metaType what is known of the whole frame; constant from its first beat to its last
  */
case class FrameWord[M <: Data](bytes: Int, metaType: HardType[M]) extends Bundle {
  val data = Bits(8 * bytes bits)

  /** Bytes of this beat that are not of the frame, counted from the top; not 0 only with last. */
  val mty = UInt(log2Up(bytes) bits)
  val meta = metaType()
}

object FrameStream {
  def apply[M <: Data](bytes: Int, metaType: HardType[M]) = Stream(Fragment(FrameWord(bytes, metaType)))
}
