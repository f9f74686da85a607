// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.mactable._
import meridian.host.{Cycles, FrameSource, StreamSink}
import meridian.host.FrameSim._
import meridian.meta.TxVerdict
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib._

/** What a frame from the host is, as the test made it. */
case class TxFrame(
    bytes: Array[Byte],
    queue: Int,
    error: Boolean = false,
    zero: Boolean = false,
    ask: Option[Int] = None, // a tag
    unfilled: Boolean = false,
    came: Option[TxFrame] = None // of one with a tag that it got: without
) {
  def length: Int = if (zero) 0 else bytes.length
}

/** What left for the inside of the card; to and lost: functions and PS. */
case class Copied(
    bytes: Array[Byte],
    port: Int,
    function: Int,
    to: (Boolean, Boolean),
    drop: Boolean,
    lost: (Boolean, Boolean)
)

/** The world around a TxFilter: tables, ports, sinks, and the judgement of a frame by the rules of docs/architecture.md. */
class TxFilterHarness(dut: TxFilter, p: ShellParam, macLatency: Int, queueLatency: Int) {
  val cd = clocked(dut)
  val width = p.hostBytes
  val cycles = new Cycles(cd)

  val owners = mutable.Map[Int, Int]()
  val entries = mutable.Map[(Int, BigInt, Int), (Boolean, Int)]() // port, address, vid -> group?, index
  val enabled, trusted, control = mutable.Set[Int]()
  val portOf = mutable.Map[Int, Int]().withDefaultValue(0)
  val txEnable, linkUp = mutable.Set[Int](0 until p.ports: _*)
  val veb = mutable.Set[Int]()
  val tags = mutable.Map[Int, Int]() // the functions that get one; written by writeTags
  val psEnable = mutable.Set[Int]()
  val psAddress = Array.fill(p.ports)(toBig(randomBytes(6).toSeq).clearBit(0))
  val address = Array.fill(256)(toBig(randomBytes(6).toSeq))
  val vlan = Array.tabulate(256)(f => if (f % 2 == 0) 0 else 100 + f)

  val source = new FrameSource(dut.io.h2c, cd)
  val sent = mutable.ArrayBuffer[TxFrame]()
  val records = mutable.ArrayBuffer[(TxVerdict.E, Int, Option[Int], Int)]() // verdict, port, function, length
  val delivered = Array.fill(p.ports)(mutable.ArrayBuffer[Array[Byte]]())
  val marked = Array.fill(p.ports)(mutable.ArrayBuffer[Boolean]()) // whether a frame delivered is told to be paced
  val paced = mutable.Set[Int]() // queues
  val rolledBack = Array.fill(p.ports)(mutable.ArrayBuffer[Int]()) // beats
  val copies = mutable.Queue[Copied]()
  val lastAt = mutable.ArrayBuffer[Long]()
  val lastIn = mutable.ArrayBuffer[Long]()
  val copyRecords = mutable.ArrayBuffer[((Boolean, Boolean), (Boolean, Boolean))]() // made and full
  val recordAt = mutable.ArrayBuffer[Long]()
  var flushed = 0
  var skipped = 0 // records of frames with a checksum not filled in

  val sinks = for (i <- 0 until p.ports) yield {
    val bytes = mutable.ArrayBuffer[Byte]()
    val marks = mutable.Set[Boolean]()
    new StreamSink(dut.io.tx(i), cd)({ word =>
      val last = word.last.toBoolean
      val mty = word.fragment.mty.toInt
      bytes ++= toBytes(word.fragment.data.toBigInt, width)
      val rolls = last && word.fragment.meta.drop.toBoolean
      marks += word.fragment.meta.paced.toBoolean
      if (rolls) rolledBack(i) += bytes.size / width
      else if (last) {
        delivered(i) += bytes.dropRight(mty).toArray
        assert(marks.size == 1, "a frame is paced in some of its beats")
        marked(i) += marks.head
      } else assert(mty == 0)
      if (last) {
        bytes.clear()
        marks.clear()
        lastAt += cycles.now
      }
    })
  }

  private val queueAnswers, macAnswers, destinationAnswers, pacedAnswers = mutable.Queue[() => Unit]()
  private def serve(mac: MacLookup, answers: mutable.Queue[() => Unit]): Unit = {
    val asked = mac.query.valid.toBoolean
    val key = (mac.query.port.toInt, mac.query.address.toBigInt, mac.query.vid.toInt)
    val entry = if (asked) entries.get(key) else None
    answers.enqueue { () =>
      mac.result.valid #= asked
      mac.result.hit #= (if (asked) entry.isDefined else simRandom.nextBoolean())
      mac.result.value.isGroup #= entry.fold(simRandom.nextBoolean())(_._1)
      mac.result.value.index #= entry.fold(simRandom.nextInt(256))(_._2)
    }
    if (answers.size == macLatency) answers.dequeue().apply()
  }
  private val copied = mutable.ArrayBuffer[Byte]()
  dut.io.owner.result.valid #= false
  dut.io.mac.result.valid #= false
  dut.io.destination.result.valid #= false
  dut.io.copyLost.toFunctions #= false
  dut.io.copyLost.toPs #= false
  dut.io.flush #= false
  dut.io.tag.valid #= false
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

    val isPaced = if (queried) paced(owner.query.payload.toInt) else simRandom.nextBoolean()
    pacedAnswers.enqueue(() => dut.io.paced #= isPaced)
    if (pacedAnswers.size == TxLookup.pacedLatency) pacedAnswers.dequeue().apply()

    serve(dut.io.mac, macAnswers)
    serve(dut.io.destination, destinationAnswers)

    val copy = dut.io.copy
    val lost = (dut.io.copyLost.toFunctions.toBoolean, dut.io.copyLost.toPs.toBoolean)
    if (copy.valid.toBoolean) {
      copied ++= toBytes(copy.data.toBigInt, width).dropRight(copy.mty.toInt)
      if (copy.last.toBoolean) {
        val to = (copy.toFunctions.toBoolean, copy.toPs.toBoolean)
        copies += Copied(copied.toArray, copy.port.toInt, copy.function.toInt, to, copy.drop.toBoolean, lost)
        copied.clear()
      }
    }
    dut.io.copyLost.toFunctions #= simRandom.nextBoolean()
    dut.io.copyLost.toPs #= simRandom.nextBoolean()

    if (dut.io.record.valid.toBoolean) {
      val record = dut.io.record
      val function = if (record.functionValid.toBoolean) Some(record.function.toInt) else None
      records += ((record.verdict.toEnum, record.port.toInt, function, record.length.toInt))
      recordAt += cycles.now
      val made = (record.toFunctions.made.toBoolean, record.toPs.made.toBoolean)
      val full = (record.toFunctions.full.toBoolean && made._1, record.toPs.full.toBoolean && made._2)
      if (record.unfilled.toBoolean) skipped += 1
      if (made != ((false, false))) copyRecords += ((made, full))
    }
    if (dut.io.h2c.valid.toBoolean && dut.io.h2c.ready.toBoolean && dut.io.h2c.last.toBoolean) lastIn += cycles.now
    if (dut.io.flushed.toBoolean) flushed += 1
  }

  /** Functions 0 to n-1 with two queues each, addresses and ports of their own; function 1 is trusted. */
  def configure(): Unit = {
    paced ++= (0 until 2 * p.functions).filter(_ % 3 == 0)
    for (f <- 0 until p.functions) {
      owners(2 * f) = f
      owners(2 * f + 1) = f
      enabled += f
      portOf(f) = f % p.ports
      entries((portOf(f), address(f), vlan(f))) = (false, f)
    }
    for (f <- 0 until p.functions by 2; other <- vlan.take(p.functions)) // those others reach them by
      entries((portOf(f), address(f), other)) = (false, f)
    trusted += 1
    control ++= (0 until p.functions).filter(_ % 3 == 0)
    apply()
    writeTags()
  }

  def writeTags(): Unit = {
    for (f <- 0 until p.functions) {
      dut.io.tag.valid #= true
      dut.io.tag.function #= f
      dut.io.tag.tag.insert #= tags.contains(f)
      dut.io.tag.tag.tci #= tags.getOrElse[Int](f, simRandom.nextInt(1 << 16))
      cd.waitSampling()
    }
    dut.io.tag.valid #= false
  }

  def apply(): Unit = {
    def bits(set: mutable.Set[Int]) = set.foldLeft(BigInt(0))(_ setBit _)
    dut.io.functions.enable #= bits(enabled)
    dut.io.functions.trusted #= bits(trusted)
    dut.io.functions.control #= bits(control)
    for (
      other <- Seq(
        dut.io.functions.broadcast,
        dut.io.functions.allMulticast,
        dut.io.functions.promiscuous,
        dut.io.functions.insert
      )
    )
      other.randomize()
    for (f <- 0 until p.functions) dut.io.functions.port(f) #= portOf(f)
    for (i <- 0 until p.ports) {
      dut.io.ports(i).randomize()
      dut.io.ports(i).txEnable #= txEnable(i)
      dut.io.ports(i).linkUp #= linkUp(i)
      dut.io.ports(i).veb #= veb(i)
      val filter = dut.io.psFilter(i)
      filter.enable #= psEnable(i)
      filter.broadcast #= true
      filter.allMulticast #= false
      filter.promiscuous #= simRandom.nextBoolean() // means nothing here
      filter.valid #= 1
      filter.address(0) #= psAddress(i)
    }
  }

  def send(frame: TxFrame): Unit = {
    sent += frame
    source.send(frame.bytes) { (meta, last) =>
      meta.queue #= frame.queue
      meta.tag.insert #= frame.ask.isDefined
      meta.tag.tci #= frame.ask.getOrElse[Int](simRandom.nextInt(1 << 16))
      meta.unfilled #= frame.unfilled
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

  private def onWire(frame: TxFrame) = frame.bytes.padTo(60, 0.toByte).map(_ & 0xff)
  private def isTagged(frame: TxFrame) = frame.bytes.slice(12, 14).toSeq == Seq(0x81.toByte, 0.toByte)

  /** The frame as it goes out, if it does. */
  def tagged(frame: TxFrame): TxFrame = owners.get(frame.queue).flatMap(tags.get).orElse(frame.ask) match {
    case Some(tci) if frame.bytes.length >= 14 =>
      frame.copy(bytes = frame.bytes.patch(12, Seq(0x81, 0, tci >> 8, tci).map(_.toByte), 0), came = Some(frame))
    case _ => frame
  }

  private def vidOf(wire: Array[Int]) = if (wire(12) == 0x81 && wire(13) == 0) (wire(14) & 15) << 8 | wire(15) else 0

  /** Of a frame for the other end of the wire alone. */
  def isControl(frame: TxFrame): Boolean = {
    val bytes = onWire(frame.came.getOrElse(frame))
    def typeAt(at: Int) = bytes(at) << 8 | bytes(at + 1)
    val behindTag = Seq(0x8100, 0x88a8).contains(typeAt(12)) && typeAt(16) == 0x8808
    typeAt(12) == 0x8808 || behindTag || bytes.take(5).toSeq == Seq(1, 0x80, 0xc2, 0, 0) && bytes(5) < 16
  }

  /** Where a frame goes that may be sent: to the wire, to functions, to the PS. */
  def route(frame: TxFrame, port: Int, function: Int): (Boolean, Boolean, Boolean) = {
    val wire = onWire(frame)
    val to = toBig(wire.take(6).map(_.toByte).toSeq)
    val broadcast = wire.take(6).forall(_ == 255)
    if (!veb(port) || isControl(frame)) (true, false, false)
    else if (wire(0) % 2 == 1) (true, true, broadcast && psEnable(port))
    else if (psEnable(port) && to == psAddress(port)) (false, false, true)
    else
      entries.get((port, to, vidOf(wire))) match {
        case None                 => (true, false, false)
        case Some((false, other)) => (false, other != function, false)
        case Some(_)              => (false, true, false)
      }
  }

  /** The verdict by the rules, from the bytes as they would stand on the wire; `sent` for all that goes somewhere. */
  def judge(came: TxFrame): (TxVerdict.E, Int, Option[Int], Int) = {
    val function = owners.get(came.queue).filter(_ < p.functions)
    val frame = tagged(came)
    val foreign = isTagged(came) && function.exists(tags.contains)
    val port = function.fold(0)(portOf)
    val wire = onWire(frame)
    val vid = vidOf(wire)
    val own = entries.get((port, toBig(wire.slice(6, 12).map(_.toByte).toSeq), vid)) == function.map((false, _))
    val byAddress =
      if (foreign || function.exists(!trusted(_)) && !own) TxVerdict.spoof
      else if (isControl(came) && function.exists(!control(_))) TxVerdict.controlFrame
      else if (function.exists(route(frame, port, _) == (false, false, false))) TxVerdict.hairpin
      else TxVerdict.sent
    val stays = if (byAddress == TxVerdict.sent) frame else came // what is dropped anyway gets no tag
    val verdict =
      if (function.isEmpty) TxVerdict.noFunction
      else if (!txEnable(port) || port >= p.ports) TxVerdict.hostDisabled
      else if (!enabled(function.get)) TxVerdict.disabled
      else if (!linkUp(port)) TxVerdict.linkDown
      else if (frame.zero || frame.bytes.length < 14) TxVerdict.runt
      else if (frame.error) TxVerdict.error
      else if (stays.bytes.length > p.maxFrame) TxVerdict.oversize
      else byAddress
    val known = Seq(TxVerdict.sent, TxVerdict.error, TxVerdict.oversize).contains(verdict)
    (verdict, port, function, (if (known) stays else came).length min 65535)
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

  /** Takes the copies of frames that are not sent after all away; the others go on with the frames. */
  private def copyOf(frame: TxFrame, port: Int, function: Int): Option[Copied] = {
    val (_, toFunctions, toPs) = route(frame, port, function)
    Option.when(toFunctions || toPs) {
      while (copies.head.drop) copies.dequeue()
      val copy = copies.dequeue()
      assert(copy.bytes.toSeq == frame.bytes.toSeq && (copy.port, copy.function) == ((port, function)))
      assert(copy.to == ((toFunctions, toPs)))
      copy
    }
  }

  /** Every record and every delivered frame as judged, in order. */
  def check(): Unit = {
    assert(skipped == sent.count(_.unfilled), "frames with a checksum not filled in")
    val told = mutable.ArrayBuffer[((Boolean, Boolean), (Boolean, Boolean))]()
    val judged = sent.map(frame => tagged(frame) -> judge(frame)).map {
      case (frame, (TxVerdict.sent, port, Some(function), length)) =>
        val copy = copyOf(frame, port, function)
        val verdict = copy match {
          case Some(copy) if !route(frame, port, function)._1 =>
            if (copy.to._2) { if (copy.lost._2) TxVerdict.psFull else TxVerdict.toPs }
            else if (copy.lost._1) TxVerdict.vebFull
            else TxVerdict.switched
          case Some(copy) =>
            told += ((copy.to, copy.lost))
            TxVerdict.sent
          case None => TxVerdict.sent
        }
        (verdict, port, Some(function), length)
      case (_, other) => other
    }
    assert(copies.forall(_.drop), "a copy of no frame")
    val right = told.map { case (to, lost) => (to, (to._1 && lost._1, to._2 && lost._2)) }
    assert(copyRecords == right, "what records say of copies")
    for (((record, right), i) <- records.zip(judged).zipWithIndex)
      assert(record == right, s"frame $i of ${sent(i).bytes.length} bytes: $record, not $right")
    assert(records.size == sent.size)
    for (port <- 0 until p.ports) {
      val right = sent.zip(judged).collect { case (f, (TxVerdict.sent, `port`, _, _)) => tagged(f).bytes.toSeq }
      assert(delivered(port).map(_.toSeq) == right, s"port $port")
      val marks = sent.zip(judged).collect { case (f, (TxVerdict.sent, `port`, _, _)) => paced(f.queue) }
      assert(marked(port) == marks, s"what is paced on port $port")
      for (beats <- rolledBack(port)) assert((beats - 1) * width <= p.maxFrame, "a dropped frame went on too long")
    }
  }
}
