// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import spinal.core._

/** Every choice a DMA engine is built from. Functions are numbered as PG213 and PG302 have it: PFs 0 to 3, VFs from 4 on.
  *
  * @param pfs          physical functions, 4: no test has fewer
  * @param vfs          virtual functions of each PF, in the order of their numbers
  * @param queues       contexts of each kind
  * @param vectors      of each function's MSI-X table, at least as many as the block is set to
  * @param eqdma4       the version registers name EQDMA 4.0 instead of 5.0
  * @param readTimeOut  cycles; a read without an answer is given up after two thirds of them or more, which have to last
  *                     longer than the block's own time-out of 50 ms
  * @param extendedTags tags above 31 are used, too, so that more reads are under way: the host has to have set Extended Tag
  *                     Enable of each PF before it lets the PF or one of its VFs access memory
  * @param userInterrupts  there are ports for interrupts that the shell asks for
  * @param memory       queues may be memory-mapped, onto memory at an AXI4 master
  * @param commands     the card's own logic may read and write host memory, by queues that are for its commands
  * @param toldVectors  what the block tells the host of each function's MSI-X table, as a board's build sets it
  * @param pushSlots    frames that the host has written into the card and not yet sent, a power of two; 0: there is no
  *                     window for such frames
  * @param firstVfDone  number of the first VF on cfg_vf_flr_func_num, 4 as in requests, or 0
  */
case class DmaParam(
    pfs: Int = 4,
    vfs: Seq[Int] = Seq(8, 8, 8, 8),
    queues: Int = 512,
    vectors: Int = 16,
    eqdma4: Boolean = false,
    readTimeOut: Int = 20000000,
    extendedTags: Boolean = false,
    userInterrupts: Boolean = false,
    toldVectors: Int = 8,
    pushSlots: Int = 8,
    firstVfDone: Int = DmaParam.firstVf,
    memory: Boolean = false,
    commands: Boolean = false
) {
  require(pfs == 4, s"pfs is $pfs: choose 4, as nothing else was tested; a PF may be left unused")
  require(Set(0, DmaParam.firstVf)(firstVfDone), s"firstVfDone is $firstVfDone: choose 0 or ${DmaParam.firstVf}")
  require(vfs.size == pfs, s"there are VFs of ${vfs.size} PFs: name as many as there are PFs, $pfs")
  require(
    vfs.forall(_ >= 0) && vfs.sum <= DmaParam.maxVfs,
    s"there are ${vfs.sum} VFs: choose at most ${DmaParam.maxVfs}"
  )
  require(isPow2(vectors) && vectors >= 2 && vectors <= 32, s"vectors is $vectors: choose a power of two, 2 to 32")
  require(toldVectors <= vectors, s"toldVectors is $toldVectors: choose at most the table's, $vectors")
  require(
    pushSlots == 0 || isPow2(pushSlots) && pushSlots >= 2 && pushSlots <= 64,
    s"pushSlots is $pushSlots: choose 0 or a power of two, 2 to 64"
  )
  require(
    !(memory && commands) || extendedTags,
    "memory-mapped queues and commands of the card's own logic have too few tags together: choose extended tags, too"
  )
  require(isPow2(queues) && queues >= 16 && queues <= 2048, s"queues is $queues: choose a power of two, 16 to 2048")

  /** Tags of reads by what they are for; together 32, or as many as frames of 64 bytes need at 45 million a second if a
    * read takes 1 us: 45 of payload, and the next power of two. Those of memory-mapped queues, of commands and of C2H follow.
    */
  def descriptorTags: Int = if ((memory || commands) && !extendedTags) 4 else 8
  def payloadTags: Int = if (extendedTags) 64 else 16
  def memoryTags: Int = if (!memory) 0 else if (extendedTags) 8 else 4
  def commandTags: Int = if (!commands) 0 else if (extendedTags) 64 else 4

  /** One more than the highest number of a function. */
  def functions: Int = DmaParam.firstVf + vfs.sum

  /** Numbers of a PF's VFs. */
  def vfsOf(pf: Int): Range = {
    val first = DmaParam.firstVf + vfs.take(pf).sum
    first until first + vfs(pf)
  }
  def isVfOf(pf: Int, function: UInt): Bool =
    if (vfs(pf) == 0) False else function >= vfsOf(pf).head && function <= vfsOf(pf).last

  /** Such a number is one of a queue, or may be one of a function; all that the number has bits for may be. */
  def hasQueue(queue: UInt): Bool = DmaParam.isBelow(queue, queues)
  def hasFunction(function: UInt): Bool = DmaParam.isBelow(function, functions)

  /** There is such a function. */
  def exists(function: UInt): Bool = function < pfs || (function >= DmaParam.firstVf && hasFunction(function))
  def exists(function: Int): Boolean = function < pfs || (function >= DmaParam.firstVf && function < functions)

  /** The PF of a VF as a bit each; nothing for other numbers. */
  def parent(function: UInt): Bits = Vec((0 until pfs).map(isVfOf(_, function))).asBits
}

object DmaParam {
  val firstVf = 4
  val maxVfs = 252
  val rings = 256 // of interrupts
  val mapped = 256 // functions in the function map
  def functionType() = UInt(8 bits)
  def queueType() = UInt(11 bits)
  private def isBelow(number: UInt, limit: Int): Bool = if (limit >> widthOf(number) > 0) True else number < limit
}
