// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import spinal.core._

/** What is kept of a function between two looks at it. */
case class FunctionAccount(levelBits: Int, quietBits: Int, hasDebt: Boolean) extends Bundle {
  val most, least = SInt(levelBits bits) // levels of the buckets of its maximum and minimum
  val frames = UInt(Arrived.framesBits bits) // that had come
  val bytes = UInt(Arrived.bytesBits bits)
  val outstanding = UInt(8 bits) // descriptors granted whose frames have not come
  val quiet = UInt(quietBits bits) // refills since a frame came, while some were outstanding
  val debt = hasDebt generate UInt(FunctionAccount.debtBits bits) // KiB that it was granted beyond its turns
}

object FunctionAccount {

  /** KiB of a turn. */
  val turn = 8

  /** A turn is granted while the debt is less than a turn, and makes it longer by a frame of 65,535 bytes at most. */
  val debtBits = 7
}
