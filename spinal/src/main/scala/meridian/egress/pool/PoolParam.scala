// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.ShellParam
import meridian.meta.PoolPlace
import meridian.pacing.Pacing
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
  * @param ahead     beats that wait for the line at most when the next frame is chosen
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
    ahead: Int = 20,
    slack: Int = 5
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
    s"$cells cells hold less than the reserves of $ports ports: choose more of them, or fewer than $reserve a port and " +
      s"$minimum a class"
  )
  require(
    reserve >= frameCells + slack,
    s"a reserve of $reserve cells does not hold a frame of $maxFrame bytes: choose ${frameCells + slack} or more"
  )

  def cellType() = UInt(log2Up(cells) bits)
  def countType() = UInt(log2Up(cells + 1) bits)
  def thresholdType() = UInt(log2Up(cells + 1) + 4 bits)
  def portType() = UInt(log2Up(ports) max 1 bits)
  def classType() = UInt(log2Up(classes) bits)
  def groupType() = UInt(log2Up(groups) bits)
  def listType() = UInt(log2Up(classes) + log2Up(groups) bits)

  /** Beats that a frame counts as at least: the pacer takes no frame for shorter than the smallest of Ethernet. */
  val leastBeats = Math.max(1, 64 / hostBytes)
  def lengthType() = UInt(16 bits)
  def mtyType() = UInt(log2Up(hostBytes) bits)
  val lists = classes * groups
}

object PoolParam {
  val cellBytes = 256
  val classes = PoolPlace.classes
  val groups = PoolPlace.groups

  /** Bytes that wait for the line at most when the next frame is chosen, at 250 MHz: what goes to the line while it is
    * chosen, read and brought to its clock.
    */
  val aheadBytes = 640

  /** Of one a port, that of a port. */
  def of[T <: Data](each: scala.collection.Seq[T], port: UInt): T =
    if (each.size == 1) each.head else Vec(each)(port.resize(log2Up(each.size)))

  /** Cells a port of which a pool has that of a shell: half is its reserve. */
  private def cellsAPort(p: ShellParam) = 2 * reserve(p)

  /** Cells of all paced frames that may be on their way to a port: the pacer's window in the shortest frames, of which each
    * has a cell, with its last batch, if the frames have their mean length.
    */
  def pacedCells(p: ShellParam): Int = {
    val batch = (Pacing.batches.map { case (below, n) => n * cellsOf(below - 1) } :+ cellsOf(p.maxFrame)).max
    (Pacing.windowBytes(p) + Pacing.filterBeats * p.hostBytes) / 64 + batch
  }

  /** They, and room for the largest frame: one that is paced begins only if there is. */
  private def reserve(p: ShellParam) = pacedCells(p) + cellsOf(p.maxFrame) + slack

  /** Cells of a frame that gets a tag. */
  private def cellsOf(length: Int) = (length + 4 + cellBytes - 1) / cellBytes
  private val slack = 5

  /** For a shell.
    *
    * @param bytes memory of all cells, a power of two; by default as much as the ports need
    */
  def ofShell(p: ShellParam, bytes: Option[Int] = None): PoolParam = {
    val cells = bytes.fold(1 << log2Up(p.ports * cellsAPort(p)))(_ / cellBytes)
    // A frame that has begun must not run dry: a cell of each port in turn has to bring more than the line takes.
    require(
      8 * p.hostBytes * p.hostMhz >= 1000 * p.ports * p.lineRate * 9 / 8,
      s"${p.ports} ports of ${p.lineRate} Gb/s take more than a pool gives with ${p.hostBytes} bytes at ${p.hostMhz} MHz: " +
        "choose host-bytes 64 and host-mhz 250"
    )
    PoolParam(
      p.ports,
      p.hostBytes,
      cells,
      cellBytes,
      classes,
      groups,
      reserve(p),
      minimum = 8,
      maxFrame = p.maxFrame + 4, // with a tag
      ahead = aheadBytes * 250 / p.hostMhz / p.hostBytes,
      slack
    )
  }
}

/** What a pool has to know of a frame. */
case class PoolMeta(e: PoolParam) extends Bundle {
  val drop = Bool() // with the last beat: the frame is not to be sent
  val paced = Bool() // of a paced queue; the same from the first beat on
  val trafficClass = e.classType() // with the first beat
  val group = e.groupType() // with the first beat
  def list: UInt = trafficClass @@ group
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
  val cells = e.countType()
  val paced = Bool()
}

/** A frame that begins, for those who count what a class has sent. */
case class ClassBytes(e: PoolParam) extends Bundle {
  val trafficClass = e.classType()
  val bytes = e.lengthType()
}
