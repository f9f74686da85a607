// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.host.{Cycles, FrameSource, StreamSink}
import meridian.host.FrameSim._
import meridian.meta.RxMeta
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable

/** A frame as it comes out of the switch, or must. */
case class Merged(bytes: Seq[Byte], port: Int, inside: Boolean, function: Option[Int])

class VebSwitchBench(dut: VebSwitch, p: ShellParam) {
  val cd = clocked(dut)
  val cycles = new Cycles(cd)
  val width = p.hostBytes
  dut.io.copy.valid #= false
  dut.io.flush #= false
  val wire = new FrameSource(dut.io.wire, cd)
  val ps = dut.io.ps.map(new FrameSource(_, cd))
  val out = mutable.ArrayBuffer[Merged]()
  val endedAt = mutable.ArrayBuffer[Long]()
  var flushedAt = Seq.empty[Long]
  private val bytes = mutable.ArrayBuffer[Byte]()
  val sink = new StreamSink(dut.io.rx, cd)({ word =>
    bytes ++= toBytes(word.fragment.data.toBigInt, width).dropRight(word.fragment.mty.toInt)
    if (word.last.toBoolean) {
      val meta = word.fragment.meta
      assert(meta.length.toInt == bytes.size)
      val inside = meta.source.inside.toBoolean
      val function = Option.when(inside && meta.source.isFunction.toBoolean)(meta.source.function.toInt)
      out += Merged(bytes.toSeq, meta.port.toInt, inside, function)
      endedAt += cycles.now
      bytes.clear()
    }
  })
  cd.onSamplings(if (dut.io.flushed.toBoolean) flushedAt :+= cycles.now)
  cd.waitSampling(100) // the buffer starts

  private def stream(source: FrameSource[RxMeta], frame: Merged): Merged = {
    source.send(frame.bytes.toArray) { (meta, _) =>
      meta.port #= frame.port
      meta.length #= frame.bytes.size
      meta.source.inside #= frame.inside
      meta.source.isFunction #= false
      meta.source.function #= simRandom.nextInt(256)
    }
    frame
  }
  def fromWire(length: Int): Merged =
    stream(wire, Merged(randomBytes(length).toSeq, simRandom.nextInt(p.ports), inside = false, None))
  def fromPs(port: Int, length: Int): Merged =
    stream(ps(port), Merged(randomBytes(length).toSeq, port, inside = true, None))

  /** A copy at one beat a cycle; true if it was stored. */
  def copy(
      frame: Array[Byte],
      port: Int,
      function: Int,
      drop: Boolean = false,
      toFunctions: Boolean = true
  ): Boolean = {
    val cut = beats(frame, width)
    var stored = true
    for ((beat, i) <- cut.zipWithIndex) {
      val last = i == cut.size - 1
      dut.io.copy.valid #= true
      dut.io.copy.last #= last
      dut.io.copy.data #= toBig(beat.toSeq)
      dut.io.copy.mty #= (if (last) cut.size * width - frame.length else 0)
      dut.io.copy.port #= port
      dut.io.copy.function #= function
      dut.io.copy.toFunctions #= toFunctions
      dut.io.copy.toPs #= simRandom.nextBoolean()
      dut.io.copy.drop #= (if (last) drop else simRandom.nextBoolean())
      cd.waitSampling()
      if (last) stored = !dut.io.lost.toBoolean
    }
    dut.io.copy.valid #= false
    stored
  }
  def ofFunction(frame: Array[Byte], port: Int, function: Int): Merged =
    Merged(frame.toSeq.padTo(60, 0.toByte), port, inside = true, Some(function))
  def drain(): Unit = {
    cd.waitSampling(20)
    waitFor(cd, "idle", 20000)(dut.io.idle.toBoolean && wire.pending == 0 && ps.forall(_.pending == 0))
    cd.waitSampling(10)
  }
}

class VebSwitchTest extends AnyFunSuite {
  for (width <- Seq(32, 64)) {
    val p = ShellParam(ports = 2, hostBytes = width, maxFrame = 1518, vebBufferBytes = 4096)
    lazy val built = SimConfig.compile(new VebSwitch(p))
    def run(name: String, seed: Int)(body: (VebSwitch, VebSwitchBench) => Unit): Unit =
      built.doSim(s"$name$width", seed)(dut => body(dut, new VebSwitchBench(dut, p)))

    test(s"$width bytes: every frame that is stored comes out once, whole and in order, the others are told as lost") {
      for ((pace, i) <- Seq(1.0f, 0.5f, 0.1f).zipWithIndex) run(s"random$i", 600 + i) { (_, b) =>
        b.sink.pace(pace)
        val (wire, functions) = (mutable.ArrayBuffer[Merged](), mutable.ArrayBuffer[Merged]())
        val ps = Seq.fill(p.ports)(mutable.ArrayBuffer[Merged]())
        var lost = 0
        for (_ <- 0 until 400) {
          val length = 14 + simRandom.nextInt(if (simRandom.nextInt(4) == 0) 1500 else 150)
          simRandom.nextInt(4) match {
            case 0 => wire += b.fromWire(length max 60)
            case 1 =>
              val port = simRandom.nextInt(p.ports)
              ps(port) += b.fromPs(port, length max 60)
            case _ =>
              val (frame, port, function) = (randomBytes(length), simRandom.nextInt(p.ports), simRandom.nextInt(256))
              val (drop, mine) = (simRandom.nextInt(8) == 0, simRandom.nextInt(8) != 0)
              val stored = b.copy(frame, port, function, drop, mine)
              if (mine && stored && !drop) functions += b.ofFunction(frame, port, function)
              if (!stored) lost += 1
              if (simRandom.nextInt(3) == 0) b.cd.waitSampling(simRandom.nextInt(100))
          }
        }
        b.drain()
        assert(b.out.filter(!_.inside) == wire)
        assert(b.out.filter(_.function.isDefined) == functions)
        for (port <- 0 until p.ports)
          assert(b.out.filter(f => f.inside && f.function.isEmpty && f.port == port) == ps(port))
        if (pace < 0.2f) assert(lost > 0)
      }
    }

    test(s"$width bytes: wire frames lose no beat to inside traffic but one frame in 16, which may not starve either") {
      run("share", 610) { (_, b) =>
        for (_ <- 0 until 400) b.fromWire(64)
        var stored = 0
        while (b.wire.pending > 0) if (b.copy(randomBytes(64), 0, 5)) stored += 1
        b.drain()
        val kinds = b.out.map(_.inside)
        val last = kinds.lastIndexOf(false)
        val inside = kinds.take(last).zipWithIndex.collect { case (true, i) => i }
        assert(inside.size >= 400 / 17 - 2 && stored == kinds.count(identity))
        for ((a, c) <- inside.zip(inside.tail)) assert(c - a == 17, "one frame of the inside after 16 of the wire")
        assert(b.endedAt(last) - b.endedAt.head == last * (64 / width), "no bubble")
      }
    }

    test(s"$width bytes: a flush is answered when the frames stored before it have begun at rx, not before") {
      run("flush", 620) { (dut, b) =>
        def flush(): Unit = {
          dut.io.flush #= true
          b.cd.waitSampling()
          dut.io.flush #= false
        }
        flush()
        b.cd.waitSampling(5)
        assert(b.flushedAt.size == 1, "nothing inside")
        b.sink.pace(0.0f)
        val before = Seq.fill(5)(randomBytes(100))
        for (frame <- before) assert(b.copy(frame, 1, 7))
        b.cd.waitSampling(2)
        flush()
        b.fromWire(300)
        b.cd.waitSampling(100)
        assert(b.flushedAt.size == 1)
        b.sink.pace(1.0f)
        for (_ <- 0 until 200) b.copy(randomBytes(64), 0, 8)
        b.drain()
        assert(b.flushedAt.size == 2)
        val at = b.out.indexWhere(_.bytes == before.last.toSeq)
        assert(b.flushedAt.last >= b.endedAt(at) - 4 && b.flushedAt.last <= b.endedAt(at) + 4)
      }
    }
  }
}
