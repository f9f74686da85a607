// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import scala.collection.mutable

/** The golden model of PortScheduler: frames of a port leave in this order, if all that wait are known. */
class SchedulerModel(classes: Int, groups: Int) {
  private val credit = Array.fill(classes)(0)
  private val groupCredit = Array.fill(classes, groups)(0)
  private val lists = Array.fill(classes, groups)(mutable.Queue[PoolSent]())

  def add(frame: PoolSent): Unit = lists(frame.trafficClass)(frame.group) += frame
  def isEmpty: Boolean = lists.forall(_.forall(_.isEmpty))

  def next(strict: Int, weights: Seq[Int], blocked: Int = 0, urgent: Int = 0): PoolSent = {
    val waiting = (0 until classes).filter(c => lists(c).exists(_.nonEmpty) && (blocked >> c & 1) == 0)
    val first = waiting.filter(c => (urgent >> c & 1) == 1).maxOption
    val (firm, others) = waiting.partition(c => (strict >> c & 1) == 1)
    val weighted = others.filter(weights(_) != 0)
    val sharing = if (weighted.nonEmpty) weighted else others
    val free = first.orElse(firm.maxOption)
    val c = free.getOrElse {
      while (!sharing.exists(credit(_) > 0))
        for (c <- sharing) credit(c) += PortScheduler.unit * (if (weighted.nonEmpty) weights(c) else 1)
      sharing.filter(credit(_) > 0).max
    }
    val some = (0 until groups).filter(lists(c)(_).nonEmpty)
    while (!some.exists(groupCredit(c)(_) > 0)) for (g <- some) groupCredit(c)(g) += PortScheduler.quantum
    val g = some.filter(groupCredit(c)(_) > 0).min
    val frame = lists(c)(g).dequeue()
    if (free.isEmpty) credit(c) -= frame.length
    groupCredit(c)(g) -= frame.length
    frame
  }
}
