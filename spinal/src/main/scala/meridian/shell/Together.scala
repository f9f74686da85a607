// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.egress.pool.PoolParam

/** What a shell can have together. */
object Together {

  /** The same parameters, if a shell can have all of them. Raises IllegalArgumentException with a sentence. */
  def apply(p: ShellParam): ShellParam = {
    import p._
    require(
      !egress || box.isEmpty && hostBox.isEmpty,
      "a shell with a user's module has no egress queues: leave one of the two out"
    )
    require(!pool || egress, "a pool is a kind of egress queues: set egress, too")
    require(!pool || !selfTest, "a shell with a pool has no self-test: leave one of the two out")
    require(
      !pool || !segmentation,
      "a pool has no room for all segments of a frame at once: leave one of the two out"
    )
    if (pool) PoolParam.ofShell(p)
    require(
      vfs.isEmpty || ownDma || selfTest,
      "VFs of each PF are named to the QDMA IP itself: choose the DMA engine meridian, too, or the self-test"
    )
    require(
      !extendedTags || ownDma,
      "the QDMA IP has tags of its own: choose the DMA engine meridian for extended ones"
    )
    require(
      !memory || ownDma,
      "memory-mapped queues need the DMA engine of our own: choose the DMA engine meridian, too"
    )
    require(
      !commands || ownDma,
      "a module that reads or writes host memory needs the DMA engine of our own: choose the DMA engine meridian, too"
    )
    require(
      vfs.isEmpty || vfs.size == pfs && vfs.forall(_ >= 0) && pfs + vfs.sum == functions,
      s"vfs is ${vfs.mkString(",")}: name those of $pfs PFs, ${functions - pfs} together"
    )
    if (ownDma) {
      require(
        hostBytes == 32 && hostMhz == 250,
        s"the DMA engine meridian has 256 bit at 250 MHz: choose hostBytes 32 and hostMhz 250"
      )
      dmaParam
    }
    p
  }
}
