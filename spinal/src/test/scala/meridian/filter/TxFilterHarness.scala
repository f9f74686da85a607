// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.host.{Cycles, FrameSource, StreamSink}
import meridian.host.FrameSim._
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib._

/** What a frame from the host is, as the test made it. */
case class TxFrame(bytes: Array[Byte], queue: Int, error: Boolean = false, zero: Boolean = false) {
  def length: Int = if (zero) 0 else bytes.length
}

/** The world around a TxFilter: tables, ports, sinks, and the judgement of a frame by the rules of docs/architecture.md. */
class TxFilterHarness(dut: TxFilter, p: ShellParam, macLatency: Int, queueLatency: Int) {
  val cd = clocked(dut)
  val width = p.hostBytes
  val cycles = new Cycles(cd)

  val owners = mutable.Map[Int, Int]()
  val entries = mutable.Map[(Int, BigInt, Int), (Boolean, Int)]() // port, address, vid -> group?, index
  val enabled, trusted = mutable.Set[Int]()
  val portOf = mutable.Map[Int, Int]().withDefaultValue(0)
  val txEnable, linkUp = mutable.Set[Int](0 until p.ports: _*)
  val address = Array.fill(256)(toBig(randomBytes(6).toSeq))
  val vlan = Array.tabulate(256)(f => if (f % 2 == 0) 0 else 100 + f)

  val source = new FrameSource(dut.io.h2c, cd)
  val sent = mutable.ArrayBuffer[TxFrame]()
  val records = mutable.ArrayBuffer[(TxVerdict.E, Int, Option[Int], Int)]() // verdict, port, function, length
  val delivered = Array.fill(p.ports)(mutable.ArrayBuffer[Array[Byte]]())
  val rolledBack = Array.fill(p.ports)(mutable.ArrayBuffer[Int]()) // beats
  val lastAt = mutable.ArrayBuffer[Long]()
  val lastIn = mutable.ArrayBuffer[Long]()
  val recordAt = mutable.ArrayBuffer[Long]()
  var flushed = 0

  val sinks = for (i <- 0 until p.ports) yield {
    val bytes = mutable.ArrayBuffer[Byte]()
    new StreamSink(dut.io.tx(i), cd)({ word =>
      val last = word.last.toBoolean
      val mty = word.fragment.mty.toInt
      bytes ++= toBytes(word.fragment.data.toBigInt, width)
      if (last && word.fragment.meta.toBoolean) rolledBack(i) += bytes.size / width
      else if (last) delivered(i) += bytes.dropRight(mty).toArray
      else assert(mty == 0)
      if (last) {
        bytes.clear()
        lastAt += cycles.now
      }
    })
  }

  private val queueAnswers, macAnswers = mutable.Queue[() => Unit]()
  dut.io.owner.result.valid #= false
  dut.io.mac.result.valid #= false
  dut.io.flush #= false
  cd.onSamplings {
    val owner = dut.io.owner
    val queried = owner.query.valid.toBoolean
    val found = if (queried) owners.get(owner.query.payload.toInt) else None
    queueAnswers.enqueue { () =>
      owner.result.valid #= queried
      owner.result.payload.valid #= (if (queried) found.isDefined else simRandom.nextBoolean())
      owner.result.payload.function #= found.fold(simRandom.nextInt(256))(identity)
    }
    if (queueAnswers.size == queueLatency) queueAnswers.dequeue().apply()

    val mac = dut.io.mac
    val asked = mac.query.valid.toBoolean
    val key = (mac.query.port.toInt, mac.query.address.toBigInt, mac.query.vid.toInt)
    val entry = if (asked) entries.get(key) else None
    macAnswers.enqueue { () =>
      mac.result.valid #= asked
      mac.result.hit #= (if (asked) entry.isDefined else simRandom.nextBoolean())
      mac.result.value.isGroup #= entry.fold(simRandom.nextBoolean())(_._1)
      mac.result.value.index #= entry.fold(simRandom.nextInt(256))(_._2)
    }
    if (macAnswers.size == macLatency) macAnswers.dequeue().apply()

    if (dut.io.record.valid.toBoolean) {
      val record = dut.io.record
      val function = if (record.functionValid.toBoolean) Some(record.function.toInt) else None
      records += ((record.verdict.toEnum, record.port.toInt, function, record.length.toInt))
      recordAt += cycles.now
    }
    if (dut.io.h2c.valid.toBoolean && dut.io.h2c.ready.toBoolean && dut.io.h2c.last.toBoolean) lastIn += cycles.now
    if (dut.io.flushed.toBoolean) flushed += 1
  }

  /** Functions 0 to n-1 with two queues each, addresses and ports of their own; function 1 is trusted. */
  def configure(): Unit = {
    for (f <- 0 until p.functions) {
      owners(2 * f) = f
      owners(2 * f + 1) = f
      enabled += f
      portOf(f) = f % p.ports
      entries((portOf(f), address(f), vlan(f))) = (false, f)
    }
    trusted += 1
    apply()
  }

  def apply(): Unit = {
    def bits(set: mutable.Set[Int]) = set.foldLeft(BigInt(0))(_ setBit _)
    dut.io.functions.enable #= bits(enabled)
    dut.io.functions.trusted #= bits(trusted)
    for (other <- Seq(dut.io.functions.broadcast, dut.io.functions.allMulticast, dut.io.functions.promiscuous))
      other.randomize()
    for (f <- 0 until p.functions) dut.io.functions.port(f) #= portOf(f)
    for (i <- 0 until p.ports) {
      dut.io.ports(i).randomize()
      dut.io.ports(i).txEnable #= txEnable(i)
      dut.io.ports(i).linkUp #= linkUp(i)
    }
  }

  def send(frame: TxFrame): Unit = {
    sent += frame
    source.send(frame.bytes) { (meta, last) =>
      meta.queue #= frame.queue
      meta.error #= (if (last) frame.error else simRandom.nextBoolean()) // only the last beat counts
      meta.zero #= (if (last) frame.zero else false)
    }
  }

  /** A frame of the owner of the queue, with its source address and VLAN. */
  def ownFrame(queue: Int, length: Int): TxFrame = {
    val f = queue / 2 % 256
    val tag = if (vlan(f) == 0) Seq(0x08, 0x00) else Seq(0x81, 0x00, vlan(f) >> 8, vlan(f) & 0xff)
    val start = randomBytes(6) ++ toBytes(address(f), 6) ++ tag.map(_.toByte)
    TxFrame((start ++ randomBytes(length)).take(length), queue)
  }

  /** The verdict by the rules, from the bytes as they would stand on the wire. */
  def judge(frame: TxFrame): (TxVerdict.E, Int, Option[Int], Int) = {
    val function = owners.get(frame.queue).filter(_ < p.functions)
    val port = function.fold(0)(portOf)
    val wire = frame.bytes.padTo(60, 0.toByte).map(_ & 0xff)
    val vid = if (wire(12) == 0x81 && wire(13) == 0) (wire(14) & 15) << 8 | wire(15) else 0
    val own = entries.get((port, toBig(wire.slice(6, 12).map(_.toByte).toSeq), vid)) == function.map((false, _))
    val verdict =
      if (function.isEmpty) TxVerdict.noFunction
      else if (!txEnable(port) || port >= p.ports) TxVerdict.hostDisabled
      else if (!enabled(function.get)) TxVerdict.disabled
      else if (!linkUp(port)) TxVerdict.linkDown
      else if (frame.zero || frame.bytes.length < 14) TxVerdict.runt
      else if (frame.error) TxVerdict.error
      else if (frame.bytes.length > p.maxFrame) TxVerdict.oversize
      else if (!trusted(function.get) && !own) TxVerdict.spoof
      else TxVerdict.sent
    (verdict, port, function, frame.length min 65535)
  }

  def flush(): Unit = {
    dut.io.flush #= true
    cd.waitSampling()
    dut.io.flush #= false
  }

  def idle: Boolean = dut.io.idle.toBoolean

  def drainRecords(): Unit = waitFor(cd, "the last record", 400000)(records.size == sent.size)

  def drain(): Unit = {
    drainRecords()
    waitFor(cd, "the last beat", 2000)(idle && (0 until p.ports).forall(i => !dut.io.tx(i).valid.toBoolean))
  }

  /** Every record and every delivered frame as judged, in order. */
  def check(): Unit = {
    val judged = sent.map(judge)
    for (((record, right), i) <- records.zip(judged).zipWithIndex)
      assert(record == right, s"frame $i of ${sent(i).bytes.length} bytes")
    assert(records.size == sent.size)
    for (port <- 0 until p.ports) {
      val right = sent.zip(judged).collect { case (f, (TxVerdict.sent, `port`, _, _)) => f.bytes.toSeq }
      assert(delivered(port).map(_.toSeq) == right, s"port $port")
      for (beats <- rolledBack(port)) assert((beats - 1) * width <= p.maxFrame, "a dropped frame went on too long")
    }
  }
}
