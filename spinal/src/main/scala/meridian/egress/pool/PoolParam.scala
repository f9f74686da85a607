// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.ShellParam
import meridian.frame.FrameStream
import spinal.core._
import spinal.lib._

/** Sizes of a pool of cells, in which the frames of all ports wait.
  *
  * @param ports     ports that share it
  * @param hostBytes bytes in a beat
  * @param cells     cells, a power of two
  * @param cellBytes bytes in a cell
  * @param classes   traffic classes of a port
  * @param groups    groups of functions in a class
  * @param reserve   cells a port that only frames of paced queues get, which get no others
  * @param minimum   cells of a port and class that other frames get whatever is used elsewhere
  * @param maxFrame  bytes of the largest frame
  * @param ahead     beats in the port's buffer from which on it gets no other frame
  * @param slack     cells by which what is known of their use may be late
  */
case class PoolParam(
    ports: Int,
    hostBytes: Int,
    cells: Int,
    cellBytes: Int,
    classes: Int,
    groups: Int,
    reserve: Int,
    minimum: Int,
    maxFrame: Int,
    ahead: Int,
    slack: Int = 4
) {
  require(isPow2(cells) && cells >= 4, s"cells is $cells: choose a power of two from 4 on")
  val words = cellBytes / hostBytes
  require(isPow2(words) && words >= 2, s"a cell has $words beats: choose a power of two from 2 on")

  /** Cells of the largest frame. */
  val frameCells = (maxFrame + cellBytes - 1) / cellBytes

  /** Cells that all classes of all ports share. */
  val shared = cells - ports * (reserve + classes * minimum) - slack
  require(
    shared > 0,
    s"$cells cells hold less than the reserves: choose more of them, or fewer than $reserve a port and $minimum a class"
  )
  require(
    reserve >= frameCells + slack,
    s"a reserve of $reserve cells does not hold a frame of $maxFrame bytes: choose ${frameCells + slack} or more"
  )

  def cellType() = UInt(log2Up(cells) bits)
  def countType() = UInt(log2Up(cells + 1) bits)
  def portType() = UInt(log2Up(ports) max 1 bits)
  def classType() = UInt(log2Up(classes) bits)
  def groupType() = UInt(log2Up(groups) bits)
  def listType() = UInt(log2Up(classes) + log2Up(groups) bits)
  def lengthType() = UInt(16 bits)
  def mtyType() = UInt(log2Up(hostBytes) bits)
  val lists = classes * groups
}

object PoolParam {
  val cellBytes = 256
  val classes = 8
  val groups = 8

  /** Bytes in the port's buffer from which on it gets no other frame: what goes to the line while one of 1.5 KB is chosen,
    * read and brought to its clock. Longer frames leave gaps.
    */
  val aheadBytes = 2048

  /** Of one a port, that of a port. */
  def of[T <: Data](each: scala.collection.Seq[T], port: UInt): T =
    if (each.size == 1) each.head else Vec(each)(port.resize(log2Up(each.size)))

  /** For a shell.
    *
    * @param bytes memory of all cells, a power of two
    */
  def ofShell(p: ShellParam, bytes: Int = 512 * 1024): PoolParam = {
    val cells = bytes / cellBytes
    // The pacer's window in the shortest frames, of which each has a cell.
    val reserve = Math.min(p.txBufferBytes / 64, cells / 2 / p.ports)
    val param = PoolParam(
      p.ports,
      p.hostBytes,
      cells,
      cellBytes,
      classes,
      groups,
      reserve,
      minimum = Math.min(8, cells / 4 / p.ports / classes),
      maxFrame = p.maxFrame + 4, // with a tag
      ahead = aheadBytes / p.hostBytes
    )
    val needed = (param.ahead + 2 * param.words + 8) * p.hostBytes + param.maxFrame
    require(
      p.txBufferBytes >= needed,
      s"txBufferBytes is ${p.txBufferBytes}: a port behind a pool needs $needed or more"
    )
    param
  }
}

/** What a pool has to know of a frame. */
case class PoolMeta(e: PoolParam) extends Bundle {
  val drop = Bool() // with the last beat: the frame is not to be sent
  val paced = Bool() // of a paced queue; the same from the first beat on
  val trafficClass = e.classType() // with the first beat
  val group = e.groupType() // with the first beat
}

/** Whose a cell is: that of paced frames of a port, or of a class of the port. */
case class CellOwner(e: PoolParam) extends Bundle {
  val port = e.portType()
  val trafficClass = e.classType()
  val paced = Bool()
}

/** What is kept of a cell beside its data. */
case class CellInfo(e: PoolParam) extends Bundle {
  val lastWord = UInt(log2Up(e.words) bits) // words less one
  val mty = e.mtyType() // of the frame's last word
  val last = Bool() // the frame ends here
  val paced = Bool()
}

/** A frame that is whole. */
case class PoolFrame(e: PoolParam) extends Bundle {
  val port = e.portType()
  val list = e.listType()
  val first, last = e.cellType()
}

/** A frame that begins, for those who count what a class has sent. */
case class ClassBytes(e: PoolParam) extends Bundle {
  val trafficClass = e.classType()
  val bytes = e.lengthType()
}
