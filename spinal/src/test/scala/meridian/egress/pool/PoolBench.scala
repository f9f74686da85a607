// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** A frame for the pool; its number is in its first bytes. */
case class PoolSent(id: Int, length: Int, port: Int, trafficClass: Int, group: Int, paced: Boolean, drop: Boolean) {
  val data: Array[Byte] = Array.tabulate(length)(i => if (i < 4) (id >> (8 * i)).toByte else (id * 31 + i).toByte)

  /** An IPv6 packet whose sender does ECN, if so: it may be marked on its way. */
  var ect = false
  def makeEct(): Unit = if (length >= 20) {
    ect = true
    for ((b, k) <- Seq(0x86, 0xdd, 0x60, 0x20).zipWithIndex) data(12 + k) = b.toByte
  }
  def list = (port, trafficClass, group)
}

/** A pool with the ways of its ports to the line, driven and judged by what it says of itself: a frame that is not paced never
  * waits, what is taken leaves whole and in the order of its list, the rest is told as lost, and each cell is in one place.
  */
class PoolBench(dut: EgressPool, e: PoolParam, val random: Random) {
  private var number = 0
  val taken, lost, marked = mutable.ArrayBuffer[PoolSent]()
  val toldMarked = Array.fill(e.ports, e.classes)(0)
  val left = Array.fill(e.ports)(mutable.ArrayBuffer[PoolSent]())
  val frames = mutable.Map[Int, PoolSent]()
  val lastAt, firstOut = mutable.Map[Int, Long]()
  val begun = Array.fill(e.ports)(mutable.ArrayBuffer[(Int, Int)]())
  val lineBeats = Array.fill(e.ports)(100) // percent of cycles in which a beat goes to the line
  val up = Array.fill(e.ports)(true)
  var waits, cycle = 0L
  private val waiting = Array.fill(e.ports)(0) // beats for the line
  private val open = Array.fill(e.ports)(mutable.ArrayBuffer[Byte]())
  private val offered = Array.fill[Option[PoolSent]](e.ports)(None)
  private val used = mutable.Set[Int]() // cells that were taken and not given back
  private val openCells = mutable.ArrayBuffer[Int]()

  for (input <- dut.io.input) input.valid #= false
  for (i <- 0 until e.ports) {
    dut.io.ports(i).up #= true
    dut.io.ports(i).room #= true
    dut.io.ports(i).near #= true
    dut.io.blocked(i) #= 0
    dut.io.urgent(i) #= 0
    weigh(i, (1 << e.classes) - 1, Seq.fill(e.classes)(1))
  }
  for (alpha <- dut.io.settings.alpha) alpha #= 3
  dut.io.lines.write #= false
  dut.clockDomain.forkStimulus(10)
  dut.clockDomain.waitSampling(e.cells + 10 max 3 * e.lists)

  def weigh(port: Int, strict: Int, weights: Seq[Int]): Unit = {
    val settings = dut.io.settings.weights(port)
    settings.strict #= strict
    for ((weight, c) <- weights.zipWithIndex) settings.weight(c) #= weight
  }

  /** Frames of a class are marked from so many cells on, by a threshold; from none on if it is 0. */
  def mark(port: Int, trafficClass: Int, cells: Int): Unit = {
    val lines = dut.io.lines
    lines.list #= port * e.classes + trafficClass
    lines.isSlope #= false
    lines.value.min #= cells
    lines.value.max #= cells
    lines.write #= true
    dut.clockDomain.waitSampling()
    lines.write #= false
  }

  dut.clockDomain.onSamplings {
    cycle += 1
    watchCells()
    for (i <- 0 until e.ports) {
      watchInput(i)
      watchPort(i)
    }
  }

  private def watchCells(): Unit = {
    val cells = dut.cells.io
    if (cells.give.valid.toBoolean)
      assert(used.remove(cells.give.payload.toInt), s"cell ${cells.give.payload.toInt} is given and was not in use")
    val first = openCells.headOption
    if (cells.undo.toBoolean) {
      openCells.foreach(used.remove)
      openCells.clear()
    }
    if (cells.take.toBoolean) {
      val cell = if (cells.undo.toBoolean) first.get else cells.cell.toInt
      assert(used.add(cell), s"cell $cell is taken and was in use")
      openCells += cell
    }
    if (cells.keep.toBoolean) openCells.clear()
  }

  private def watchInput(i: Int): Unit = for (frame <- offered(i)) {
    val input = dut.io.input(i)
    if (input.valid.toBoolean) {
      val ready = input.ready.toBoolean
      val told = dut.io.lost(i).toInt
      assert(ready || frame.paced || frame.drop, s"a frame that is not paced waits: $frame")
      if (!ready) waits += 1
      if (!ready || !input.last.toBoolean) assert(told == 0, "a frame is lost before its end")
      else if (told != 0) {
        assert(told == 1 << frame.trafficClass && !frame.drop, s"lost of $frame is $told")
        lost += frame
      } else if (!frame.drop) {
        taken += frame
        lastAt(frame.id) = cycle
      }
    }
  }

  private def watchPort(i: Int): Unit = {
    val port = dut.io.ports(i)
    if (port.push.valid.toBoolean && up(i)) {
      val word = port.push.data.toBigInt
      val bytes = open(i)
      if (bytes.isEmpty) firstOut((word & 0xffffffffL).toInt) = cycle
      for (k <- 0 until e.hostBytes - port.push.mty.toInt) bytes += (word >> (8 * k)).toByte
    }
    if (!up(i)) {
      open(i).clear()
      waiting(i) = 0
    } else if (port.push.valid.toBoolean) {
      assert(waiting(i) < 8 * e.words, s"beats for port $i have no room")
      waiting(i) += 1
      if (port.push.last.toBoolean) {
        val id = (0 until 4).map(k => (open(i)(k) & 0xff) << (8 * k)).sum
        val frame = frames(id)
        if (frame.ect && open(i)(15) == 0x30) {
          marked += frame
          open(i)(15) = 0x20
        }
        assert(open(i) == frame.data.toSeq && frame.port == i, s"what leaves is not $frame")
        left(i) += frame
        open(i).clear()
      }
    }
    if (waiting(i) > 0 && random.nextInt(100) < lineBeats(i)) waiting(i) -= 1
    // As CellFifo has it.
    port.room #= !up(i) || waiting(i) <= 6 * e.words - 4
    port.near #= !up(i) || waiting(i) < e.ahead
    port.up #= up(i)
    val flow = dut.io.begun(i)
    for (c <- 0 until e.classes if (dut.io.marked(i).toInt >> c & 1) == 1) toldMarked(i)(c) += 1
    if (flow.valid.toBoolean) begun(i) += ((flow.trafficClass.toInt, flow.bytes.toInt))
  }

  def make(
      length: Int,
      port: Int = 0,
      trafficClass: Int = 0,
      group: Int = 0,
      paced: Boolean = false,
      drop: Boolean = false
  ): PoolSent = {
    number += 1
    frames(number) = PoolSent(number, length, port, trafficClass, group, paced, drop)
    frames(number)
  }

  /** Sends so many beats of a frame; the end of one that is cut has drop. */
  def send(frame: PoolSent, beats: Int = Int.MaxValue, cut: Boolean = false): PoolSent = {
    val input = dut.io.input(frame.port)
    val words = frame.data.grouped(e.hostBytes).toSeq
    offered(frame.port) = Some(frame)
    for ((word, i) <- words.zipWithIndex if i < beats) {
      val last = i == words.length - 1
      input.valid #= true
      input.data #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
      input.last #= last
      input.mty #= e.hostBytes - word.length
      input.meta.drop #= (if (last) frame.drop else random.nextBoolean())
      input.meta.paced #= frame.paced
      input.meta.trafficClass #= (if (i == 0) frame.trafficClass else random.nextInt(e.classes))
      input.meta.group #= (if (i == 0) frame.group else random.nextInt(e.groups))
      var wait = 0
      dut.clockDomain.waitSampling()
      while (!input.ready.toBoolean) {
        dut.clockDomain.waitSampling()
        wait += 1
        assert(wait < 20000, s"ready stays low for $frame")
      }
    }
    input.valid #= false
    frame
  }

  /** The end that is made up for a frame that was cut. */
  def end(frame: PoolSent): Unit = {
    val input = dut.io.input(frame.port)
    offered(frame.port) = Some(frame)
    input.valid #= true
    input.last #= true
    input.mty #= 0
    input.meta.drop #= true
    input.meta.paced #= frame.paced
    var wait = 0
    dut.clockDomain.waitSampling()
    while (!input.ready.toBoolean) {
      dut.clockDomain.waitSampling()
      wait += 1
      assert(wait < 100, "the end of a frame that was cut waits")
    }
    input.valid #= false
  }

  def size(): Int = random.nextInt(4) match {
    case 0 => 4 + random.nextInt(60)
    case 1 => e.cellBytes * (1 + random.nextInt(4)) + random.nextInt(3) - 1
    case _ => 4 + random.nextInt(e.maxFrame - 3)
  }

  def settle(): Unit = {
    var quiet, wait = 0
    while (quiet < 40) {
      dut.clockDomain.waitSampling()
      quiet = if (dut.io.idle.toBoolean && waiting.forall(_ == 0)) quiet + 1 else 0
      wait += 1
      assert(wait < 200000, "the pool does not become idle")
    }
  }

  /** All cells are free again, and nothing is counted as used. */
  def checkFree(): Unit = {
    settle()
    assert(used.isEmpty && dut.io.free.toInt == e.cells, s"${dut.io.free.toInt} cells are free, in use are $used")
    assert(dut.io.used.forall(_.forall(_.toInt == 0)) && dut.io.paced.forall(_.toInt == 0), "cells are counted as used")
  }

  /** All that was taken has left, in the order of its list, and nothing else. */
  def check(): Unit = {
    checkFree()
    for ((list, sent) <- taken.groupBy(_.list))
      assert(left(list._1).filter(_.list == list).map(_.id) == sent.map(_.id), s"order of the list $list")
    assert(left.map(_.size).sum == taken.size)
    for (i <- 0 until e.ports; c <- 0 until e.classes)
      assert(
        toldMarked(i)(c) == marked.count(f => f.port == i && f.trafficClass == c),
        s"marked of class $c at port $i"
      )
    for (i <- 0 until e.ports)
      assert(begun(i) == left(i).map(f => (f.trafficClass, f.length)), s"what is told of frames that begin at port $i")
    forget()
  }

  def forget(): Unit = {
    taken.clear()
    lost.clear()
    marked.clear()
    toldMarked.foreach(counts => for (c <- counts.indices) counts(c) = 0)
    left.foreach(_.clear())
    begun.foreach(_.clear())
  }
}
