// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

import scala.collection.mutable

/** PS memory behind an AXI4 port, as unhelpful as the standard allows: responses of different ids in any order and
  * interleaved, writes seen by software only with their response. Checks what the master does on the way.
  */
class PsMemory(axi: Axi4, cd: ClockDomain) {
  var latency: () => Int = () => simRandom.nextInt(60)
  var ready: () => Boolean = () => simRandom.nextInt(4) != 0

  /** Accesses to these bytes, as read (true) or write (false), get this response. */
  var fault: (Long, Boolean) => Int = (_, _) => 0

  private val pages = mutable.HashMap[Long, Array[Byte]]()
  private def page(address: Long) = pages.getOrElseUpdate(address >> 12, new Array[Byte](4096))
  def byte(address: Long): Byte = page(address)((address & 4095).toInt)
  def setByte(address: Long, value: Byte): Unit = page(address)((address & 4095).toInt) = value
  def read(address: Long, length: Int): Array[Byte] = Array.tabulate(length)(i => byte(address + i))
  def write(address: Long, bytes: Seq[Byte]): Unit = for ((b, i) <- bytes.zipWithIndex) setByte(address + i, b)
  def number(address: Long, length: Int): Long =
    (0 until length).map(i => (byte(address + i) & 0xffL) << (8 * i)).foldLeft(0L)(_ | _)
  def setNumber(address: Long, length: Int, value: Long): Unit =
    for (i <- 0 until length) setByte(address + i, (value >> (8 * i)).toByte)

  private case class Burst(id: Int, address: Long, beats: Int, due: Long)
  private class Write(val id: Int, val address: Long, val beats: Int) {
    val bytes = mutable.ArrayBuffer[(Long, Byte)]()
    var taken = 0
    var due = 0L
  }
  private case class Beat(data: BigInt, strobe: Int, last: Boolean)
  var now = 0L
  var reads, writes, readBeats, writeBeats = 0L
  private val readQueues = mutable.LinkedHashMap[Int, mutable.Queue[Burst]]()
  private val readBeat = mutable.HashMap[Int, Int]().withDefaultValue(0)
  private val writeOrder = mutable.Queue[Write]()
  private val writeBeatsEarly = mutable.Queue[Beat]()
  private val writeQueues = mutable.LinkedHashMap[Int, mutable.Queue[Write]]()

  private def checkBurst(ax: Axi4Ax): (Int, Long, Int) = {
    val address = ax.addr.toLong
    val beats = ax.len.toInt + 1
    assert(ax.burst.toInt == 1 && ax.size.toInt == 3, "bursts are INCR, of full beats")
    assert(beats <= 16, s"burst of $beats beats")
    assert((address & 4095) / 8 + beats <= 512, f"burst of $beats beats at $address%x crosses 4 KiB")
    (ax.id.toInt, address & ~7L, beats)
  }

  // A master may not take back what it offers: valid and payload hold until ready.
  private class Holding(name: String, stream: Stream[_ <: Data]) {
    private var held: Option[BigInt] = None
    private def payload = stream.payload match {
      case ax: Axi4Ax => (ax.addr.toBigInt << 16) | (ax.len.toBigInt << 8) | ax.id.toBigInt
      case w: Axi4W   => (w.data.toBigInt << 16) | (w.strb.toBigInt << 8) | (if (w.last.toBoolean) 1 else 0)
    }
    def check(): Unit = {
      val valid = stream.valid.toBoolean
      for (was <- held) assert(valid && payload == was, s"$name changed before it was taken")
      held = if (valid && !stream.ready.toBoolean) Some(payload) else None
    }
  }
  private val holding = Seq(new Holding("aw", axi.aw), new Holding("w", axi.w), new Holding("ar", axi.ar))

  private def take(beat: Beat): Unit = {
    val write = writeOrder.head
    val address = write.address + 8 * write.taken
    for (i <- 0 until 8 if ((beat.strobe >> i) & 1) != 0)
      write.bytes += ((address + i, ((beat.data >> (8 * i)) & 0xff).toByte))
    write.taken += 1
    assert(beat.last == (write.taken == write.beats), s"wlast is ${beat.last} on beat ${write.taken} of ${write.beats}")
    if (beat.last) {
      writeOrder.dequeue()
      write.due = now + latency()
      writeQueues.getOrElseUpdate(write.id, mutable.Queue()).enqueue(write)
    }
  }

  axi.aw.ready #= false
  axi.w.ready #= false
  axi.ar.ready #= false
  axi.b.valid #= false
  axi.r.valid #= false
  cd.onSamplings {
    now += 1
    holding.foreach(_.check())
    if (axi.ar.valid.toBoolean && axi.ar.ready.toBoolean) {
      val (id, address, beats) = checkBurst(axi.ar.payload)
      reads += 1
      readQueues.getOrElseUpdate(id, mutable.Queue()).enqueue(Burst(id, address, beats, now + latency()))
    }
    if (axi.w.valid.toBoolean && axi.w.ready.toBoolean) {
      writeBeats += 1
      writeBeatsEarly.enqueue(Beat(axi.w.data.toBigInt, axi.w.strb.toInt, axi.w.last.toBoolean))
    }
    if (axi.aw.valid.toBoolean && axi.aw.ready.toBoolean) {
      val (id, address, beats) = checkBurst(axi.aw.payload)
      writes += 1
      writeOrder.enqueue(new Write(id, address, beats))
    }
    while (writeOrder.nonEmpty && writeBeatsEarly.nonEmpty) take(writeBeatsEarly.dequeue())

    if (!axi.r.valid.toBoolean || axi.r.ready.toBoolean) {
      val due = readQueues.values.filter(q => q.nonEmpty && q.head.due <= now).toSeq
      axi.r.valid #= due.nonEmpty
      if (due.nonEmpty) {
        val queue = due(simRandom.nextInt(due.size))
        val burst = queue.head
        val beat = readBeat(burst.id)
        val address = burst.address + 8 * beat
        readBeats += 1
        axi.r.id #= burst.id
        axi.r.data #= (0 until 8).map(i => BigInt(byte(address + i) & 0xff) << (8 * i)).sum
        axi.r.resp #= fault(address, true)
        axi.r.last #= beat == burst.beats - 1
        if (beat == burst.beats - 1) { queue.dequeue(); readBeat(burst.id) = 0 }
        else readBeat(burst.id) = beat + 1
      }
    }
    if (!axi.b.valid.toBoolean || axi.b.ready.toBoolean) {
      val due = writeQueues.values.filter(q => q.nonEmpty && q.head.due <= now).toSeq
      axi.b.valid #= due.nonEmpty
      if (due.nonEmpty) {
        val write = due(simRandom.nextInt(due.size)).dequeue()
        val response = fault(write.address, false)
        if (response < 2) for ((address, value) <- write.bytes) setByte(address, value)
        axi.b.id #= write.id
        axi.b.resp #= response
      }
    }
    axi.ar.ready #= ready()
    axi.aw.ready #= ready()
    axi.w.ready #= ready()
  }
}
