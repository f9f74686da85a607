// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.rss._
import meridian.meta.{HashType, RxRecord, RxStamp, RxVerdict}
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** Latencies of the tables around the filter. */
case class Latencies(mac: Int, range: Int, queue: Int, credit: Int)

/** What the card is told: flags, tables, lists. Everything off and empty at first. */
class RxConfig(p: ShellParam) {
  val enable, broadcast, allMulticast, promiscuous, strip, insert = Array.fill(p.functions)(false)
  val portOf = Array.fill(p.functions)(0)
  val rxEnable = Array.fill(p.ports)(true)
  val default = Array.fill[Option[Int]](p.ports)(None)
  val groups = Array.fill(p.groups)(Set.empty[Int])
  val mac = mutable.Map[(Int, BigInt, Int), (Boolean, Int)]() // port, address, VLAN -> is a group, index
  val ranges = Array.fill(p.functions)((0, 0)) // base, count
  val owner = mutable.Map[Int, Int]()
  val full = mutable.Set[Int]() // queues without buffers
  val tables = Array.fill(p.functions, 128)(0)
}

/** What must become of a frame. */
sealed trait Fate
case class Drop(verdict: RxVerdict.E) extends Fate
case class One(function: Int, verdict: RxVerdict.E, queue: Int) extends Fate
case class Several(copies: Seq[One]) extends Fate

/** Where a frame comes from. */
sealed trait From
case object Wire extends From
case object OfPs extends From
case class OfFunction(function: Int) extends From

/** stamp: when it came, as the bits of an RxStamp; 0 if the module at the host is not told. */
case class Frame(port: Int, bytes: Array[Int], from: From = Wire, stamp: BigInt = 0)
case class Arrived(
    function: Int,
    queue: Int,
    hash: (BigInt, HashType.E),
    tci: Option[Int],
    bytes: Seq[Int],
    stamp: BigInt,
    firstCycle: Long
)
object Arrived {

  /** What is to arrive of a frame, with OpenNIC's key. */
  def of(one: One, frame: Frame, strips: Boolean, silent: Boolean): Arrived = {
    val hash = (BigInt(RxFrames.hash(frame.bytes, Rss.defaultKey)), RxFrames.hashType(frame.bytes))
    val strip = strips && RxFrames.tagged(frame.bytes)
    val tci = Option.when(strip && !silent)(frame.bytes(14) << 8 | frame.bytes(15))
    val bytes = if (strip) frame.bytes.patch(12, Nil, 4) else frame.bytes
    Arrived(one.function, one.queue, hash, tci, bytes.toSeq, frame.stamp, 0)
  }
}
case class Told(verdict: RxVerdict.E, port: Int, function: Option[Int], copy: Boolean, length: Int)

/** Drives a receive filter and its tables, and holds what comes out against what must. */
class RxFilterBench(dut: RxFilter, p: ShellParam, latencies: Latencies, seed: Int) {
  println(s"seed $seed")
  val random = new Random(seed)
  val cd = dut.clockDomain
  var config = new RxConfig(p)
  var cycle = 0L
  var stalls = 0
  var readyChance = 1.0
  val expected = mutable.ArrayBuffer[(Frame, Fate)]()
  val records, copyRecords = mutable.ArrayBuffer[Told]()
  val arrived = mutable.ArrayBuffer[Arrived]()
  val lastBeats = mutable.ArrayBuffer[Long]() // cycle of each frame's last beat at rx
  val credits = mutable.Map[(Int, Int), Int]().withDefaultValue(0) // granted, by queue and length

  cd.forkStimulus(4)
  dut.io.rx.valid #= false
  dut.io.c2h.ready #= false
  dut.io.indirection.valid #= false
  dut.io.hashKey.valid #= false
  dut.io.group.valid #= false
  dut.io.flush #= false
  apply()

  private def serve[R](latency: Int, asked: => Option[R])(answer: Option[R] => Unit): Unit = {
    val line = mutable.Queue.fill(latency - 1)(Option.empty[R])
    answer(None)
    cd.onSamplings { line.enqueue(asked); answer(line.dequeue()) }
  }
  serve(
    latencies.mac,
    Option.when(dut.io.mac.query.valid.toBoolean) {
      val key = (dut.io.mac.query.port.toInt, dut.io.mac.query.address.toBigInt, dut.io.mac.query.vid.toInt)
      config.mac.get(key)
    }
  ) { answer =>
    dut.io.mac.result.valid #= answer.isDefined
    val value = answer.flatten
    dut.io.mac.result.payload.hit #= value.isDefined
    dut.io.mac.result.payload.value.isGroup #= value.fold(random.nextBoolean())(_._1)
    dut.io.mac.result.payload.value.index #= value.fold(random.nextInt(256))(_._2)
  }
  serve(latencies.range, Option.when(dut.io.range.query.valid.toBoolean)(dut.io.range.query.payload.toInt)) { answer =>
    dut.io.range.result.valid #= answer.isDefined
    val (base, count) = answer.flatMap(config.ranges.lift).getOrElse((0, 0))
    dut.io.range.result.base #= base
    dut.io.range.result.count #= count
  }
  serve(latencies.queue, Option.when(dut.io.owner.query.valid.toBoolean)(dut.io.owner.query.payload.toInt)) { answer =>
    dut.io.owner.result.valid #= answer.isDefined
    val owner = answer.flatMap(config.owner.get)
    dut.io.owner.result.payload.valid #= owner.isDefined
    dut.io.owner.result.payload.function #= owner.getOrElse[Int](random.nextInt(p.functions))
  }
  serve(
    latencies.credit,
    Option.when(dut.io.credit.query.valid.toBoolean) {
      val (queue, length) = (dut.io.credit.query.queue.toInt, dut.io.credit.query.length.toInt)
      val granted = !config.full(queue)
      if (granted) credits((queue, length)) += 1
      granted
    }
  ) { answer =>
    dut.io.credit.granted.valid #= answer.isDefined
    dut.io.credit.granted.payload #= answer.getOrElse(random.nextBoolean())
  }

  private def told(flow: spinal.lib.Flow[RxRecord]): Option[Told] = Option.when(flow.valid.toBoolean) {
    val function = Option.when(flow.functionValid.toBoolean)(flow.function.toInt)
    Told(flow.verdict.toEnum, flow.port.toInt, function, flow.copy.toBoolean, flow.length.toInt)
  }
  private var beats = mutable.ArrayBuffer[Int]()
  var lastOut = 0L // cycle of the last beat at c2h
  val flushedAt = mutable.ArrayBuffer[Long]()
  private var first = 0L
  private var target = (0, 0, 0, (BigInt(0), HashType.none: HashType.E), Option.empty[Int], BigInt(0))
  cd.onSamplings {
    cycle += 1
    if (dut.io.rx.valid.toBoolean && !dut.io.rx.ready.toBoolean) stalls += 1
    if (dut.io.rx.valid.toBoolean && dut.io.rx.ready.toBoolean && dut.io.rx.last.toBoolean) lastBeats += cycle
    records ++= told(dut.io.record)
    copyRecords ++= told(dut.io.copyRecord)
    if (dut.io.flushed.toBoolean) flushedAt += cycle
    if (dut.io.c2h.valid.toBoolean && dut.io.c2h.ready.toBoolean) {
      val meta = dut.io.c2h.fragment.meta
      val hash = (meta.hash.value.toBigInt, meta.hash.kind.toEnum)
      val tci = Option.when(meta.stripped.toBoolean)(meta.tci.toInt)
      assert(tci.isDefined || meta.tci.toInt == 0)
      val stamp = if (p.stampsAtHost) whole(meta.stamp) else BigInt(0)
      val now = (meta.function.toInt, meta.queue.toInt, meta.length.toInt, hash, tci, stamp)
      if (beats.isEmpty) { first = cycle; target = now }
      assert(now == target, "what is known of a frame holds over it")
      val mty = dut.io.c2h.fragment.mty.toInt
      assert(mty == 0 || dut.io.c2h.last.toBoolean)
      val data = dut.io.c2h.fragment.data.toBytes
      beats ++= data.take(p.hostBytes - mty).map(_ & 0xff)
      if (dut.io.c2h.last.toBoolean) {
        assert(beats.size == target._3, "length of a frame at c2h")
        lastOut = cycle
        arrived += Arrived(target._1, target._2, target._4, target._5, beats.toSeq, target._6, first)
        beats = mutable.ArrayBuffer[Int]()
      }
    }
    dut.io.c2h.ready #= random.nextDouble() < readyChance
  }

  /** Sets the flags to what config says, and waits until lists are counted anew. */
  def apply(): Unit = {
    def bits(flags: Array[Boolean]): BigInt = flags.zipWithIndex.collect { case (true, i) => BigInt(1) << i }.sum
    dut.io.functions.enable #= bits(config.enable)
    dut.io.functions.broadcast #= bits(config.broadcast)
    dut.io.functions.allMulticast #= bits(config.allMulticast)
    dut.io.functions.promiscuous #= bits(config.promiscuous)
    dut.io.functions.trusted #= 0
    dut.io.functions.control #= 0
    dut.io.functions.strip #= bits(config.strip)
    dut.io.functions.insert #= bits(config.insert)
    for ((port, i) <- config.portOf.zipWithIndex) dut.io.functions.port(i) #= port
    for (i <- 0 until p.ports) {
      dut.io.ports(i).rxEnable #= config.rxEnable(i)
      dut.io.ports(i).txEnable #= false
      dut.io.ports(i).veb #= random.nextBoolean()
      dut.io.ports(i).linkUp #= random.nextBoolean()
      dut.io.ports(i).defaultValid #= config.default(i).isDefined
      dut.io.ports(i).defaultFunction #= config.default(i).getOrElse[Int](0)
    }
  }
  def writeGroups(): Unit = {
    for (group <- 0 until p.groups; word <- 0 until (p.functions + 31) / 32) {
      dut.io.group.valid #= true
      dut.io.group.group #= group
      dut.io.group.word #= word
      dut.io.group.data #= config.groups(group).filter(_ / 32 == word).map(f => 1L << (f % 32)).sum
      cd.waitSampling()
    }
    dut.io.group.valid #= false
  }
  def writeTable(function: Int): Unit = {
    for (i <- 0 until 128) {
      dut.io.indirection.valid #= true
      dut.io.indirection.function #= function
      dut.io.indirection.index #= i
      dut.io.indirection.queue #= config.tables(function)(i)
      cd.waitSampling()
    }
    dut.io.indirection.valid #= false
  }
  def settle(): Unit = { apply(); cd.waitSampling(2 * p.ports * p.groups + 16) }

  private def one(function: Int, bytes: Array[Int]): One = {
    if (function >= p.functions || !config.enable(function) || config.ranges(function)._2 == 0)
      return One(function, RxVerdict.disabled, 0)
    val index = (RxFrames.hash(bytes, Rss.defaultKey) & 127).toInt
    val queue = (config.ranges(function)._1 + config.tables(function)(index)) % 2048
    if (!config.owner.get(queue).contains(function)) One(function, RxVerdict.badQueue, queue)
    else if (config.full(queue)) One(function, RxVerdict.queueFull, queue)
    else One(function, RxVerdict.delivered, queue)
  }
  def fate(frame: Frame): Fate = {
    val address = frame.bytes.take(6)
    val entry = config.mac.get((frame.port, RxFrames.address(frame.bytes), RxFrames.vid(frame.bytes)))
    def those(wanted: Int => Boolean) =
      (0 until p.functions).filter(f => wanted(f) && config.enable(f) && config.portOf(f) == frame.port)
    def sender(function: Int) = frame.from == OfFunction(function)
    val isGroup = entry.exists(e => e._1 && e._2 < p.groups)
    def all(functions: Seq[Int], otherwise: => Fate): Fate = functions match {
      case Seq() => otherwise
      case some if some.size > 1 || isGroup && frame.from != Wire =>
        Several(some.filterNot(sender).map(one(_, frame.bytes)))
      case Seq(function) if sender(function) => otherwise
      case Seq(function)                     => one(function, frame.bytes)
    }
    if (frame.port >= p.ports || !config.rxEnable(frame.port)) Drop(RxVerdict.hostDisabled)
    else if (address.forall(_ == 255) && !isGroup) all(those(config.broadcast), Drop(RxVerdict.noListener))
    else if (entry.exists(_._1) || address(0) % 2 == 1) {
      val members = entry.filter(e => e._1 && e._2 < p.groups).map(e => config.groups(e._2)).getOrElse(Set())
      all(those(f => config.allMulticast(f) || members(f)), Drop(RxVerdict.noListener))
    } else if (entry.exists(e => sender(e._2))) One(entry.get._2, RxVerdict.noMatch, 0)
    else if (entry.isDefined) one(entry.get._2, frame.bytes)
    else if (frame.from != Wire) Drop(RxVerdict.noMatch)
    else {
      def default = config.default(frame.port).fold[Fate](Drop(RxVerdict.noMatch))(one(_, frame.bytes))
      all(those(config.promiscuous), default)
    }
  }

  private def whole(stamp: RxStamp): BigInt =
    (stamp.valid.toBigInt << 80) + (stamp.time.seconds.toBigInt << 32) + stamp.time.nanoseconds.toBigInt

  def send(asked: Frame, validChance: Double = 1.0): Unit = {
    val frame = if (p.stampsAtHost) asked.copy(stamp = BigInt(81, random.self)) else asked
    expected += ((frame, fate(frame)))
    val beats = frame.bytes.grouped(p.hostBytes).toSeq
    for ((beat, i) <- beats.zipWithIndex) {
      while (random.nextDouble() >= validChance) {
        dut.io.rx.valid #= false
        cd.waitSampling()
      }
      dut.io.rx.valid #= true
      dut.io.rx.last #= i == beats.size - 1
      val padded = beat.toSeq ++ Seq.fill(p.hostBytes - beat.length)(0xee)
      dut.io.rx.fragment.data #= padded.zipWithIndex.map { case (byte, b) => BigInt(byte) << (8 * b) }.sum
      dut.io.rx.fragment.mty #= p.hostBytes - beat.length
      dut.io.rx.fragment.meta.port #= frame.port
      dut.io.rx.fragment.meta.length #= frame.bytes.length
      if (p.stampsAtHost) {
        val stamp = dut.io.rx.fragment.meta.stamp
        stamp.valid #= frame.stamp.testBit(80)
        stamp.time.seconds #= (frame.stamp >> 32) & ((BigInt(1) << 48) - 1)
        stamp.time.nanoseconds #= frame.stamp & 0xffffffffL
      }
      val source = dut.io.rx.fragment.meta.source
      source.inside #= frame.from != Wire
      source.isFunction #= frame.from.isInstanceOf[OfFunction]
      source.function #= (frame.from match {
        case OfFunction(function) => function
        case _                    => random.nextInt(256)
      })
      assert(!cd.waitSamplingWhere(20000)(dut.io.rx.ready.toBoolean), "rx stands still")
    }
    dut.io.rx.valid #= false
  }

  def flush(): Unit = {
    dut.io.flush #= true
    cd.waitSampling()
    dut.io.flush #= false
  }

  def drain(): Unit = {
    def idle = !dut.io.rx.valid.toBoolean && dut.io.idle.toBoolean
    assert(!cd.waitSamplingWhere(200000)(idle), "never idle")
  }

  /** Holds everything since the last check against the model, and starts anew. */
  def check(): Map[RxVerdict.E, Int] = {
    cd.waitSampling(4)
    assert(records.size == expected.size, "one record a frame")
    val unicast, copies = mutable.Queue[Arrived]()
    def arrives(one: One, frame: Frame) =
      Arrived.of(one, frame, config.strip(one.function), config.insert(one.function))
    def lengthOf(one: One, frame: Frame) = {
      val strips = one.function < p.functions && config.strip(one.function) && RxFrames.tagged(frame.bytes)
      frame.bytes.length - (if (strips) 4 else 0)
    }
    val copyTold = mutable.ArrayBuffer[Told]()
    def name(one: One) = Option.when(one.function < p.functions)(one.function)
    for (((frame, fate), record) <- expected.zip(records)) {
      val length = frame.bytes.length
      fate match {
        case Drop(verdict) => assert(record == Told(verdict, frame.port, None, copy = false, length))
        case one: One =>
          assert(record == Told(one.verdict, frame.port, name(one), copy = false, lengthOf(one, frame)))
          if (one.verdict == RxVerdict.delivered) unicast += arrives(one, frame)
        case Several(list) =>
          assert(record.verdict == RxVerdict.copying || record.verdict == RxVerdict.copyCut, s"$record for several")
          assert(record == Told(record.verdict, frame.port, None, copy = false, length))
          if (record.verdict == RxVerdict.copying) for (one <- list) {
            copyTold += Told(one.verdict, frame.port, name(one), copy = true, lengthOf(one, frame))
            if (one.verdict == RxVerdict.delivered) copies += arrives(one, frame)
          }
      }
    }
    assert(copyRecords == copyTold, "copies told are the copies of the frames accepted")
    val owed = mutable.Map[(Int, Int), Int]().withDefaultValue(0)
    for (frame <- arrived) {
      val plain = frame.copy(firstCycle = 0)
      owed((frame.queue, frame.bytes.size)) += 1
      if (unicast.headOption.contains(plain)) unicast.dequeue()
      else {
        val of = s"frame for function ${frame.function}"
        assert(copies.headOption.contains(plain), s"$of at c2h is neither the next unicast frame nor the next copy")
        copies.dequeue()
      }
    }
    assert(unicast.isEmpty && copies.isEmpty, "everything delivered arrives")
    assert(credits == owed, "buffers are taken for what is delivered and nothing else")
    val counts = (records ++ copyRecords).groupBy(_.verdict).map { case (verdict, list) => verdict -> list.size }
    clear()
    counts
  }
  def clear(): Unit = {
    Seq(expected, records, copyRecords, arrived, lastBeats).foreach(_.clear())
    credits.clear()
    stalls = 0
  }
}
