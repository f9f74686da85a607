// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.frame.FrameStream
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable
import scala.util.Random

/** A pool with the ways of its ports into a clock of the line. */
class PoolLine(val e: PoolParam) extends Component {
  val macCd = ClockDomain.external("mac")
  val io = new Bundle {
    val input = Vec(slave(FrameStream(e.hostBytes, HardType(PoolMeta(e)))), e.ports)
    val lost = out Vec (Bits(e.classes bits), e.ports)
    val blocked = in Vec (Bits(e.classes bits), e.ports)
    val settings = in(PoolSettings(e))
    val free = out(e.countType())
    val idle = out Bool ()
    val pop = Vec(master(FrameStream(e.hostBytes, HardType(Bool()))), e.ports)
    val popIdle = out Bits (e.ports bits)
    val begun = Vec(master(Flow(ClassBytes(e))), e.ports)
    val up = out Bits (e.ports bits) // with begun: the frame counts as sent
  }
  val pool = new EgressPool(e)
  for ((to, from) <- pool.io.input.zip(io.input)) to << from
  io.lost := pool.io.lost
  pool.io.blocked := io.blocked
  pool.io.urgent.foreach(_ := 0)
  pool.io.lines.write := False
  pool.io.lines.assignDontCareToUnasigned()
  pool.io.settings := io.settings
  io.free := pool.io.free
  io.idle := pool.io.idle
  for (i <- 0 until e.ports) {
    val fifo = new CellFifo(e, ClockDomain.current, macCd)
    fifo.io.port <> pool.io.ports(i)
    io.pop(i) << fifo.io.pop
    io.popIdle(i) := fifo.io.idle
    io.begun(i) << pool.io.begun(i)
    io.up(i) := fifo.io.port.up
  }
}

/** Drives it with a line of 25 Gb/s at each port, which takes 8 bytes in a cycle of 2.56 ns and 24 bytes between frames. A
  * frame that has begun never runs dry.
  */
class PoolLineBench(dut: PoolLine, val random: Random) {
  val e = dut.e
  private var number = 0
  val frames = mutable.Map[Int, PoolSent]()
  val begins = Array.fill(e.ports)(mutable.ArrayBuffer[(Int, Long)]()) // number, when its first beat was taken
  val lastAt = mutable.Map[Int, Long]() // when its last beat was written
  val left = Array.fill(e.ports)(mutable.ArrayBuffer[Int]())
  val idle = Array.fill(e.ports)(0) // cycles since the last frame in which the line had nothing
  var gaps = Array.fill(e.ports)(0) // such between two frames
  var lost, marked = 0
  var toldSent, toldLost = 0 // of frames that left the pool
  private val hold = Array.fill(e.ports)(0)
  private val open = Array.fill(e.ports)(mutable.ArrayBuffer[Byte]())

  for (input <- dut.io.input) input.valid #= false
  for (i <- 0 until e.ports) {
    dut.io.pop(i).ready #= true
    dut.io.blocked(i) #= 0
    dut.io.settings.weights(i).strict #= (1 << e.classes) - 1
    for (weight <- dut.io.settings.weights(i).weight) weight #= 1
  }
  for (alpha <- dut.io.settings.alpha) alpha #= 7
  dut.clockDomain.forkStimulus(4000)
  sleep(1300)
  dut.macCd.forkStimulus(2560)
  sleep(4000L * (e.cells + 200))

  dut.clockDomain.onSamplings {
    for (i <- 0 until e.ports if dut.io.lost(i).toInt != 0) lost += 1
    for (i <- 0 until e.ports if dut.io.begun(i).valid.toBoolean)
      if ((dut.io.up.toInt >> i & 1) == 1) toldSent += 1 else toldLost += 1
  }
  dut.macCd.onSamplings(for (i <- 0 until e.ports) watch(i))

  private def watch(i: Int): Unit = {
    val pop = dut.io.pop(i)
    val valid = pop.valid.toBoolean
    if (hold(i) > 0) hold(i) -= 1
    else if (!valid) {
      assert(open(i).isEmpty, s"a frame at port $i has begun and runs dry")
      idle(i) += 1
    } else {
      if (open(i).isEmpty) {
        if (left(i).nonEmpty) gaps(i) += idle(i)
        idle(i) = 0
        begins(i) += (((pop.data.toBigInt & 0xffffffffL).toInt, simTime()))
      }
      val bytes = e.hostBytes - pop.mty.toInt
      val word = pop.data.toBigInt
      for (k <- 0 until bytes) open(i) += (word >> (8 * k)).toByte
      hold(i) = (bytes + 7) / 8 - 1
      if (pop.last.toBoolean) {
        hold(i) += 3
        val id = begins(i).last._1
        if (pop.meta.toBoolean) marked += 1
        else {
          assert(open(i) == frames(id).data.toSeq && frames(id).port == i, s"what leaves is not ${frames(id)}")
          left(i) += id
        }
        open(i).clear()
      }
    }
    pop.ready #= hold(i) == 0
  }

  def make(length: Int, port: Int = 0, trafficClass: Int = 0, group: Int = 0): PoolSent = {
    number += 1
    frames(number) = PoolSent(number, length, port, trafficClass, group, paced = false, drop = false)
    frames(number)
  }

  def send(frame: PoolSent, beats: Int = Int.MaxValue): PoolSent = {
    val input = dut.io.input(frame.port)
    val words = frame.data.grouped(e.hostBytes).toSeq
    for ((word, i) <- words.zipWithIndex if i < beats) {
      input.valid #= true
      input.data #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
      input.last #= i == words.length - 1
      input.mty #= e.hostBytes - word.length
      input.meta.drop #= false
      input.meta.paced #= false
      input.meta.trafficClass #= frame.trafficClass
      input.meta.group #= frame.group
      dut.clockDomain.waitSampling()
      assert(input.ready.toBoolean, "a frame that is not paced waits")
    }
    lastAt(frame.id) = simTime()
    input.valid #= false
    frame
  }

  def settle(): Unit = {
    var quiet, wait = 0
    while (quiet < 60) {
      dut.clockDomain.waitSampling()
      quiet = if (dut.io.idle.toBoolean && dut.io.popIdle.toInt == (1 << e.ports) - 1) quiet + 1 else 0
      wait += 1
      assert(wait < 400000, "the pool does not become idle")
    }
    assert(dut.io.free.toInt == e.cells, s"${dut.io.free.toInt} cells of ${e.cells} are free")
  }

  def forget(): Unit = {
    for (each <- left ++ begins) each.clear()
    open.foreach(_.clear())
    for (i <- 0 until e.ports) gaps(i) = 0
    lost = 0
    marked = 0
    toldSent = 0
    toldLost = 0
  }
}
