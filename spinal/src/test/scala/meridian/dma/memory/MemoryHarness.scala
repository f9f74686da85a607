// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.pcie._
import meridian.host.FrameSim._
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

/** The engine between a host's memory, in which each queue has a ring of each direction, and the card's. What each transfer
  * was to write is kept beside, in memories of their own.
  */
class MemoryHarness(dut: MemoryEngine, p: DmaParam, seed: Int, pace: Float = 1.0f, maxPayload: Int = 256) {
  val cd = clocked(dut)
  val engine = dut.io
  val random = new Random(seed)
  val entries = 15 // of each ring, without the status entry
  val maxRead = if (maxPayload == 128) 128 else 2 * maxPayload // the smallest of both together
  dut.io.maxPayload #= Integer.numberOfTrailingZeros(maxPayload / 128)
  dut.io.maxReadRequest #= Integer.numberOfTrailingZeros(maxRead / 128)
  dut.io.ringSizes.foreach(_ #= entries + 1)
  dut.io.statusInterval #= 4
  dut.io.holds.foreach(_.queue.valid #= false)
  dut.io.drain.valid #= false
  dut.io.room.hasRoom #= true
  val memory = new HostMemory
  val host = new RequesterHost(dut.io.rq, dut.io.rc, cd, memory, maxRead, pace, seed + 1, maxPayload)
  private val masters = new BusMasters(dut.io.busMaster, p, host)
  val card = new CardBus(dut.io.axi, cd, pace, seed + 2)
  private val changes = dut.io.changes.map(StreamDriver.queue(_, cd)._2)
  private val doorbells = dut.io.doorbells.map(StreamDriver.queue(_, cd)._2)
  StreamReadyRandomizer(dut.io.raise, cd).setFactor(pace)
  val errors = mutable.ArrayBuffer[(Long, Boolean)]() // bits, and whether of C2H
  StreamMonitor(dut.io.raise, cd)(event => errors += event.bits.toLong -> dut.io.failureC2h.toBoolean)
  val interrupts = mutable.ArrayBuffer[(Int, Boolean, Int, Int)]() // queue, whether of C2H, vector, CIDX
  for ((interrupt, i) <- dut.io.interrupts.zipWithIndex) {
    StreamReadyRandomizer(interrupt, cd).setFactor(pace)
    StreamMonitor(interrupt, cd) { of =>
      assert(of.event.c2h.toBoolean == (i == 1))
      interrupts += ((of.event.queue.toInt, i == 1, of.request.vector.toInt, of.event.cidx.toInt))
    }
  }
  val wantedHost, wantedCard = new HostMemory
  val pidx = Array.fill(2, p.queues)(0)
  cd.waitSampling(p.queues + 4)

  private def place(c2h: Boolean) = if (c2h) 1 else 0
  def ring(queue: Int, c2h: Boolean): Long = 0x100000000L + queue * 0x1000L + 0x800 * place(c2h)
  def descriptor(queue: Int, c2h: Boolean, index: Int): Long = ring(queue, c2h) + 32 * index
  def function(queue: Int): Int = if (queue % 3 == 0) 0 else DmaParam.firstVf + queue % 3

  def setMaster(function: Int, on: Boolean): Unit = masters.set(function, on)

  /** The queue's context is written: it begins at index 0. */
  def change(
      queue: Int,
      c2h: Boolean,
      enable: Boolean = true,
      irq: Boolean = false,
      owner: Option[Int] = None
  ): Unit = {
    var taken = false
    changes(place(c2h)).enqueue { c =>
      c.queue #= queue
      Seq(c.pidx, c.cidx, c.credits).foreach(_ #= 0)
      Seq(c.pending, c.creditsAlone).foreach(_ #= false)
      c.forgets #= true
      c.context.enable #= enable
      c.context.wrong #= false
      c.context.stride #= 1
      c.context.statusEnable #= true
      c.context.statusInterval #= queue % 2 == 1
      c.context.error #= 0
      Seq(c.context.creditEnable, c.context.errorSent, c.context.irqRequest).foreach(_ #= false)
      c.context.irqEnable #= irq
      c.context.irqArm #= irq
      Seq(c.context.aggregate, c.context.noVfInterrupt).foreach(_ #= false)
      c.context.vector #= queue
      c.context.function #= owner.fold(function(queue))(of => of)
      c.context.size #= queue % 16
      c.context.base #= ring(queue, c2h)
      taken = true
    }
    val port = dut.io.changes(place(c2h))
    waitFor(cd, "the change's turn")(taken)
    waitFor(cd, "the change")(port.valid.toBoolean && port.ready.toBoolean)
    cd.waitSampling(3)
    pidx(place(c2h))(queue) = 0
    memory.write(descriptor(queue, c2h, entries), Seq.fill(8)(0.toByte))
  }

  /** Nothing is around the places of a transfer. */
  def clear(host: Long, card: Long, length: Int): Unit = {
    val around = Seq.fill(length + 200)(0.toByte)
    for (m <- Seq(memory, wantedHost)) m.write(host - 100, around)
    for (m <- Seq(this.card.memory, wantedCard)) m.write(card - 100, around)
  }

  /** A descriptor, and nothing of what it is to do. */
  def describe(queue: Int, c2h: Boolean, host: Long, card: Long, length: Int): Unit = {
    def little(value: Long, count: Int) = (0 until count).map(i => (value >> (8 * i)).toByte)
    val (source, destination) = if (c2h) (card, host) else (host, card)
    val flags = (random.nextInt(16).toLong << 28) | length
    val index = pidx(place(c2h))(queue)
    val rest = Seq.fill(8)(random.nextInt().toByte)
    val words = little(source, 8) ++ little(flags, 4) ++ little(random.nextInt(), 4) ++ little(destination, 8) ++ rest
    memory.write(descriptor(queue, c2h, index), words)
    pidx(place(c2h))(queue) = (index + 1) % entries
  }

  /** A transfer of random bytes, whose places in both memories nothing else uses meanwhile. */
  def post(queue: Int, c2h: Boolean, host: Long, card: Long, length: Int): Unit = {
    val bytes = new Array[Byte](length)
    random.nextBytes(bytes)
    describe(queue, c2h, host, card, length)
    if (c2h) {
      this.card.memory.write(card, bytes.toSeq)
      wantedHost.write(host, bytes.toSeq)
    } else {
      memory.write(host, bytes.toSeq)
      wantedCard.write(card, bytes.toSeq)
    }
  }

  def doorbell(queue: Int, c2h: Boolean): Unit = doorbells(place(c2h)).enqueue { d =>
    d.queue #= queue
    d.pidx #= pidx(place(c2h))(queue)
    d.arm #= false
  }

  /** Error bits, CIDX and PIDX in the queue's status entry. */
  def status(queue: Int, c2h: Boolean): (Int, Int, Int) = {
    val word = memory.word(descriptor(queue, c2h, entries))
    ((word & 0xffff).toInt, (word >> 16 & 0xffff).toInt, (word >> 32 & 0xffff).toInt)
  }
  def settle(queue: Int, c2h: Boolean): Unit = {
    val all = pidx(place(c2h))(queue)
    waitFor(cd, s"the status of queue $queue")(status(queue, c2h) == ((0, all, all)))
  }

  /** The bytes around the transfer, too, are as they are to be. */
  def compare(c2h: Boolean, host: Long, card: Long, length: Int): Unit = {
    val (is, wanted, at) =
      if (c2h) (memory, wantedHost, host) else (this.card.memory, wantedCard, card)
    assert(is.read(at - 40, length + 80) == wanted.read(at - 40, length + 80), s"$length bytes, $host, $card, $c2h")
  }

  def idle(): Unit = {
    waitFor(cd, "the end of all")(host.open.isEmpty && dut.io.quiet.toBoolean)
    cd.waitSampling(100)
    assert(dut.io.quiet.toBoolean && !dut.io.late.toBoolean)
  }
}
