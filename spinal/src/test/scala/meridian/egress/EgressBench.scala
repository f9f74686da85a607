// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.mac.PortTx
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** A frame of the host; its number is in its first bytes. */
case class EgressFrame(id: Int, length: Int, high: Boolean, paced: Boolean, drop: Boolean) {
  val data: Array[Byte] = Array.tabulate(length)(i => if (i < 4) (id >> (8 * i)).toByte else (id * 31 + i).toByte)
  def words(bytes: Int): Int = (length + bytes - 1) / bytes
}

/** The transmit side of a port with its queues, driven and judged by what the documents say of it: a frame that is not
  * paced never waits, what is taken leaves in order and whole, by class, and the rest is told as lost.
  */
class EgressBench(dut: PortTx, p: ShellParam, val random: Random, mac: Int) {
  private var number = 0
  private var offered: Option[EgressFrame] = None
  private val bytes = mutable.ArrayBuffer[Byte]()
  private var lastStart = 0L
  private var strict = true // the state of the port is known: no reset is under way
  val taken, lost = mutable.ArrayBuffer[EgressFrame]()
  val pinned = mutable.ArrayBuffer[(Int, Long, Long)]() // number, time of the first beat and of the last
  val toldLost = Array.fill(EgressClass.count)(0)
  val frames = mutable.Map[Int, EgressFrame]()
  val lastAt = mutable.Map[Int, Long]() // when the last beat of a frame was taken
  var pacedInside, waits, busy, cycles = 0 // words of paced frames; cycles in which a paced frame waited
  var readyPercent = 100

  dut.io.host.valid #= false
  dut.io.ps.valid #= false
  dut.io.pins.tready #= false
  dut.io.pins.tstampValid #= false
  dut.io.timeKnown #= true
  dut.io.held #= 0
  dut.io.high #= EgressClass.resetMap
  dut.io.record.ready #= true
  dut.io.timestamps.ready #= true
  dut.hostCd.forkStimulus(4000)
  dut.psCd.forkStimulus(4000)
  sleep(900)
  dut.macTxCd.forkStimulus(mac)
  sleep(200 * (mac max 4000))

  dut.hostCd.onSamplings {
    val host = dut.io.host
    for (frame <- offered if host.valid.toBoolean) {
      val ready = host.ready.toBoolean
      assert(ready || frame.paced, "a frame that is not paced waits")
      if (!ready) waits += 1
      val told = dut.io.lost.toInt
      if (!(ready && host.last.toBoolean)) assert(told == 0, "a frame is lost before its end")
      else {
        lastAt(frame.id) = simTime()
        if (told != 0) {
          assert(
            told == (if (frame.high) 2 else 1) && !frame.drop,
            "a frame is lost that was not sent, or in no class of its own"
          )
          toldLost(if (frame.high) 1 else 0) += 1
          lost += frame
        } else if (!frame.drop) {
          taken += frame
          if (frame.paced) pacedInside += frame.words(p.hostBytes)
        }
      }
    }
  }
  dut.macTxCd.onSamplings {
    val pins = dut.io.pins
    val valid = pins.tvalid.toBoolean
    cycles += 1
    if (valid) busy += 1
    if (valid && pins.tready.toBoolean) {
      if (bytes.isEmpty) lastStart = simTime()
      val word = pins.tdata.toBigInt
      for (i <- 0 until Integer.bitCount(pins.tkeep.toInt)) bytes += (word >> (8 * i)).toByte
      if (pins.tlast.toBoolean) {
        ended()
        bytes.clear()
      }
    }
    pins.tready #= random.nextInt(100) < readyPercent
  }

  private def ended(): Unit = {
    val id = (0 until 4).map(i => (bytes(i) & 0xff) << (8 * i)).sum
    pinned += ((id, lastStart, simTime()))
    for (frame <- frames.get(id)) {
      assert(bytes.take(frame.length) == frame.data.toSeq, s"frame $id is not what was sent")
      if (frame.paced && strict) pacedInside -= frame.words(p.hostBytes)
    }
  }

  def make(length: Int, high: Boolean = false, paced: Boolean = false, drop: Boolean = false): EgressFrame = {
    number += 1
    val frame = EgressFrame(number, length, high, paced, drop)
    frames(number) = frame
    frame
  }

  def send(frame: EgressFrame): EgressFrame = {
    val host = dut.io.host
    val words = frame.data.grouped(p.hostBytes).toSeq
    offered = Some(frame)
    for ((word, i) <- words.zipWithIndex) {
      val last = i == words.length - 1
      host.valid #= true
      host.data #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
      host.last #= last
      host.mty #= p.hostBytes - word.length
      host.meta.drop #= (if (last) frame.drop else random.nextBoolean())
      host.meta.paced #= frame.paced
      host.meta.high #= (if (i == 0) frame.high else random.nextBoolean())
      var wait = 0
      dut.hostCd.waitSampling()
      while (!host.ready.toBoolean) {
        dut.hostCd.waitSampling()
        wait += 1
        assert(wait < 20000, "ready stays low")
      }
    }
    host.valid #= false
    offered = None
    frame
  }

  /** Sends a frame of the PS and tells when its last beat was taken; its number is none of the host's. */
  def sendPs(id: Int, length: Int): Long = {
    val ps = dut.io.ps
    val data = Array.tabulate(length)(i => if (i < 4) (id >> (8 * i)).toByte else 0.toByte)
    val words = data.grouped(8).toSeq
    for ((word, i) <- words.zipWithIndex) {
      ps.valid #= true
      ps.data #= word.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
      ps.last #= i == words.length - 1
      ps.mty #= 8 - word.length
      ps.meta.timestamp #= false
      ps.meta.tag #= 0
      var wait = 0
      dut.psCd.waitSampling()
      while (!ps.ready.toBoolean) {
        dut.psCd.waitSampling()
        wait += 1
        assert(wait < 20000, "ready of the PS stays low")
      }
    }
    ps.valid #= false
    simTime()
  }

  /** A size that is often at an edge. */
  def size(most: Int): Int = random.nextInt(4) match {
    case 0 => 4 + random.nextInt(60)
    case 1 => p.hostBytes * (1 + random.nextInt(3)) + random.nextInt(3) - 1
    case _ => 4 + random.nextInt(most - 3)
  }

  def settle(): Unit = {
    var quiet, wait = 0
    while (quiet < 60) {
      dut.macTxCd.waitSampling()
      quiet = if (dut.io.idle.toBoolean) quiet + 1 else 0
      wait += 1
      assert(wait < 200000, "the port does not become idle")
    }
    dut.hostCd.waitSampling(20)
  }

  /** All that was taken has left, in order by class, and nothing else. */
  def check(): Unit = {
    settle()
    for (high <- Seq(false, true)) {
      val left = pinned.map(_._1).filter(frames.get(_).exists(_.high == high))
      assert(left == taken.filter(_.high == high).map(_.id), s"frames of the ${if (high) "upper" else "lower"} queue")
    }
    assert(dut.io.paced.toInt == 0 && pacedInside == 0, "beats of paced frames that are gone")
    forget()
  }

  /** A reset loses what it finds: from now on nothing is known until `forget`. */
  def unsure(): Unit = strict = false

  /** The pins forget the frame that a reset of the MAC cut. */
  def resetPins(): Unit = bytes.clear()

  def forget(): Unit = {
    Seq(taken, lost).foreach(_.clear())
    pinned.clear()
    bytes.clear()
    pacedInside = 0
    strict = true
  }
}
