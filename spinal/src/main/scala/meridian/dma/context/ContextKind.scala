// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.DmaParam

/** A kind of context as the command register selects it.
  *
  * @param words    of 32 bit
  * @param rows     contexts of the kind
  * @param valid    bits that an invalidation takes away
  * @param engines  bits of the engines, that every command but a read takes away
  */
case class ContextKind(name: String, select: Int, words: Int, rows: Int, valid: Seq[Int] = Nil, engines: Seq[Int] = Nil)

object ContextKind {
  private def bit(word: Int, low: Int) = 32 * word + low

  /** Bits of contexts that more than one place looks at: the lowest one, and how many. */
  val swFunction = (bit(0, 17), 12)
  val swEnable = bit(1, 0)
  val completionFunction = (bit(0, 5), 12)
  val completionValid = bit(3, 28)
  val completionTimer = bit(4, 0)
  val prefetchValid = bit(1, 13)
  val prefetchSize = (bit(0, 1), 4)
  val ringFunction = (bit(3, 18), 12)
  val ringValid = bit(0, 0)
  val mapBase = (bit(0, 0), 11)
  val mapCount = (bit(1, 0), 12)

  // Places in the list below.
  val swC2h = 0
  val swH2c = 1
  val hwC2h = 2
  val hwH2c = 3
  val creditH2c = 5
  val completion = 6
  val prefetch = 7
  val ring = 8
  val map = 9

  def all(p: DmaParam): Seq[ContextKind] = Seq(
    ContextKind("swC2h", 0, 8, p.queues, Seq(swEnable)),
    ContextKind("swH2c", 1, 8, p.queues, Seq(swEnable)),
    ContextKind("hwC2h", 2, 2, p.queues),
    ContextKind("hwH2c", 3, 2, p.queues),
    ContextKind("creditC2h", 4, 1, p.queues),
    ContextKind("creditH2c", 5, 1, p.queues),
    ContextKind("completion", 6, 7, p.queues, Seq(completionValid), Seq(completionTimer)),
    ContextKind("prefetch", 7, 2, p.queues, Seq(prefetchValid)),
    ContextKind("ring", 8, 4, DmaParam.rings, Seq(ringValid)),
    ContextKind("map", 0xc, 2, DmaParam.mapped, (0 until mapCount._2).map(mapCount._1 + _))
  )

  val clear = 0
  val write = 1
  val read = 2
  val invalidate = 3
}
