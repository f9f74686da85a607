// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.DmaParam
import meridian.host.FrameSim._
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

/** A write that RQ has taken. */
case class SentWrite(function: Int, address: BigInt, words: Seq[Long], cycle: Int)

/** InterruptEngine with software at its table, contexts and doorbells, and a host behind RQ. */
class InterruptHarness(dut: InterruptEngine, p: DmaParam) {
  val cd = clocked(dut)
  val ports = dut.io
  val all = (BigInt(1) << p.functions) - 1
  ports.busMaster #= all
  ports.enabled #= all
  ports.inReset #= 0
  ports.exists #= all
  ports.drain.valid #= false
  ports.bell.valid #= false
  ports.table.access.valid #= false
  ports.hold.index.valid #= false
  ports.change.valid #= false
  ports.rq.ready #= true
  private val sources = ports.requests.map(StreamDriver.queue(_, cd)._2)
  var pace = 1.0f // of RQ
  var cycle = 0
  val writes = mutable.ArrayBuffer[SentWrite]()
  val asked = mutable.ArrayBuffer[(Int, Int)]() // function, vector
  cd.onSamplings {
    cycle += 1
    if (ports.rq.valid.toBoolean && ports.rq.ready.toBoolean) {
      val data = ports.rq.fragment.data.toBigInt
      def field(low: Int, bits: Int): BigInt = (data >> low) & ((BigInt(1) << bits) - 1)
      val dwords = field(64, 11).toInt
      assert(field(75, 4) == 1 && ports.rq.last.toBoolean && ports.rq.fragment.keep.toInt == (1 << (4 + dwords)) - 1)
      assert(ports.rq.fragment.firstBe.toInt == 15 && ports.rq.fragment.lastBe.toInt == (if (dwords == 1) 0 else 15))
      val words = (0 until dwords).map(i => field(128 + 32 * i, 32).toLong)
      writes += SentWrite(field(80, 16).toInt, field(2, 62) << 2, words, cycle)
    }
    if (ports.asked.valid.toBoolean) asked += ports.asked.function.toInt -> ports.asked.vector.toInt
    ports.rq.ready #= simRandom.nextFloat() < pace
  }
  cd.waitSampling(300)

  def request(function: Int, vector: Int, source: Int = 0): Unit = ask(source)(function, vector, aggregate = false)
  def ask(
      source: Int
  )(
      function: Int,
      vector: Int,
      aggregate: Boolean,
      queue: Int = 0,
      pidx: Int = 0,
      cidx: Int = 0,
      error: Int = 0,
      ofQueue: Boolean = true
  ): Unit =
    sources(source).enqueue { pins =>
      pins.request.function #= function
      pins.request.vector #= vector
      pins.request.aggregate #= aggregate
      pins.event.queue #= queue
      pins.event.pidx #= pidx
      pins.event.cidx #= cidx
      pins.event.error #= error
      pins.event.state #= 0
      pins.ofQueue #= ofQueue
      Seq(pins.event.colour, pins.event.c2h).foreach(_ #= false)
    }

  private def until(limit: Int)(done: => Boolean): Unit =
    assert(!cd.waitSamplingWhere(limit)(done), s"it does not end in $limit cycles")

  var longestAccess = 0
  private def access(function: Int, offset: Int, write: Boolean, data: Long): Long = {
    val pins = ports.table.access
    pins.valid #= true
    pins.function #= function
    pins.offset #= offset
    pins.write #= write
    pins.data #= data
    val start = cycle
    until(100)(pins.ready.toBoolean)
    longestAccess = longestAccess max (cycle - start)
    pins.valid #= false
    ports.table.value.toLong
  }
  def read(function: Int, offset: Int): Long = access(function, offset, write = false, 0)
  def write(function: Int, offset: Int, data: Long): Unit = access(function, offset, write = true, data)
  def pending(function: Int): Long = read(function, MsixTable.pendingAt)
  def setMask(function: Int, vector: Int, masked: Boolean): Unit =
    write(function, 16 * vector + 12, if (masked) 1 else 0)

  def address(function: Int, vector: Int): BigInt = BigInt("700000000", 16) + 0x1000 * function + 4 * vector
  def data(function: Int, vector: Int): Long = 0xda000000L + 0x100 * function + vector
  def set(function: Int, vector: Int): Unit = {
    write(function, 16 * vector, (address(function, vector) & 0xffffffffL).toLong)
    write(function, 16 * vector + 4, (address(function, vector) >> 32).toLong)
    write(function, 16 * vector + 8, data(function, vector))
  }
  private val there = (0 until p.functions).filter(p.exists(_: Int))

  /** Every vector has its address, and may send. */
  def setAll(): Unit = for (f <- there; v <- 0 until p.vectors) {
    set(f, v)
    setMask(f, v, masked = false)
  }

  /** Messages that have left, as function and vector; other writes are entries of rings. */
  def isMessage(write: SentWrite): Boolean = write.words.size == 1
  def messageOf(write: SentWrite): (Int, Int) = {
    val vector = ((write.address & 0xfff) / 4).toInt
    assert(write.address == address(write.function, vector) && write.words == Seq(data(write.function, vector)))
    write.function -> vector
  }
  def messages: Seq[(Int, Int)] = writes.toSeq.filter(isMessage).map(messageOf)

  def drain(function: Int, limit: Int = 200): Unit = {
    ports.drain.payload #= function
    ports.drain.valid #= true
    until(limit)(ports.drain.ready.toBoolean)
    ports.drain.valid #= false
  }

  var longestBell = 0
  def bell(function: Int, ring: Int, cidx: Int): Unit = {
    ports.bell.valid #= true
    ports.bell.function #= function
    ports.bell.index #= ring
    ports.bell.cidx #= cidx
    val start = cycle
    until(100)(ports.bell.ready.toBoolean)
    longestBell = longestBell max (cycle - start)
    ports.bell.valid #= false
  }

  /** The ring's PIDX, colour, and whether its interrupt waits for CIDX. */
  def hold(ring: Int)(change: => Unit = ()): (Int, Boolean, Boolean) = {
    ports.hold.index.payload #= ring
    ports.hold.index.valid #= true
    until(100)(ports.hold.held.toBoolean)
    val state = ports.hold.state
    val seen = (state.pidx.toInt, state.colour.toBoolean, state.serviced.toBoolean)
    change
    ports.hold.index.valid #= false
    cd.waitSampling(2)
    seen
  }
  def base(ring: Int): BigInt = BigInt("123400000000", 16) + 0x10000 * ring
  def begin(
      ring: Int,
      function: Int,
      vector: Int,
      pages: Int = 0,
      valid: Boolean = true,
      pidx: Int = 0,
      colour: Boolean = true
  ): Unit =
    hold(ring) {
      val pins = ports.change
      pins.valid #= true
      pins.payload.valid #= valid
      pins.function #= function
      pins.vector #= vector
      pins.serviced #= false
      pins.colour #= colour
      pins.base #= base(ring) >> 12
      pins.pages #= pages
      pins.pidx #= pidx
      until(100)(pins.ready.toBoolean)
      pins.valid #= false
    }
}
