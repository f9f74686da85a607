// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._

/** Gray code to binary, every bit by a tree of its own: the depth grows with the logarithm of the width, where a ripple
  * of one XOR a bit would be too long for the MAC's clocks.
  */
object GrayDecode {
  def apply(gray: Bits): UInt = {
    val bits = (0 until gray.getWidth).map(i => gray(gray.getWidth - 1 downto i).xorR)
    Vec(bits).asBits.asUInt
  }
}
