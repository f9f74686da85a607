// SPDX-License-Identifier: Apache-2.0
package meridian.dma.h2c

import meridian.dma.pcie._
import meridian.dma.DmaParam
import meridian.host.FrameSim._
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

/** A frame as it came out. */
case class SentFrame(bytes: Seq[Byte], metadata: Long, failed: Boolean, zero: Boolean)

/** The engine with a host's memory, in which each queue has a ring, and a shell that takes frames. */
class H2cHarness(dut: H2cEngine, p: DmaParam, seed: Int, pace: Float = 1.0f, maxRead: Int = 512) {
  val cd = clocked(dut)
  val engine = dut.io
  val random = new Random(seed)
  val entries = 15 // of each ring, without the status entry
  dut.io.maxReadRequest #= Integer.numberOfTrailingZeros(maxRead / 128)
  dut.io.ringSizes.foreach(_ #= entries + 1)
  dut.io.statusInterval #= 4
  dut.io.hold.queue.valid #= false
  dut.io.interrupt.ready #= true
  dut.io.drain.valid #= false
  if (p.pushSlots > 0) {
    dut.io.slots.offer.complete #= false
    dut.io.slots.isKept #= false
  }
  for (flow <- Seq(dut.io.buffers.asked, dut.io.buffers.ended)) flow.valid #= false
  val memory = new HostMemory
  val host = new RequesterHost(dut.io.rq, dut.io.rc, cd, memory, maxRead, pace, seed + 1)
  private val masters = new BusMasters(dut.io.busMaster, p, host)
  host.headers = CompletionRoom.limit - CompletionRoom.ofBufferRead
  private val (_, changes) = StreamDriver.queue(dut.io.change, cd)
  private val (_, doorbells) = StreamDriver.queue(dut.io.doorbell, cd)
  private val (_, credits) = StreamDriver.queue(dut.io.credits, cd)
  StreamReadyRandomizer(dut.io.h2c, cd).setFactor(pace)
  StreamReadyRandomizer(dut.io.tmStatus, cd).setFactor(pace)
  StreamReadyRandomizer(dut.io.raise, cd).setFactor(pace)

  val frames = Array.fill(p.queues)(mutable.ArrayBuffer[SentFrame]())
  val wanted = Array.fill(p.queues)(mutable.ArrayBuffer[SentFrame]())
  val pidx, strides = Array.fill(p.queues)(0)
  val available = Array.fill(p.queues)(0) // by tm_dsc_sts
  val lost = mutable.ArrayBuffer[(Int, Boolean)]() // queues by tm_dsc_sts, and whether by an error
  val errors = mutable.ArrayBuffer[Long]()
  private val bytes = mutable.ArrayBuffer[Byte]()
  private var open = -1
  StreamMonitor(dut.io.h2c, cd) { pins =>
    val queue = pins.tuser_qid.toInt
    assert(open == -1 || open == queue, "frames of two queues are mixed")
    val last = pins.tlast.toBoolean
    open = if (last) -1 else queue
    val data = pins.tdata.toBigInt
    val zero = pins.tuser_zero_byte.toBoolean
    val failed = pins.tuser_err.toBoolean
    val empty = pins.tuser_mty.toInt
    if (failed) assert(data == 0, "a beat that has failed shows what was in memory")
    assert(last || empty == 0)
    if (!zero && !failed) bytes ++= (0 until 32 - empty).map(i => (data >> (8 * i)).toByte)
    if (last) {
      frames(queue) += SentFrame(bytes.toList, pins.tuser_mdata.toLong, failed, zero)
      bytes.clear()
    }
  }
  StreamMonitor(dut.io.tmStatus, cd) { pins =>
    assert(!pins.c2h.toBoolean && !pins.mm.toBoolean && !pins.byp.toBoolean)
    val queue = pins.qid.toInt
    if (pins.qinv.toBoolean) {
      assert(!pins.qen.toBoolean)
      lost += queue -> pins.error.toBoolean
      available(queue) = 0
    } else available(queue) += pins.avl.toInt
  }
  private var waits = 0
  var longestWait = 0 // cycles, of a doorbell
  cd.onSamplings {
    waits = if (dut.io.doorbell.valid.toBoolean && !dut.io.doorbell.ready.toBoolean) waits + 1 else 0
    longestWait = longestWait max waits
  }
  StreamMonitor(dut.io.raise, cd)(event => errors += event.bits.toLong)
  cd.waitSampling(p.queues + 4)

  def ring(queue: Int): Long = 0x100000000L + queue * 0x1000L + 64 * queue
  def descriptor(queue: Int, index: Int): Long = ring(queue) + (16L << strides(queue)) * index
  def function(queue: Int): Int = if (queue % 3 == 0) 0 else DmaParam.firstVf + queue % 3

  /** The function may access memory or not. */
  def setMaster(function: Int, on: Boolean): Unit = masters.set(function, on)

  /** The queue's contexts are written: it begins at index 0, with so many descriptors posted already. */
  def change(
      queue: Int,
      enable: Boolean = true,
      creditEnable: Boolean = false,
      wrong: Boolean = false,
      stride: Int = 0,
      posted: Int = 0
  ): Unit = {
    var taken = false
    strides(queue) = stride
    changes.enqueue { c =>
      c.queue #= queue
      c.pidx #= posted
      c.cidx #= 0
      c.pending #= false
      c.credits #= 0
      c.creditsAlone #= false
      c.forgets #= true
      c.context.enable #= enable
      c.context.wrong #= wrong
      c.context.stride #= stride
      c.context.creditEnable #= creditEnable
      c.context.statusEnable #= true
      c.context.statusInterval #= queue % 2 == 1
      c.context.error #= 0
      c.context.errorSent #= false
      Seq(c.context.irqEnable, c.context.irqArm, c.context.irqRequest).foreach(_ #= false)
      Seq(c.context.aggregate, c.context.noVfInterrupt).foreach(_ #= false)
      c.context.vector #= 0
      c.context.function #= function(queue)
      c.context.size #= queue % 16
      c.context.base #= ring(queue)
      taken = true
    }
    waitFor(cd, "the change's turn")(taken)
    waitFor(cd, "the change")(dut.io.change.valid.toBoolean && dut.io.change.ready.toBoolean)
    cd.waitSampling(3)
    pidx(queue) = posted
    memory.write(descriptor(queue, entries), Seq.fill(8)(0.toByte))
  }

  /** A frame at an address, as the descriptor at the queue's producer index. */
  def post(queue: Int, address: Long, length: Int, metadata: Long): Unit = post(queue, Seq(address -> length), metadata)

  /** A frame of pieces, each an address and a length, in a descriptor with an entry for each. */
  def post(queue: Int, pieces: Seq[(Long, Int)], metadata: Long): Unit = {
    def little(value: Long, count: Int) = (0 until count).map(i => (value >> (8 * i)).toByte)
    for (((address, length), i) <- pieces.zipWithIndex) {
      val flags = if (pieces.size == 1) 0 else if (i == 0) 1 else if (i == pieces.size - 1) 2 else 0
      memory.write(
        descriptor(queue, pidx(queue)) + 16 * i,
        little(metadata + i, 4) ++ little(length, 2) ++ little(flags, 2) ++ little(address, 8)
      )
    }
    pidx(queue) = (pidx(queue) + 1) % entries
    val bytes = pieces.flatMap { case (address, length) => memory.read(address, length) }
    wanted(queue) += SentFrame(bytes.toList, metadata, failed = false, zero = bytes.isEmpty)
  }

  def doorbell(queue: Int, value: Int): Unit = doorbells.enqueue { d =>
    d.queue #= queue
    d.pidx #= value
    d.arm #= false
  }
  def doorbell(queue: Int): Unit = doorbell(queue, pidx(queue))

  def credit(queue: Int, count: Int, c2h: Boolean = false): Unit = credits.enqueue { c =>
    c.qid #= queue
    c.crdt #= count
    c.c2h #= c2h
    c.fence #= false
  }

  /** Error bits, CIDX and PIDX in the queue's status entry. */
  def status(queue: Int): (Int, Int, Int) = {
    val word = memory.word(descriptor(queue, entries))
    ((word & 0xffff).toInt, (word >> 16 & 0xffff).toInt, (word >> 32 & 0xffff).toInt)
  }

  /** All that was posted has come, as it was posted, and the status entry says so. */
  def settle(queue: Int): Unit = {
    waitFor(cd, s"the frames of queue $queue")(frames(queue).size >= wanted(queue).size)
    waitFor(cd, s"the status of queue $queue", 4000)(status(queue) == ((0, pidx(queue), pidx(queue))))
    assert(frames(queue) == wanted(queue), s"queue $queue")
  }

  def idle(): Unit = {
    waitFor(cd, "the end of all reads")(host.open.isEmpty && dut.io.idle.toBoolean)
    cd.waitSampling(100)
    assert(dut.io.idle.toBoolean)
  }

  def payload(address: Long, length: Int): Unit = {
    val some = new Array[Byte](length)
    random.nextBytes(some)
    memory.write(address, some.toIndexedSeq)
  }
}
