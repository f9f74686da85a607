// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.host.{Cycles, FrameSource, StreamSink}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable

/** A PsRoute with a MAC table that answers when it likes, or not at all. */
class PsRouteBench(dut: PsRoute) {
  val cd = clocked(dut)
  val cycles = new Cycles(cd)
  val source = new FrameSource(dut.io.tx, cd)
  val known = mutable.Set[(BigInt, Int)]()
  val wire, inside = mutable.ArrayBuffer[(Seq[Byte], Int)]() // with the tag, or whether it goes nowhere else
  val wireAt = mutable.ArrayBuffer[Long]()
  var latency: () => Int = () => 10
  var answers = true
  var queryReady = true
  var queries = 0
  dut.io.veb #= true
  dut.io.answer.valid #= false

  private val wireBytes, insideBytes = mutable.ArrayBuffer[Byte]()
  val sink = new StreamSink(dut.io.wire, cd)({ word =>
    wireBytes ++= toBytes(word.fragment.data.toBigInt, 8).dropRight(word.fragment.mty.toInt)
    if (word.last.toBoolean) {
      wire += ((wireBytes.toSeq, word.fragment.meta.tag.toInt))
      wireAt += cycles.now
      wireBytes.clear()
    }
  })
  private val due = mutable.Queue[(Long, Int, Boolean)]()
  cd.onSamplings {
    val flow = dut.io.inside
    if (flow.valid.toBoolean) {
      insideBytes ++= toBytes(flow.data.toBigInt, 8).dropRight(flow.mty.toInt)
      if (flow.last.toBoolean) {
        inside += ((insideBytes.toSeq, flow.meta.toBoolean.toInt))
        insideBytes.clear()
      }
    }
    val query = dut.io.query
    if (query.valid.toBoolean && query.ready.toBoolean) {
      queries += 1
      val hit = known((query.address.toBigInt, query.vid.toInt))
      if (answers) due.enqueue((cycles.now + latency(), query.tag.toInt, hit))
    }
    query.ready #= queryReady
    val answer = dut.io.answer
    if (answer.valid.toBoolean && answer.ready.toBoolean) due.dequeue()
    val there = due.headOption.filter(_._1 <= cycles.now)
    answer.valid #= there.isDefined
    answer.tag #= there.fold(simRandom.nextInt(256))(_._2)
    answer.known #= there.fold(simRandom.nextBoolean())(_._3)
  }

  def send(frame: Array[Byte], tag: Int): Unit = source.send(frame) { (meta, _) =>
    meta.timestamp #= true
    meta.tag #= tag
  }
  def drain(): Unit = {
    waitFor(cd, "idle", 200000)(source.pending == 0 && dut.io.idle.toBoolean)
    cd.waitSampling(10)
  }
}

class PsRouteTest extends AnyFunSuite {
  private lazy val built = SimConfig.compile(new PsRoute(ShellParam()))
  private def run(name: String, seed: Int)(body: (PsRoute, PsRouteBench) => Unit): Unit =
    built.doSim(name, seed)(dut => body(dut, new PsRouteBench(dut)))

  private val friend = Seq(2, 0, 0, 0, 0, 1).map(_.toByte)
  private def frame(to: Seq[Byte], length: Int, vid: Int = 0): Array[Byte] = {
    val tag = if (vid == 0) Seq(0x08, 0x00) else Seq(0x81, 0x00, 0xe0 | vid >> 8, vid & 0xff)
    ((to ++ randomBytes(6)) ++ tag.map(_.toByte) ++ randomBytes(length)).take(length).toArray
  }

  test("every frame goes where its destination says, whole and in order, at any pace and length") {
    for ((pace, i) <- paces.zipWithIndex) run(s"random$i", 700 + i) { (_, b) =>
      b.latency = () => simRandom.nextInt(40)
      b.sink.pace(pace)
      b.source.pace(paces((i + 1) % paces.size))
      b.known ++= Seq((toBig(friend), 0), (toBig(friend), 5), (BigInt(2), 0))
      val (wire, inside) = (mutable.ArrayBuffer[(Seq[Byte], Int)](), mutable.ArrayBuffer[(Seq[Byte], Int)]())
      for (n <- 0 until 400) {
        val length = if (simRandom.nextInt(3) == 0) 1 + simRandom.nextInt(20) else 16 + simRandom.nextInt(200)
        val data = simRandom.nextInt(6) match {
          case 0 => frame(Seq.fill(6)(0xff.toByte), length)
          case 1 => frame(Seq(2, 7, 7, 7, 7, 7).map(_.toByte), length)
          case 2 => frame(friend, length, 5)
          case 3 => frame(friend, length, 6)
          case 4 => frame(Seq(2.toByte), 1) // its destination is 2 and five zeros
          case _ => frame(friend, length)
        }
        val padded = data.padTo(16, 0.toByte).map(_ & 0xff)
        val group = padded(0) % 2 == 1
        val vid = if (padded(12) == 0x81 && padded(13) == 0) (padded(14) & 15) << 8 | padded(15) else 0
        val hit = !group && b.known((toBig(padded.take(6).map(_.toByte).toSeq), vid))
        if (!hit) wire += ((data.toSeq, n))
        if (group || hit) inside += ((data.toSeq, hit.toInt))
        b.send(data, n)
      }
      b.drain()
      assert(b.wire == wire && b.inside == inside)
    }
  }

  test("with the switch off all goes to the wire, and nothing is asked") {
    run("off", 710) { (dut, b) =>
      dut.io.veb #= false
      b.known += ((toBig(friend), 0))
      for (n <- 0 until 40) b.send(frame(if (n % 2 == 0) friend else Seq.fill(6)(0xff.toByte), 60), n)
      b.drain()
      assert(b.wire.size == 40 && b.inside.isEmpty && b.queries == 0)
    }
  }

  test("a host that does not answer, or is not asked, costs a bounded time; late answers belong to nobody") {
    run("silent", 711) { (_, b) =>
      b.known += ((toBig(friend), 0))
      b.answers = false
      val start = b.cycles.now
      for (n <- 0 until 4) b.send(frame(friend, 60), n)
      b.drain()
      assert(b.wire.size == 4 && b.inside.isEmpty)
      assert(b.wireAt.last - start < 4 * (128 + 16), s"${b.wireAt.last - start} cycles")
      b.queryReady = false
      b.cd.waitSampling()
      val queries = b.queries
      val second = b.cycles.now
      for (n <- 0 until 4) b.send(frame(friend, 60), n)
      b.drain()
      assert(b.wire.size == 8 && b.queries == queries && b.wireAt.last - second < 80)
      b.queryReady = true
      b.answers = true
      b.latency = () => 200 // the first come after their frames have gone
      for (n <- 0 until 3) b.send(frame(friend, 60), n)
      b.drain()
      b.latency = () => 10
      val stranger = frame(Seq(2, 7, 7, 7, 7, 7).map(_.toByte), 60)
      val before = (b.wire.size, b.inside.size)
      b.cd.waitSampling(400)
      b.send(stranger, 90)
      b.send(frame(friend, 60), 91)
      b.drain()
      assert(b.wire.size == before._1 + 1 && b.wire.last._1 == stranger.toSeq, "not the answer to an older question")
      assert(b.inside.size == before._2 + 1)
    }
  }

  test("frames of 64 bytes pass back to back without a bubble, asked for or not") {
    run("speed", 712) { (_, b) =>
      b.latency = () => 20
      for (to <- Seq(friend, Seq.fill(6)(0xff.toByte))) {
        b.wireAt.clear()
        for (n <- 0 until 60) b.send(frame(to, 64), n)
        b.drain()
        assert(b.wireAt.last - b.wireAt.head == 59 * 8, s"${b.wireAt.last - b.wireAt.head} cycles")
      }
    }
  }
}
