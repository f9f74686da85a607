// SPDX-License-Identifier: Apache-2.0
package meridian.settings

import spinal.core._
import spinal.lib._

/** The flag of a port, out of one a port; False for a port that does not exist. */
object PerPort {
  def apply(flags: scala.collection.Seq[Bool], port: UInt): Bool =
    flags.zipWithIndex.map { case (flag, i) => flag && port === i }.orR
}
