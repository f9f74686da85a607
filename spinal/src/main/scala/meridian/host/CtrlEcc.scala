// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.qdma.C2hPins
import spinal.core._
import spinal.lib._

/** The seven check bits the QDMA IP wants beside the control fields of a C2H frame: an extended Hamming code over 57
  * bits. Data bits fill the code positions 1 to 63 that are no power of two, in rising order; check bit i makes the
  * parity of the positions with bit i set even; check bit 6 makes the parity of all 63 positions and itself even.
  *
  * The IP's own polynomial is not public. It reports a mismatch in its error registers and does not stop the stream;
  * the Vivado wrapper may put the vendor's ecc core (Encoder, 57 data bits, 7 check bits) in this place.
  *
  * No registers: at most three LUT6 levels, as half of the 57 bits are constant.
  */
object CtrlEcc {
  private val positions = (1 to 63).filterNot(n => isPow2(n))
  require(positions.size == 57)

  /** The input of the code, as the vendor's encoder wants it. */
  def word(pins: C2hPins): Bits =
    (pins.ctrl_has_cmpt ## pins.ctrl_marker ## pins.ctrl_port_id ## False ## pins.ctrl_qid ## pins.ctrl_len).resize(57)

  def apply(data: Bits): Bits = {
    require(widthOf(data) == 57, s"the control code is over 57 bits, not ${widthOf(data)}")
    val check = (0 until 6).map(i => (0 until 57).filter(k => (positions(k) & (1 << i)) != 0).map(data(_)).xorR)
    // Flattened, the parity over data and check bits is that of the data bits found in an even number of check bits.
    val even = (0 until 57).filter(k => Integer.bitCount(positions(k)) % 2 == 0)
    even.map(data(_)).xorR ## check.reverse.map(_.asBits).reduce(_ ## _)
  }
}
