// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.pcie.HostMemory
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._
import spinal.lib.bus.amba4.axi._
import spinal.lib.sim._

/** The card's memory at an AXI4 master, which answers at a pace and checks each burst. */
class CardBus(axi: Axi4, cd: ClockDomain, pace: Float, seed: Int) {
  private val random = new Random(seed)
  val memory = new HostMemory
  var isWrong: Long => Boolean = _ < 0 // addresses with an error
  var holds = false // nothing moves
  var writes, reads = Seq[Long]() // addresses of bursts
  private val (rDriver, rows) = StreamDriver.queue(axi.r, cd)
  private val (bDriver, answers) = StreamDriver.queue(axi.b, cd)
  private val takers = Seq(axi.aw, axi.w, axi.ar).map(s => StreamReadyRandomizer(s, cd, () => !holds))
  takers.foreach(_.setFactor(pace))
  rDriver.setFactor(pace)
  bDriver.setFactor(pace)

  private case class Burst(address: Long, rows: Int)
  private val bursts = mutable.Queue[Burst]()
  private val data = mutable.Queue[(BigInt, BigInt, Boolean)]()
  private def burst(address: BigInt, len: Int, size: Int, kind: Int): Burst = {
    val at = address.toLong
    assert(size == 5 && kind == 1 && at % 32 == 0, s"a burst at $at of size $size and kind $kind")
    assert((at & 4095) + 32 * (len + 1) <= 4096, s"a burst of ${len + 1} rows at $at crosses 4 KiB")
    Burst(at, len + 1)
  }

  StreamMonitor(axi.aw, cd) { aw =>
    val it = burst(aw.addr.toBigInt, aw.len.toInt, aw.size.toInt, aw.burst.toInt)
    writes = writes :+ it.address
    bursts += it
    finish()
  }
  StreamMonitor(axi.w, cd) { w =>
    data += ((w.data.toBigInt, w.strb.toBigInt, w.last.toBoolean))
    finish()
  }
  private def finish(): Unit = if (bursts.nonEmpty && data.size >= bursts.head.rows) {
    val it = bursts.dequeue()
    val wrong = (0 until it.rows).exists(i => isWrong(it.address + 32 * i))
    for (i <- 0 until it.rows) {
      val (bits, strobes, last) = data.dequeue()
      assert(last == (i == it.rows - 1), "the last row is not where the address says")
      for (lane <- 0 until 32 if strobes.testBit(lane) && !wrong)
        memory.write(it.address + 32 * i + lane, Seq((bits >> (8 * lane)).toByte))
    }
    answers.enqueue(b => b.resp #= (if (wrong) 2 + random.nextInt(2) else random.nextInt(2)))
  }
  StreamMonitor(axi.ar, cd) { ar =>
    val it = burst(ar.addr.toBigInt, ar.len.toInt, ar.size.toInt, ar.burst.toInt)
    reads = reads :+ it.address
    for (i <- 0 until it.rows) {
      val at = it.address + 32 * i
      val bytes = memory.read(at, 32)
      val wrong = isWrong(at)
      val bits = BigInt(1, bytes.reverse.toArray)
      rows.enqueue { r =>
        r.data #= (if (wrong) BigInt(256, random) else bits)
        r.resp #= (if (wrong) 2 + random.nextInt(2) else random.nextInt(2))
        r.last #= (i == it.rows - 1)
      }
    }
  }
}
