// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import spinal.core._

/** A beat from the MAC with its bytes counted. */
case class RxBeat() extends Bundle {
  val data = Bits(64 bits)
  val count = UInt(4 bits) // bytes of the frame: 8 in all but the last beat
  val last = Bool()
  val error = Bool() // with last: the MAC calls the frame bad
}
