// SPDX-License-Identifier: Apache-2.0
package meridian.dma.descriptor

import spinal.core._
import spinal.lib._

/** The queue of the first of several events that is there, which a chain of multiplexers would find in a level for each. */
object FirstOf {

  /** Zero if none is there.
    *
    * @param from the events, the first of which goes before the others: whether it is there, and its queue
    */
  def apply(from: Seq[(Bool, UInt)], width: BitCount): UInt =
    from.zipWithIndex
      .map { case ((isThere, queue), i) => queue.resize(width).andMask(from.take(i).foldLeft(isThere)(_ && !_._1)) }
      .reduceBalancedTree(_ | _)
}
