// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.{DmaParam, HostCommand}
import meridian.dma.pcie._
import meridian.host.FrameSim._
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

/** An answer as the logic got it. */
case class Answered(tag: Int, bytes: Seq[Byte], failed: Boolean)

/** The engine between the card's own logic and a host. What writes were to leave is kept beside, in a memory of its own. */
class CommandHarness(
    dut: CommandEngine,
    p: DmaParam,
    seed: Int,
    pace: Float = 1.0f,
    maxPayload: Int = 256,
    maxRead: Int = 512
) {
  val cd = clocked(dut)
  val random = new Random(seed)
  private val port = dut.io.port
  dut.io.maxPayload #= Integer.numberOfTrailingZeros(maxPayload / 128)
  dut.io.maxReadRequest #= Integer.numberOfTrailingZeros(maxRead / 128)
  dut.io.room.hasRoom #= true
  dut.io.drain.valid #= false
  dut.io.changes.foreach(_.valid #= false)
  port.reset #= false
  val memory, wanted = new HostMemory
  val host = new RequesterHost(dut.io.rq, dut.io.rc, cd, memory, maxRead, pace, seed + 1, maxPayload)
  host.tags = 256
  host.headers = CompletionRoom.most * p.commandTags // room is what another part gives
  private val masters = new BusMasters(dut.io.busMaster, p, host)
  private val (readDriver, reads) = StreamDriver.queue(port.read, cd)
  private val (writeDriver, writes) = StreamDriver.queue(port.write, cd)
  readDriver.setFactor(pace)
  writeDriver.setFactor(pace)
  val taker = StreamReadyRandomizer(port.bytes, cd)
  taker.setFactor(pace)
  val answers = mutable.ArrayBuffer[Answered]()
  val written = mutable.ArrayBuffer[(Int, Boolean)]() // tag, and whether it failed
  private val coming = mutable.ArrayBuffer[Byte]()
  StreamMonitor(port.bytes, cd) { beat =>
    val keep = beat.fragment.keep.toLong
    val count = java.lang.Long.bitCount(keep)
    assert(keep == (1L << count) - 1 && (count == 32 || beat.last.toBoolean), "bytes have a gap")
    val isFailed = beat.fragment.failed.toBoolean
    assert(!isFailed || count == 0 && beat.fragment.data.toBigInt == 0, "a beat that has failed has bytes of another")
    coming ++= toBytes(beat.fragment.data.toBigInt, 32).take(count)
    if (beat.last.toBoolean) {
      answers += Answered(beat.fragment.tag.toInt, coming.toSeq, beat.fragment.failed.toBoolean)
      coming.clear()
    }
  }
  cd.onSamplings {
    if (port.reset.toBoolean) coming.clear()
    if (port.written.valid.toBoolean) written += port.written.tag.toInt -> port.written.failed.toBoolean
  }
  cd.waitSampling(p.queues + 4)

  def function(queue: Int): Int = if (queue % 3 == 0) 0 else DmaParam.firstVf + queue % 3
  def setMaster(function: Int, on: Boolean): Unit = masters.set(function, on)

  /** The queue's context of a direction is written. */
  def change(queue: Int, c2h: Boolean, enable: Boolean = true, owner: Option[Int] = None): Unit = {
    val flow = dut.io.changes(if (c2h) 1 else 0)
    flow.valid #= true
    flow.queue #= queue
    flow.now.enable #= enable
    flow.now.function #= owner.fold(function(queue))(of => of)
    cd.waitSampling()
    flow.valid #= false
    cd.waitSampling()
  }

  private def describe(to: HostCommand, queue: Int, address: Long, bytes: Int, tag: Int): Unit = {
    to.queue #= queue
    to.address #= address
    to.bytes #= bytes
    to.tag #= tag
  }

  def read(queue: Int, address: Long, bytes: Int, tag: Int): Unit =
    reads.enqueue(describe(_, queue, address, bytes, tag))

  /** The logic gives as many bytes as it wants to, which may be fewer or more than it says. */
  def write(queue: Int, address: Long, data: Seq[Byte], tag: Int, says: Int = -1): Unit = {
    val bytes = if (says < 0) data.size else says
    val beats = if (data.isEmpty) Seq(Seq[Byte]()) else data.grouped(32).toSeq
    for ((beat, i) <- beats.zipWithIndex) writes.enqueue { pins =>
      pins.fragment.data #= toBig(beat.padTo(32, random.nextInt().toByte))
      describe(pins.fragment.command, queue, address, bytes, tag)
      pins.last #= (i == beats.size - 1)
    }
  }
  def pending: Int = reads.size + writes.size
  def forget(): Unit = {
    reads.clear()
    writes.clear()
  }
  def setReset(on: Boolean): Unit = port.reset #= on

  /** How often answers are taken, of 1. */
  def setTaking(pace: Float): Unit = taker.setFactor(pace)

  def drain(function: Int): Unit = {
    dut.io.drain.payload #= function
    dut.io.drain.valid #= true
    waitFor(cd, "the drain")(dut.io.drain.ready.toBoolean && dut.io.drain.valid.toBoolean)
    dut.io.drain.valid #= false
    cd.waitSampling()
  }

  /** Whether a drain ends within so many cycles; it is taken back. */
  def isDrained(function: Int, cycles: Int): Boolean = {
    dut.io.drain.payload #= function
    dut.io.drain.valid #= true
    val ends = (0 until cycles).map { _ =>
      cd.waitSampling()
      dut.io.drain.ready.toBoolean
    }
    dut.io.drain.valid #= false
    cd.waitSampling(3)
    ends.contains(true)
  }
  def isHeld: Boolean = dut.io.rq.valid.toBoolean
  def isLate: Boolean = dut.io.late.toBoolean

  def settle(reads: Int, writes: Int): Unit =
    waitFor(cd, s"$reads answers and $writes writes, not ${answers.size} and ${written.size}")(
      answers.size >= reads && written.size >= writes
    )

  def idle(): Unit = {
    waitFor(cd, "the end of all")(host.open.isEmpty && dut.io.quiet.toBoolean)
    cd.waitSampling(100)
    assert(dut.io.quiet.toBoolean && !dut.io.late.toBoolean)
  }

  def randomBytes(count: Int): Seq[Byte] = {
    val bytes = new Array[Byte](count)
    random.nextBytes(bytes)
    bytes.toSeq
  }
}
